/* SPDX-License-Identifier: MIT */
/*
 * Numbers of NCCL's types. Integers are computed in 64 bits, others as double. See element.h.
 */
#include "element.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum type { INT8, UINT8, INT32, UINT32, INT64, UINT64, HALF, FLOAT, DOUBLE, BFLOAT16, TYPES };

static const struct type_row {
    const char *name;
    unsigned char bytes;
} types[] = {
    [INT8] = {"int8", 1},     [UINT8] = {"uint8", 1},    [INT32] = {"int32", 4},
    [UINT32] = {"uint32", 4}, [INT64] = {"int64", 8},    [UINT64] = {"uint64", 8},
    [HALF] = {"half", 2},     [FLOAT] = {"float", 4},    [DOUBLE] = {"double", 8},
    [BFLOAT16] = {"bf16", 2}, [TYPES] = {"fp8 e4m3", 1}, {"fp8 e5m2", 1},
};

static bool type_is_there(int type)
{
    return type >= 0 && (size_t)type < sizeof types / sizeof *types;
}

size_t element_bytes(int type)
{
    return type_is_there(type) ? types[type].bytes : 1;
}

const char *element_name(int type)
{
    return type_is_there(type) ? types[type].name : "another type";
}

bool element_is_number(int type)
{
    return type >= 0 && type < TYPES;
}

static bool is_whole(int type)
{
    return type < HALF;
}

/* --- floats of 16 bits --- */

static float float_of_bits(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static uint32_t bits_of_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static double value_of_half(uint16_t half)
{
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    double value = exponent ? ldexp(1024 + fraction, exponent - 25) : ldexp(fraction, -24);
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    return half >> 15 ? -value : value;
}

static uint16_t half_of_value(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    int exponent;
    if (isnan(value))
        return sign | 0x7e00;
    if (size >= 65520) /* is nearer to infinity than to the largest */
        return sign | 0x7c00;
    frexp(size, &exponent);
    /* The distance to the next number is 2^(exponent - 11), and at least 2^-24. */
    const int step = exponent - 11 < -24 ? -24 : exponent - 11;
    const double exact = ldexp(size, -step);
    unsigned steps = (unsigned)exact;
    steps += exact - steps > 0.5 || (exact - steps == 0.5 && steps % 2);
    return (uint16_t)(sign + ((unsigned)(step + 24) << 10) + steps);
}

static uint16_t bf16_of_value(double value)
{
    const uint32_t bits = bits_of_float((float)value);
    if (isnan(value))
        return 0x7fc0;
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* --- loading and storing --- */

static uint64_t load_whole(const void *element, int type)
{
    uint64_t value = 0;
    int32_t int32;
    memcpy(&value, element, types[type].bytes); /* little-endian */
    memcpy(&int32, &value, sizeof int32);
    if (type == INT8)
        return (uint64_t)(int64_t)(int8_t)value;
    return type == INT32 ? (uint64_t)(int64_t)int32 : value;
}

static double load_float(const void *element, int type)
{
    float single;
    double value;
    uint16_t half;
    if (type == DOUBLE) {
        memcpy(&value, element, sizeof value);
        return value;
    }
    if (type == FLOAT) {
        memcpy(&single, element, sizeof single);
        return single;
    }
    memcpy(&half, element, sizeof half);
    return type == HALF ? value_of_half(half) : (double)float_of_bits((uint32_t)half << 16);
}

static void store_float(void *element, int type, double value)
{
    const float single = (float)value;
    const uint16_t half = type == HALF ? half_of_value(value) : bf16_of_value(value);
    if (type == DOUBLE)
        memcpy(element, &value, sizeof value);
    else if (type == FLOAT)
        memcpy(element, &single, sizeof single);
    else
        memcpy(element, &half, sizeof half);
}

double element_value(const void *element, int type)
{
    if (!is_whole(type))
        return load_float(element, type);
    const uint64_t value = load_whole(element, type);
    return type == UINT64 ? (double)value : (double)(int64_t)value;
}

/* --- reductions --- */

static uint64_t combine_whole(uint64_t a, uint64_t b, bool is_unsigned, int reduction)
{
    const bool less = is_unsigned ? a < b : (int64_t)a < (int64_t)b;
    switch (reduction) {
    case REDUCE_PRODUCT:
        return a * b;
    case REDUCE_MAX:
        return less ? b : a;
    case REDUCE_MIN:
        return less ? a : b;
    default:
        return a + b;
    }
}

static double combine_floats(double a, double b, int reduction)
{
    switch (reduction) {
    case REDUCE_PRODUCT:
        return a * b;
    case REDUCE_MAX:
        return isnan(a) || a > b ? a : b;
    case REDUCE_MIN:
        return isnan(a) || a < b ? a : b;
    default:
        return a + b;
    }
}

void element_combine(void *to, const void *from, size_t count, int type, int reduction)
{
    const size_t bytes = types[type].bytes;
    char *place = to;
    const char *other = from;
    for (size_t i = 0; i < count; i++, place += bytes, other += bytes) {
        if (!is_whole(type)) {
            store_float(
                place, type,
                combine_floats(load_float(place, type), load_float(other, type), reduction));
            continue;
        }
        const uint64_t value = combine_whole(load_whole(place, type), load_whole(other, type),
                                             type == UINT64, reduction);
        memcpy(place, &value, bytes);
    }
}

void element_multiply(void *elements, size_t count, int type, double factor)
{
    const size_t bytes = types[type].bytes;
    char *place = elements;
    for (size_t i = 0; i < count; i++, place += bytes) {
        if (!is_whole(type)) {
            store_float(place, type, load_float(place, type) * factor);
            continue;
        }
        const uint64_t value = load_whole(place, type) * (uint64_t)(int64_t)factor;
        memcpy(place, &value, bytes);
    }
}

void element_divide(void *elements, size_t count, int type, int divisor)
{
    const size_t bytes = types[type].bytes;
    char *place = elements;
    for (size_t i = 0; i < count; i++, place += bytes) {
        if (!is_whole(type)) {
            store_float(place, type, load_float(place, type) / divisor);
            continue;
        }
        uint64_t value = load_whole(place, type);
        value = type == UINT64 ? value / (uint64_t)divisor
                               : (uint64_t)((int64_t)value / (int64_t)divisor);
        memcpy(place, &value, bytes);
    }
}
