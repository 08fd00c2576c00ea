/* SPDX-License-Identifier: MIT */
/*
 * See numbers.h.
 */
#include "numbers.h"

#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "gpumemtrace/compiler.h"

struct unit {
    const char *name;
    uint64_t bytes;
};

/* A bare letter is binary, because the tool prints binary sizes; only KB, MB … are decimal. */
static const struct unit units[] = {{"", 1},
                                    {"B", 1},
#define UNIT(letter, binary, decimal)                                                              \
    {letter, binary}, {letter "iB", binary}, {letter "B", decimal},
                                    UNIT("K", 1ull << 10, 1000ull) UNIT("M", 1ull << 20, 1000000ull)
                                        UNIT("G", 1ull << 30, 1000000000ull)
                                            UNIT("T", 1ull << 40, 1000000000000ull)
#undef UNIT
};

static bool is_digit(char byte)
{
    return byte >= '0' && byte <= '9';
}

static const char *read_digits(const char *text, uint64_t *number, bool *overflows)
{
    *number = 0;
    *overflows = false;
    for (; is_digit(*text); text++)
        if (GMT_MUL_OVERFLOWS(*number, 10, number) ||
            GMT_ADD_OVERFLOWS(*number, (uint64_t)(*text - '0'), number))
            *overflows = true;
    return text;
}

const char *digits_read(const char *text, uint64_t *number)
{
    bool overflows;
    text = read_digits(text, number, &overflows);
    if (overflows)
        *number = UINT64_MAX;
    return text;
}

static const struct unit *unit_find(const char *name)
{
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (!strcasecmp(name, units[i].name))
            return &units[i];
    return NULL;
}

static int too_large(const char *text, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "size '%.100s' is too large; the most is 9223372036854775807 bytes", text);
}

/*
 * floor(0.digits * unit), in integers, so that 1.5GiB is exact. Seven digits are the most whose
 * product with a TiB fits into 64 bits. Later digits are ignored; they change a TiB by less than
 * 128 KiB.
 */
#define FRACTION_DIGITS 7

static uint64_t fraction_bytes(const char *digits, uint64_t unit_bytes)
{
    uint64_t numerator = 0, denominator = 1;
    for (int i = 0; i < FRACTION_DIGITS && is_digit(digits[i]); i++) {
        numerator = numerator * 10 + (uint64_t)(digits[i] - '0');
        denominator *= 10;
    }
    return unit_bytes * numerator / denominator;
}

int size_parse(const char *text, uint64_t *bytes, struct err *err)
{
    const char *fraction = "";
    uint64_t whole;
    bool overflows;
    const char *at = read_digits(text, &whole, &overflows);
    if (at == text)
        goto junk;
    if (overflows)
        return too_large(text, err);
    if (*at == '.') {
        fraction = ++at;
        while (is_digit(*at))
            at++;
        if (at == fraction)
            goto junk;
    }
    while (*at == ' ')
        at++;
    const struct unit *unit = unit_find(at);
    if (!unit || (*fraction && unit->bytes == 1))
        goto junk;
    if (GMT_MUL_OVERFLOWS(whole, unit->bytes, &whole) ||
        GMT_ADD_OVERFLOWS(whole, fraction_bytes(fraction, unit->bytes), &whole) ||
        whole > INT64_MAX)
        return too_large(text, err);
    *bytes = whole;
    return 0;
junk:
    return err_set(err, ERR_USAGE,
                   "'%.100s' is not a size; write it like 4GiB, 512MiB, 4GB or 4294967296", text);
}

int number_parse(const char *text, long least, long most, long *number, struct err *err)
{
    const bool negative = text[0] == '-';
    uint64_t magnitude;
    const char *end = digits_read(text + negative, &magnitude);
    if (end == text + negative || *end)
        return err_set(err, ERR_USAGE, "'%.100s' is not a whole number", text);
    const long value = negative ? -(long)(magnitude & LONG_MAX) : (long)(magnitude & LONG_MAX);
    if (magnitude > LONG_MAX || value < least || value > most) {
        if (most == LONG_MAX)
            err_set(err, ERR_USAGE, "'%.100s' is out of range; the least is %ld", text, least);
        else
            err_set(err, ERR_USAGE, "'%.100s' is out of range; it goes from %ld to %ld", text,
                    least, most);
        return -1;
    }
    *number = value;
    return 0;
}

int ratio_parse(const char *text, double *ratio, struct err *err)
{
    char *end = NULL;
    double value = is_digit(text[0]) || text[0] == '.' ? strtod(text, &end) : 0;
    bool percent = end && *end == '%';
    /* strtod would also read hexadecimal numbers. */
    if (!end || end == text || end[percent] || text[strspn(text, "0123456789.e-+")] != *end ||
        !isfinite(value))
        return err_set(err, ERR_USAGE, "'%.100s' is not a share; write it like 2%% or 0.02", text);
    if (!percent && value > 1)
        return err_set(err, ERR_USAGE, "'%.100s' is more than the whole; write it like 2%% or 0.02",
                       text);
    *ratio = percent ? value / 100 : value;
    return 0;
}
