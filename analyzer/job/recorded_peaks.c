/* SPDX-License-Identifier: MIT */
/* The peaks that the recorder wrote; see recorded_peaks.h. */
#include "recorded_peaks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/load/query.h"
#include "analyzer/util/array.h"

struct reading_peaks {
    struct recorded_peaks *peaks;
    sqlite3_stmt *pool_name;
    const char *next; /* the rest of the text */
    struct err *err;
};

/* Reads a number and the character after it. Returns false if the text has something else. */
static bool take_number(struct reading_peaks *reading, long long *number, const char *behind)
{
    char *end;
    errno = 0;
    *number = strtoll(reading->next, &end, 10);
    if (errno || end == reading->next || !strchr(behind, *end))
        return false;
    reading->next = end + (*end != '\0');
    return true;
}

/* Returns 1 if it found the name, 0 if the trace has no string with that id, and -1 if there is no
 * memory. */
static int name_pool(struct reading_peaks *reading, long long id, char **name)
{
    const char *text;
    int status = 0;
    sqlite3_bind_int64(reading->pool_name, 1, id);
    if (sqlite3_step(reading->pool_name) == SQLITE_ROW &&
        (text = (const char *)sqlite3_column_text(reading->pool_name, 0))) {
        *name = strdup(text);
        status = *name ? 1 : -1;
    }
    if (status < 0)
        err_set(reading->err, ERR_SYSTEM, "out of memory for the job");
    sqlite3_reset(reading->pool_name);
    return status;
}

/* Returns 1 if it added a peak, 0 if the text is malformed, or -1. */
static int add_peak(struct reading_peaks *reading)
{
    struct recorded_peaks *peaks = reading->peaks;
    long long device, pool, peak_bytes, driver_peak_bytes;
    int status = 1;
    if (!take_number(reading, &device, " ") || !take_number(reading, &pool, " ") ||
        !take_number(reading, &peak_bytes, " ") || !take_number(reading, &driver_peak_bytes, ";") ||
        device < -1 || device > INT8_MAX || peak_bytes < 0 || driver_peak_bytes < 0)
        return 0;
    if (ARRAY_GROW(peaks->items, peaks->capacity, peaks->count, reading->err))
        return -1;
    struct recorded_peak *added = &peaks->items[peaks->count++];
    *added = (struct recorded_peak){.device = (int)device,
                                    .peak_bytes = (uint64_t)peak_bytes,
                                    .driver_peak_bytes = (uint64_t)driver_peak_bytes};
    if (pool)
        status = name_pool(reading, pool, &added->pool);
    return status;
}

int recorded_peaks_read(struct recorded_peaks *peaks, const char *text, sqlite3 *db,
                        const char *path, struct err *err)
{
    struct reading_peaks reading = {.peaks = peaks, .next = text, .err = err};
    int status = 1;
    *peaks = (struct recorded_peaks){0};
    if (query_prepare(path, db, "SELECT text FROM string WHERE string_id = ?", &reading.pool_name,
                      err))
        return -1;
    while (status > 0 && *reading.next)
        status = add_peak(&reading);
    sqlite3_finalize(reading.pool_name);
    if (status <= 0)
        recorded_peaks_release(peaks);
    peaks->are_known = status > 0;
    return status < 0 ? -1 : 0;
}

void recorded_peaks_release(struct recorded_peaks *peaks)
{
    for (size_t i = 0; i < peaks->count; i++)
        free(peaks->items[i].pool);
    free(peaks->items);
    *peaks = (struct recorded_peaks){0};
}
