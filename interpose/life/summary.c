/* SPDX-License-Identifier: MIT */
/*
 * See summary.h.
 */
#include "summary.h"

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "full_disk.h"
#include "not_modelled.h"
#include "readings.h"
#include "interpose/recording/log.h"
#include "trace/ring.h"
#include "trace/tally.h"

/* Shorter waits are not mentioned. */
#define NOTABLE_WAIT_NS 100000000

static void format_size(uint64_t bytes, char *text, size_t text_bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, text_bytes, unit ? "%.2f %s" : "%.0f %s", value, units[unit]);
}

/* Formats the losses, and how the user can avoid them. */
static void format_losses(const char *path, const struct ring *ring, char *text, size_t text_bytes)
{
    char folder[PATH_MAX];
    const uint64_t lost_events = atomic_load(&ring->header->lost_events);
    const uint64_t full_ns = atomic_load(&ring->header->full_ns);
    const char *reason = ring_loss_reason(ring);
    if (reason && strcmp(reason, RING_LOSS_AT_MAX) == 0)
        snprintf(text, text_bytes,
                 ", %" PRIu64 " events lost (the ring was full: set a larger GPUMEMTRACE_RING_MAX)",
                 lost_events);
    else if (reason)
        snprintf(text, text_bytes,
                 ", %" PRIu64 " events lost (the ring could not grow in %s: %s; " FULL_DISK_ADVICE
                 ")",
                 lost_events, full_disk_folder(path, folder), reason);
    else if (lost_events)
        snprintf(text, text_bytes, ", %" PRIu64 " events lost", lost_events);
    else if (full_ns >= NOTABLE_WAIT_NS)
        snprintf(text, text_bytes,
                 ", %.1f s waited for room in the ring (a larger GPUMEMTRACE_RING_MAX avoids that)",
                 (double)full_ns / 1e9);
}

void summary_line(const char *path, const struct tally *tally, const struct ring *ring)
{
    char size[32], where[32] = "an unknown device", failures[64] = "", losses[PATH_MAX + 256] = "";
    char not_modelled[256], readings[1024];
    int device = 0;
    for (int i = 1; i <= LIVE_UNKNOWN_DEVICE; i++)
        if (tally->live.peak_bytes[i] > tally->live.peak_bytes[device])
            device = i;
    format_size(tally->live.peak_bytes[device], size, sizeof size);
    if (device != LIVE_UNKNOWN_DEVICE)
        snprintf(where, sizeof where, "device %d", device);
    if (tally->live.failed_allocations)
        snprintf(failures, sizeof failures, ", %" PRIu64 " call%s refused",
                 tally->live.failed_allocations, tally->live.failed_allocations == 1 ? "" : "s");
    format_losses(path, ring, losses, sizeof losses);
    not_modelled_format(not_modelled, sizeof not_modelled);
    readings_format(readings, sizeof readings);
    /* If events were lost, the peak is a lower bound, because the lost events may have been
     * allocations. */
    log_line("peak %s%s on %s%s%s%s%s; see: gpumemtrace %s %s",
             atomic_load(&ring->header->lost_events) ? "at least " : "", size, where, failures,
             not_modelled, losses, readings, tally->live.failed_allocations ? "oom" : "report",
             path);
}
