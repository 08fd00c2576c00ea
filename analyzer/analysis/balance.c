/* SPDX-License-Identifier: MIT */
/* Compares the devices of a process; see balance.h. */
#include "balance.h"

#include <stdlib.h>

#include "analyzer/util/array.h"

struct device_peak {
    int device;
    uint64_t bytes;
};

/* If two peaks are equal, the first device is the highest. */
ORDER_BY(compare_peaks, struct device_peak, RISING(bytes), FALLING(device));

int balance_find(struct balance *balance, const struct history *history, struct err *err)
{
    struct device_peak *peaks = array_new(history->device_count, sizeof *peaks, err);
    double sum = 0;
    *balance = (struct balance){0};
    if (!peaks)
        return -1;
    for (size_t i = 0; i < history->device_count; i++) {
        const struct device_use *use = &history->devices[i];
        const uint64_t bytes = history->accounts[use->leading].peak_bytes;

        if (bytes)
            peaks[balance->used_count++] = (struct device_peak){use->device, bytes};
        sum += (double)bytes;
    }
    if (balance->used_count > 1) {
        const size_t count = balance->used_count;

        SORT(peaks, count, compare_peaks);
        const struct device_peak *highest = &peaks[count - 1], *middle = &peaks[(count - 2) / 2];
        balance->highest = highest->device;
        balance->highest_bytes = highest->bytes;
        balance->middle = middle->device;
        balance->middle_bytes = middle->bytes;
        balance->ratio = (double)highest->bytes / (sum / (double)count);
    }
    free(peaks);
    return 0;
}
