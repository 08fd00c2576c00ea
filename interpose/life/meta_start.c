/* SPDX-License-Identifier: MIT */
/*
 * See meta_start.h.
 */
#include "meta_start.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "gpumemtrace/version.h"
#include "common/sim_spec.h"
#include "interpose/cuda/device.h"
#include "interpose/recording/recording.h"
#include "trace_path.h"

/* Reads the arguments of the process, joined by spaces. */
static void read_command(char *text, size_t text_bytes)
{
    const int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t length = fd < 0 ? 0 : read(fd, text, text_bytes - 1);
    if (fd >= 0)
        close(fd);
    if (length < 0)
        length = 0;
    while (length > 0 && text[length - 1] == '\0')
        length--;
    for (ssize_t i = 0; i < length; i++)
        if (text[i] == '\0')
            text[i] = ' ';
    text[length] = '\0';
}

static int64_t wall_clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int store_texts(struct store *store, const char *run_id, const char *unwinder,
                       struct err *err)
{
    char command[4096], executable[PATH_MAX], host[256] = "";
    read_command(command, sizeof command);
    gethostname(host, sizeof host - 1);
    const ssize_t length = readlink("/proc/self/exe", executable, sizeof executable - 1);
    executable[length < 0 ? 0 : length] = '\0';
    return store_meta_text(store, META_gpumemtrace_version, GMT_VERSION, err) ||
                   store_meta_text(store, META_run_id, run_id, err) ||
                   store_meta_text(store, META_command, command, err) ||
                   store_meta_text(store, META_executable, executable, err) ||
                   store_meta_text(store, META_host, host, err) ||
                   store_meta_text(store, META_unwinder, unwinder, err)
               ? -1
               : 0;
}

static int store_integers(struct store *store, uint64_t start_monotonic_ns, struct err *err)
{
    const int64_t rank = trace_path_rank();
    if (rank >= 0 && store_meta_integer(store, META_rank, rank, err))
        return -1;
    const struct {
        enum meta_key key;
        int64_t value;
    } rows[] = {
        {META_pid, getpid()},
        {META_parent_pid, getppid()},
        {META_start_unix_ns, wall_clock_ns()},
        {META_start_monotonic_ns, (int64_t)start_monotonic_ns},
        {META_tells_autograd, GMT_PASSES_CALLS_ON},
        {META_driver_version, device_driver_version()},
        {META_simulated, device_is_simulated()},
        {META_complete, 0},
        {META_lost_events, 0},
        {META_lost_frames, 0},
        {META_shared_names, 0},
        {META_ring_max_bytes, (int64_t)recording.config.ring_max},
        {META_ring_full_ns, 0},
        {META_in_flight_events, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (store_meta_integer(store, rows[i].key, rows[i].value, err))
            return -1;
    return store_meta_null(store, META_exit_seq, err) ||
                   store_meta_null(store, META_exit_ns, err) ||
                   store_meta_null(store, META_exit_status, err) ||
                   store_meta_null(store, META_lost_reason, err)
               ? -1
               : 0;
}

/* Stores GPUMEMTRACE_SIM as the simulator reads it. */
static int store_dry_run(struct store *store, struct err *err)
{
    const char *spec = getenv("GPUMEMTRACE_SIM");
    const bool is_late = !strcmp(recording.config.events, "late");
    if (!device_is_simulated())
        return 0;
    return store_meta_text(store, META_dry_run, spec && *spec ? spec : SIM_SPEC_DEFAULT, err) ||
                   store_meta_text(store, META_dry_run_events, is_late ? "late" : "done", err) ||
                   store_meta_text(store, META_dry_run_values, recording.config.values, err)
               ? -1
               : 0;
}

/* Reads each variable only once, because another thread may change the environment between two
 * reads. */
static int store_environment(struct store *store, struct err *err)
{
    static const struct {
        const char *table, *name;
    } variables[] = {
#define ENVIRONMENT(table, name) {#table, #name},
#include "gpumemtrace/schema/environment.def"
    };
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        const char *value = getenv(variables[i].name);
        if (value && store_variable(store, variables[i].table, variables[i].name, value, err))
            return -1;
    }
    return 0;
}

int meta_start_store(struct store *store, const char *run_id, const char *unwinder,
                     uint64_t start_monotonic_ns, struct err *err)
{
    if (store_begin(store, err))
        return -1;
    if (!store_texts(store, run_id, unwinder, err) &&
        !store_integers(store, start_monotonic_ns, err) && !store_dry_run(store, err) &&
        !store_environment(store, err) && !store_commit(store, err))
        return 0;
    store_rollback(store);
    return -1;
}
