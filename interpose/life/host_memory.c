/* SPDX-License-Identifier: MIT */
/*
 * See host_memory.h. The files stay open. If each look opened them again, the numbers of the
 * program's own descriptors could change each time.
 */
#include "host_memory.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "common/cgroup.h"
#include "common/numbers.h"
#include "common/own_fd.h"
#include "interpose/recording/clock.h"

#define PERIOD_NS 100000000u
#define NEWS_BYTES ((uint64_t)1 << 20) /* a smaller change is not stored */

enum source { SOURCE_STATM, SOURCE_CGROUP, SOURCE_CGROUP_PEAK, SOURCES };

enum figure { RSS, RSS_PEAK, CGROUP, CGROUP_PEAK, CGROUP_LIMIT, FIGURES };
static const enum meta_key keys[FIGURES] = {[RSS] = META_rss_bytes,
                                            [RSS_PEAK] = META_rss_peak_bytes,
                                            [CGROUP] = META_cgroup_bytes,
                                            [CGROUP_PEAK] = META_cgroup_peak_bytes,
                                            [CGROUP_LIMIT] = META_cgroup_limit_bytes};

static struct {
    bool is_open;
    int fds[SOURCES]; /* -1: this machine lacks the file */
    struct own_file files[SOURCES];
    uint64_t cgroup_limit_bytes; /* 0: unknown, or no limit */
    uint64_t next_ns;            /* time of the next look, by the kernel's clock */
    uint64_t stored[FIGURES];    /* 0: unknown */
} host;

/* --- files --- */

static void open_source(enum source source, const char *path)
{
    host.fds[source] = own_fd_open(path, O_RDONLY, 0, &host.files[source]);
}

static void close_sources(void)
{
    for (int i = 0; i < SOURCES; i++)
        if (host.fds[i] >= 0 && own_fd_is(host.fds[i], &host.files[i]))
            close(host.fds[i]);
    host.is_open = false;
}

static void open_sources(void)
{
    char path[PATH_MAX];
    struct cgroup cgroup;
    for (int i = 0; i < SOURCES; i++)
        host.fds[i] = -1;
    host.is_open = true;
    open_source(SOURCE_STATM, "/proc/self/statm");
    host.cgroup_limit_bytes = 0;
    if (!cgroup_find(&cgroup, ""))
        return;
    if (cgroup.limit_bytes != CGROUP_UNKNOWN)
        host.cgroup_limit_bytes = cgroup.limit_bytes;
    cgroup_file(&cgroup, CGROUP_CURRENT_BYTES, path);
    open_source(SOURCE_CGROUP, path);
    cgroup_file(&cgroup, CGROUP_PEAK_BYTES, path);
    open_source(SOURCE_CGROUP_PEAK, path);
}

/* Returns false if the program has closed a descriptor. The program may then have a file of its own
 * under that number. */
static bool sources_are_ours(void)
{
    for (int i = 0; i < SOURCES; i++)
        if (host.fds[i] >= 0 && !own_fd_is(host.fds[i], &host.files[i]))
            return false;
    return true;
}

/* Returns the number after `skipped` words of the file; 0: unknown. */
static uint64_t read_source(enum source source, int skipped)
{
    char text[128];
    uint64_t number = 0;
    const ssize_t length =
        host.fds[source] < 0 ? -1 : pread(host.fds[source], text, sizeof text - 1, 0);
    if (length <= 0)
        return 0;
    text[length] = '\0';
    const char *at = text;
    while (skipped-- > 0 && (at = strchr(at, ' ')))
        at++;
    if (at && *at >= '0' && *at <= '9')
        digits_read(at, &number);
    return number;
}

/* --- values --- */

static uint64_t higher(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Reads the current values and the peaks. The kernel's own peaks include the time between two
 * looks. Before Linux 5.19 the kernel keeps no peak of a cgroup of version 2. */
static void look(uint64_t figures[FIGURES])
{
    struct rusage usage = {0};
    getrusage(RUSAGE_SELF, &usage);
    figures[RSS] = read_source(SOURCE_STATM, 1) * (uint64_t)sysconf(_SC_PAGESIZE);
    figures[RSS_PEAK] = higher(figures[RSS], (uint64_t)usage.ru_maxrss * 1024);
    figures[CGROUP] = read_source(SOURCE_CGROUP, 0);
    figures[CGROUP_PEAK] = higher(read_source(SOURCE_CGROUP_PEAK, 0),
                                  higher(figures[CGROUP], host.stored[CGROUP_PEAK]));
    figures[CGROUP_LIMIT] = host.cgroup_limit_bytes;
}

static bool are_news(const uint64_t figures[FIGURES])
{
    for (int i = 0; i < FIGURES; i++) {
        const uint64_t a = figures[i], b = host.stored[i];
        if ((a > b ? a - b : b - a) >= NEWS_BYTES)
            return true;
    }
    return false;
}

static int put(struct store *store, const uint64_t figures[FIGURES], struct err *err)
{
    for (int i = 0; i < FIGURES; i++)
        if (figures[i] ? store_meta_integer(store, keys[i], (int64_t)figures[i], err)
                       : store_meta_null(store, keys[i], err))
            return -1;
    return 0;
}

void host_memory_begin(void)
{
    open_sources();
}

void host_memory_store(struct store *store, bool is_last)
{
    const uint64_t now_ns = clock_kernel_ns();
    uint64_t figures[FIGURES];
    struct err err;
    if (now_ns < host.next_ns && !is_last)
        return;
    if (host.is_open && !sources_are_ours())
        close_sources();
    if (!host.is_open)
        open_sources();
    host.next_ns = now_ns + PERIOD_NS;
    look(figures);
    if ((!is_last && !are_news(figures)) || store_begin(store, &err))
        return;
    if (put(store, figures, &err) || store_commit(store, &err))
        store_rollback(store);
    else
        memcpy(host.stored, figures, sizeof figures);
}

void host_memory_end(void)
{
    if (host.is_open)
        close_sources();
}

void host_memory_forget(void)
{
    host_memory_end();
    memset(&host, 0, sizeof host);
}
