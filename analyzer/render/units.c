/* SPDX-License-Identifier: MIT */
/* Formats numbers for people; see units.h. */
#include "units.h"

#include <math.h>
#include <stdio.h>

static const char *const byte_units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

#define BYTE_UNIT_COUNT (sizeof byte_units / sizeof byte_units[0])

/* Larger values would print as 1024.00 with two decimals, so they take the next unit. */
#define ROUNDS_UP 1023.995

static void write_bytes(char out[UNITS_TEXT_BYTES], const char *sign, uint64_t bytes)
{
    double value = (double)bytes;
    size_t unit = 0;
    while (value >= ROUNDS_UP && unit + 1 < BYTE_UNIT_COUNT) {
        value /= 1024;
        unit++;
    }
    if (unit == 0)
        snprintf(out, UNITS_TEXT_BYTES, "%s%u B", sign, (unsigned)bytes);
    else
        snprintf(out, UNITS_TEXT_BYTES, "%s%.2f %s", sign, value, byte_units[unit]);
}

char *units_bytes(char out[UNITS_TEXT_BYTES], uint64_t bytes)
{
    write_bytes(out, "", bytes);
    return out;
}

char *units_request(char out[UNITS_TEXT_BYTES], uint64_t bytes)
{
    if (!units_request_overflowed(bytes))
        return units_bytes(out, bytes);
    snprintf(out, UNITS_TEXT_BYTES, "more than 8 EiB");
    return out;
}

char *units_delta(char out[UNITS_TEXT_BYTES], int64_t bytes)
{
    /* 0 - x in unsigned arithmetic is also right for INT64_MIN. */
    if (bytes < 0)
        write_bytes(out, "-", 0 - (uint64_t)bytes);
    else
        write_bytes(out, bytes > 0 ? "+" : "", (uint64_t)bytes);
    return out;
}

/* Prints three significant digits of a number below 1000. */
static void write_three_digits(char out[UNITS_TEXT_BYTES], const char *sign, double value,
                               const char *unit)
{
    int decimals = value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    snprintf(out, UNITS_TEXT_BYTES, "%s%.*f %s", sign, decimals, value, unit);
}

char *units_duration(char out[UNITS_TEXT_BYTES], int64_t ns)
{
    const char *sign = ns < 0 ? "-" : "";
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    uint64_t seconds = (size_ns + 500000000) / 1000000000;
    if (size_ns < 1000)
        snprintf(out, UNITS_TEXT_BYTES, "%s%u ns", sign, (unsigned)size_ns);
    else if (size_ns < 999500)
        write_three_digits(out, sign, (double)size_ns / 1e3, "us");
    else if (size_ns < 999500000)
        write_three_digits(out, sign, (double)size_ns / 1e6, "ms");
    else if (size_ns < 59950000000)
        write_three_digits(out, sign, (double)size_ns / 1e9, "s");
    else if (seconds < 3600)
        snprintf(out, UNITS_TEXT_BYTES, "%s%u min %02u s", sign, (unsigned)(seconds / 60),
                 (unsigned)(seconds % 60));
    else
        snprintf(out, UNITS_TEXT_BYTES, "%s%llu h %02u min", sign,
                 (unsigned long long)(seconds / 3600), (unsigned)(seconds / 60 % 60));
    return out;
}

char *units_time(char out[UNITS_TEXT_BYTES], uint64_t ns, uint64_t last_ns, uint64_t resolution_ns)
{
    static const struct {
        const char *name;
        uint64_t ns;
    } units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};
    size_t unit = 0;
    int decimals = 0;
    while (unit + 1 < sizeof units / sizeof *units && last_ns >= units[unit + 1].ns)
        unit++;
    for (uint64_t step = units[unit].ns; step > 1 && step > resolution_ns; step /= 10)
        decimals++;
    snprintf(out, UNITS_TEXT_BYTES, "%.*f %s", decimals, (double)ns / (double)units[unit].ns,
             units[unit].name);
    return out;
}

char *units_ratio(char out[UNITS_TEXT_BYTES], double ratio)
{
    if (!isfinite(ratio))
        snprintf(out, UNITS_TEXT_BYTES, "-");
    else
        snprintf(out, UNITS_TEXT_BYTES, "%.1f %%", ratio * 100);
    return out;
}

char *units_factor(char out[UNITS_TEXT_BYTES], double factor)
{
    if (factor < 999.5)
        snprintf(out, UNITS_TEXT_BYTES, "%.3g", factor);
    else
        snprintf(out, UNITS_TEXT_BYTES, "%.0f", factor);
    return out;
}
