/* SPDX-License-Identifier: MIT */
/*
 * See host_samples.h. The files stay open, so that the numbers of the program's own descriptors do
 * not change with each sample.
 */
#include "host_samples.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cgroup.h"
#include "common/numbers.h"
#include "common/own_fd.h"
#include "interpose/recording/clock.h"
#include "interpose/recording/recording.h"

#define PERIOD_NS 100000000u
#define QUIET_NS 10000000000u          /* the longest time between two stored samples */
#define NEWS_BYTES ((uint64_t)1 << 20) /* a smaller change is not stored */
#define KEPT_MOST 4096

enum source { SOURCE_STATM, SOURCE_CGROUP, SOURCE_CGROUP_PEAK, SOURCES };

static struct {
    bool is_open;
    int fds[SOURCES]; /* -1: this machine lacks the file */
    struct own_file files[SOURCES];
    uint64_t cgroup_limit_bytes;
    uint64_t begun_ns, next_ns; /* kernel's clock */
    struct host_sample last;    /* last stored sample */
    uint64_t stride, kept_count;
} samples;

/* --- files --- */

static void open_source(enum source source, const char *path)
{
    samples.fds[source] = own_fd_open(path, O_RDONLY, 0, &samples.files[source]);
}

static void close_sources(void)
{
    for (int i = 0; i < SOURCES; i++)
        if (samples.fds[i] >= 0 && own_fd_is(samples.fds[i], &samples.files[i]))
            close(samples.fds[i]);
    samples.is_open = false;
}

static void open_sources(void)
{
    char path[PATH_MAX];
    struct cgroup cgroup;
    for (int i = 0; i < SOURCES; i++)
        samples.fds[i] = -1;
    samples.is_open = true;
    open_source(SOURCE_STATM, "/proc/self/statm");
    samples.cgroup_limit_bytes = CGROUP_UNKNOWN;
    if (!cgroup_find(&cgroup, ""))
        return;
    samples.cgroup_limit_bytes = cgroup.limit_bytes;
    cgroup_file(&cgroup, CGROUP_CURRENT_BYTES, path);
    open_source(SOURCE_CGROUP, path);
    cgroup_file(&cgroup, CGROUP_PEAK_BYTES, path);
    open_source(SOURCE_CGROUP_PEAK, path);
}

/* false: the program has closed a descriptor, and may have a file of its own under its number. */
static bool sources_are_ours(void)
{
    for (int i = 0; i < SOURCES; i++)
        if (samples.fds[i] >= 0 && !own_fd_is(samples.fds[i], &samples.files[i]))
            return false;
    return true;
}

/* The number after `skipped` other words; UINT64_MAX: unknown. */
static uint64_t read_source(enum source source, int skipped)
{
    char text[128];
    uint64_t number;
    const ssize_t length =
        samples.fds[source] < 0 ? -1 : pread(samples.fds[source], text, sizeof text - 1, 0);
    if (length <= 0)
        return UINT64_MAX;
    text[length] = '\0';
    const char *at = text;
    while (skipped-- > 0 && (at = strchr(at, ' ')))
        at++;
    if (!at || *at < '0' || *at > '9')
        return UINT64_MAX;
    digits_read(at, &number);
    return number;
}

/* --- samples --- */

static uint64_t rss_peak_bytes(uint64_t rss_bytes)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) || usage.ru_maxrss < 0)
        return rss_bytes;
    const uint64_t peak_bytes = (uint64_t)usage.ru_maxrss * 1024;
    return peak_bytes > rss_bytes ? peak_bytes : rss_bytes;
}

/* false: the process's own memory is unknown. */
static bool look(struct host_sample *sample, uint64_t now_ns)
{
    const uint64_t pages = read_source(SOURCE_STATM, 1);
    if (pages == UINT64_MAX)
        return false;
    const uint64_t rss_bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE);
    *sample = (struct host_sample){.number = (now_ns - samples.begun_ns) / PERIOD_NS,
                                   .time_ns = now_ns - recording.start_monotonic_ns,
                                   .rss_bytes = rss_bytes,
                                   .rss_peak_bytes = rss_peak_bytes(rss_bytes),
                                   .cgroup_bytes = read_source(SOURCE_CGROUP, 0),
                                   .cgroup_peak_bytes = read_source(SOURCE_CGROUP_PEAK, 0),
                                   .cgroup_limit_bytes = samples.cgroup_limit_bytes};
    return true;
}

static bool differs(uint64_t a, uint64_t b)
{
    return (a > b ? a - b : b - a) >= NEWS_BYTES;
}

static bool is_news(const struct host_sample *sample)
{
    const struct host_sample *last = &samples.last;
    return !samples.kept_count || differs(sample->rss_bytes, last->rss_bytes) ||
           differs(sample->cgroup_bytes, last->cgroup_bytes) ||
           sample->time_ns - last->time_ns >= QUIET_NS;
}

/* The newest sample is always kept. When it comes, the one before it is deleted unless its number
 * is a multiple of the stride. */
static int keep(struct store *store, const struct host_sample *sample, struct err *err)
{
    if (samples.kept_count >= KEPT_MOST) {
        samples.stride *= 2;
        samples.kept_count /= 2;
        if (store_thin_host_samples(store, samples.stride, 0, err))
            return -1;
    } else if (samples.stride > 1 &&
               store_thin_host_samples(store, samples.stride, samples.last.number, err)) {
        return -1;
    }
    samples.kept_count += samples.stride == 1 || sample->number % samples.stride == 0;
    return store_host_sample(store, sample, err);
}

static void store_sample(struct store *store, const struct host_sample *sample)
{
    struct err err;
    if (store_begin(store, &err))
        return;
    if (keep(store, sample, &err) || store_commit(store, &err)) {
        store_rollback(store);
        return;
    }
    samples.last = *sample;
}

void host_samples_begin(void)
{
    memset(&samples, 0, sizeof samples);
    samples.stride = 1;
    samples.begun_ns = clock_kernel_ns();
    open_sources();
}

void host_samples_take(struct store *store, bool is_last)
{
    const uint64_t now_ns = clock_kernel_ns();
    struct host_sample sample;
    if (now_ns < samples.next_ns && !is_last)
        return;
    if (samples.is_open && !sources_are_ours())
        close_sources();
    if (!samples.is_open)
        open_sources();
    samples.next_ns = now_ns + PERIOD_NS;
    if (look(&sample, now_ns) && (is_last || is_news(&sample)))
        store_sample(store, &sample);
}

void host_samples_end(void)
{
    if (samples.is_open)
        close_sources();
}

void host_samples_forget(void)
{
    host_samples_end();
    memset(&samples, 0, sizeof samples);
}
