/* SPDX-License-Identifier: MIT */
/*
 * Decides when the counter is trusted, and measures its rate. See clock.h.
 */
#include "clock.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_S 1000000000u
#define CLOCK_TRUST_NS 1000000u
#define CALIBRATION_NS 5000000u /* shortest interval that gives a precise rate */
#define PAIR_TICKS 4000u        /* one to two microseconds; two reads take a tenth of it */
#define START_TRIES 100

/* The counter and the kernel's clock when the recording began. They are written before any thread
 * records. start_ticks is 0 if the counter is not used. */
static uint64_t start_ticks, start_ns;

uint64_t clock_kernel_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_PER_S + (uint64_t)now.tv_nsec;
}

/* Reads the file in which the kernel names its clock source. The kernel uses another source if it
 * has found the counter unsteady. */
static bool kernel_uses_the_counter(void)
{
    char name[16] = "";
    const int file = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                          O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return false;
    const ssize_t length = read(file, name, sizeof name - 1);
    close(file);
    return length > 0 && strcmp(name, "tsc\n") == 0;
}

/* Reads the kernel's clock and the counter. Returns false if the two are not of one moment, because
 * the thread was interrupted between the two reads. */
static bool read_pair(uint64_t *ns, uint64_t *ticks)
{
    const uint64_t before = GMT_TICKS();
    *ns = clock_kernel_ns();
    *ticks = GMT_TICKS();
    return *ticks - before < PAIR_TICKS;
}

void clock_setup(void)
{
    bool is_pair = false;
    start_ticks = 0;
    if (!kernel_uses_the_counter())
        return;
    for (int i = 0; i < START_TRIES && !is_pair; i++)
        is_pair = read_pair(&start_ns, &start_ticks);
    if (!is_pair)
        start_ticks = 0;
}

uint64_t clock_ask(struct clock *clock)
{
    if (!start_ticks)
        return clock_kernel_ns();
    const bool is_pair = read_pair(&clock->ns, &clock->ticks);
    const uint64_t ns = clock->ns;
    clock->trust_ticks = 0;
    if (!is_pair)
        return ns;
    const uint64_t ticks_passed = clock->ticks - start_ticks, ns_passed = ns - start_ns;
    if (ns_passed < CALIBRATION_NS || !ticks_passed)
        return ns;
    /* Shift both until ns_passed fits in 32 bits; the lost bits are too small to matter. */
    unsigned shift = 0;
    while (ns_passed >> shift >= UINT64_C(1) << 32)
        shift++;
    clock->rate = (ns_passed >> shift << 32) / (ticks_passed >> shift);
    clock->trust_ticks = clock->rate ? (CLOCK_TRUST_NS * (UINT64_C(1) << 32)) / clock->rate : 0;
    return ns;
}
