/* SPDX-License-Identifier: MIT */
/*
 * See summary.h.
 */
#include "summary.h"

#include <stdio.h>

#include "interpose/recording/log.h"
#include "trace/tally.h"

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

void summary_line(const char *path, const struct tally *tally, uint64_t lost_events)
{
    char size[32], where[32] = "an unknown device", failures[64] = "", losses[64] = "";
    int device = 0;
    for (int i = 1; i <= LIVE_UNKNOWN_DEVICE; i++)
        if (tally->live.peak_bytes[i] > tally->live.peak_bytes[device])
            device = i;
    format_size(tally->live.peak_bytes[device], size, sizeof size);
    if (device != LIVE_UNKNOWN_DEVICE)
        snprintf(where, sizeof where, "device %d", device);
    if (tally->live.failed_allocations)
        snprintf(failures, sizeof failures, ", %llu failed allocation%s",
                 (unsigned long long)tally->live.failed_allocations,
                 tally->live.failed_allocations == 1 ? "" : "s");
    if (lost_events)
        snprintf(losses, sizeof losses, ", %llu events lost", (unsigned long long)lost_events);
    log_line("peak %s on %s%s%s; see: gpumemtrace %s %s", size, where, failures, losses,
             tally->live.failed_allocations ? "oom" : "report", path);
}
