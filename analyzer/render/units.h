/* SPDX-License-Identifier: MIT */
/* Formats numbers for people. Each function writes a terminated string of at most UNITS_TEXT_BYTES
 * into out and returns out. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define UNITS_TEXT_BYTES 32

char *units_bytes(char out[UNITS_TEXT_BYTES], uint64_t bytes); /* 1.50 GiB, 512 B */
/* A trace stores at most INT64_MAX bytes for a request. Only a size that is negative or wrapped
 * reaches this limit. */
static inline bool units_request_overflowed(uint64_t bytes)
{
    return bytes >= INT64_MAX;
}
char *units_request(char out[UNITS_TEXT_BYTES], uint64_t bytes); /* 1.50 GiB, more than 8 EiB */
char *units_delta(char out[UNITS_TEXT_BYTES], int64_t bytes);    /* +1.50 GiB, -512 B, 0 B */
char *units_duration(char out[UNITS_TEXT_BYTES], int64_t ns);    /* 12.3 ms, 3 min 05 s */
/* Formats a moment. All moments of a column have the unit of last_ns. They have enough decimals to
 * show a difference of resolution_ns: 1.203 s. */
char *units_time(char out[UNITS_TEXT_BYTES], uint64_t ns, uint64_t last_ns, uint64_t resolution_ns);
char *units_ratio(char out[UNITS_TEXT_BYTES], double ratio); /* 12.3 % */
/* Three significant digits, or all digits before the point: 0.5, 12.3, 1234 (times as large). */
char *units_factor(char out[UNITS_TEXT_BYTES], double factor);

/* The same texts as arguments of a sentence: page_say(…, "%s of it", BYTES_TEXT(bytes)). Such a
 * text lives until the end of the block that the expression stands in. */
#define UNITS_TEXT_BUFFER ((char[UNITS_TEXT_BYTES]){""})
#define BYTES_TEXT(bytes) units_bytes(UNITS_TEXT_BUFFER, bytes)
#define REQUEST_TEXT(bytes) units_request(UNITS_TEXT_BUFFER, bytes)
#define DURATION_TEXT(ns) units_duration(UNITS_TEXT_BUFFER, ns)
#define RATIO_TEXT(ratio) units_ratio(UNITS_TEXT_BUFFER, ratio)
#define FACTOR_TEXT(factor) units_factor(UNITS_TEXT_BUFFER, factor)
