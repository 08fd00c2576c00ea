/* SPDX-License-Identifier: MIT */
/* link: cudart12 */
/*
 * A pool that hands out pieces of one segment as fast as it can, and reports each of them:
 *
 *     pool_events EVENTS [FRAMES [RATE]]
 *
 * RATE is the highest number of events per second; they come in bursts of a thousandth of RATE.
 * Pieces have random sizes and lifetimes; some hundred pieces are live at a time. They come from a
 * few call sites that are FRAMES frames deep. Prints this process's resident memory in bytes, at
 * the start and at 20 moments, and on stderr the CPU time of this thread: "caller NS ns an event".
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "gpumemtrace/cuda/abi.h"
#include "gpumemtrace/gpumemtrace.h"

#define PIECES 512
#define PIECE_BYTES ((size_t)1 << 20)
#define MOMENTS 20

static char *segment;
static unsigned char is_live[PIECES];
static uint64_t seed = 1;

static uint64_t next_random(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    return seed ^= seed << 17;
}

static long resident_bytes(void)
{
    long total, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%ld %ld", &total, &resident) != 2)
        exit(3);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static __attribute__((noinline)) void take(size_t at, uint64_t random)
{
    gpumemtrace_pool_alloc("pool", 0, segment + at * PIECE_BYTES, 512 * (1 + random % 2048));
}

static __attribute__((noinline)) void take_elsewhere(size_t at, uint64_t random)
{
    gpumemtrace_pool_alloc("pool", 0, segment + at * PIECE_BYTES, 512 * (1 + random % 16));
}

static void make_event(void)
{
    const uint64_t random = next_random();
    const size_t at = random % PIECES;
    if (is_live[at])
        gpumemtrace_pool_free("pool", 0, segment + at * PIECE_BYTES);
    else if (random >> 32 & 1)
        take(at, random >> 40);
    else
        take_elsewhere(at, random >> 40);
    is_live[at] ^= 1;
}

static double thread_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void sleep_until(const struct timespec *start, double ns)
{
    const double then_ns = (double)start->tv_nsec + ns;
    const struct timespec then = {.tv_sec = start->tv_sec + (time_t)(then_ns / 1e9),
                                  .tv_nsec = (long)then_ns % 1000000000};
    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &then, NULL);
}

/* A rate of 0 means no limit. */
static void make_events(long events, long rate)
{
    const double start_ns = thread_ns();
    struct timespec start;
    long made = 0;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int moment = 0; moment < MOMENTS; moment++) {
        for (long i = 0; i < events / MOMENTS; i++) {
            make_event();
            if (++made % (rate / 1000 + 1) == 0 && rate)
                sleep_until(&start, 1e9 * (double)made / (double)rate);
        }
        printf("%ld\n", resident_bytes());
    }
    fprintf(stderr, "caller %.0f ns an event\n", (thread_ns() - start_ns) / (double)events);
}

static volatile long frames_seen;

static __attribute__((noinline)) void descend(long frames, long events, long rate)
{
    if (frames <= 0)
        make_events(events, rate);
    else
        descend(frames - 1, events, rate);
    frames_seen++; /* prevents a tail call */
}

int main(int count, char **arguments)
{
    const long events = count > 1 ? atol(arguments[1]) : 1000000;
    if (cudaMalloc((void **)&segment, PIECES * PIECE_BYTES) != cudaSuccess)
        return 3;
    printf("%ld\n", resident_bytes());
    descend(count > 2 ? atol(arguments[2]) : 0, events, count > 3 ? atol(arguments[3]) : 0);
    return 0;
}
