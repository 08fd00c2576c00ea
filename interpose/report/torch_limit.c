/* SPDX-License-Identifier: MIT */
/*
 * Finds the limit that torch.cuda.set_per_process_memory_fraction sets. None of the functions of
 * that call can be hooked, but the text of the exception after a failed allocation tells the limit:
 *
 *     CUDA out of memory. Tried to allocate … GPU 0 has a total capacity of … 8.00 GiB allowed; …
 *
 * PyTorch constructs the exception after it has reported the failure, on the same thread.
 */
#include <stdbool.h>
#include <string.h>

#include "common/numbers.h"
#include "pool.h"
#include "torch.h"

#define BEGINNING "CUDA out of memory."

struct limit {
    uint64_t device, bytes, rounding_bytes;
};

/* Reads the number that lies between the last space before `end` and `end`; "8.00" is 800
 * hundredths. */
static bool read_hundredths(const char *begin, const char *end, uint64_t *hundredths)
{
    uint64_t scale = 100;
    bool is_behind_point = false;
    const char *at = end;
    while (at > begin && at[-1] != ' ')
        at--;
    for (*hundredths = 0; at < end; at++)
        if (*at == '.' && !is_behind_point)
            is_behind_point = true;
        else if (*at >= '0' && *at <= '9' && scale && *hundredths < UINT32_MAX) {
            *hundredths = *hundredths * 10 + (uint64_t)(*at - '0');
            scale /= is_behind_point ? 10 : 1;
        } else
            return false;
    for (; scale > 1 && !is_behind_point; scale /= 10)
        *hundredths *= 10;
    return end[-1] != ' ' && (!is_behind_point || scale == 1);
}

/* Reads "8.00 GiB" before `end`. */
static bool read_size(const char *begin, const char *end, struct limit *limit)
{
    static const struct unit {
        const char *name;
        uint64_t bytes;
    } units[] = {{" bytes", 1}, {" KiB", 1 << 10}, {" MiB", 1 << 20}, {" GiB", 1 << 30}};
    uint64_t hundredths;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        const size_t name_bytes = strlen(units[i].name);
        if ((size_t)(end - begin) < name_bytes ||
            memcmp(end - name_bytes, units[i].name, name_bytes) != 0)
            continue;
        if (!read_hundredths(begin, end - name_bytes, &hundredths))
            return false;
        limit->rounding_bytes = units[i].bytes / 100 + 1;
        limit->bytes = hundredths * units[i].bytes / 100;
        return true;
    }
    return false;
}

/* NULL: not found. The text need not end with 0. */
static const char *find(const char *text, size_t text_bytes, const char *words)
{
    return memmem(text, text_bytes, words, strlen(words));
}

static bool read_limit(const char *text, size_t text_bytes, struct limit *limit)
{
    const char *card = find(text, text_bytes, "GPU ");
    const char *allowed = find(text, text_bytes, " allowed; ");
    if (!card || !allowed || card > allowed)
        return false;
    return digits_read(card + strlen("GPU "), &limit->device) && read_size(text, allowed, limit);
}

static void note_message(const struct torch_string *message)
{
    struct limit limit;
    if (message->text_bytes > strlen(BEGINNING) &&
        memcmp(message->text, BEGINNING, strlen(BEGINNING)) == 0 &&
        read_limit(message->text, message->text_bytes, &limit))
        pool_limit("pytorch", (int)limit.device, limit.bytes, limit.rounding_bytes);
}

/* c10::SourceLocation, which is passed in memory. */
struct source_location {
    const char *function, *file;
    uint32_t line;
};

/* Set while a constructor of an error runs, because one of the constructors may call the other. */
static _Thread_local bool is_noted GMT_TLS_INITIAL_EXEC;

#define MADE(name)                                                                                 \
    TORCH_FUNCTION(                                                                                \
        void, name,                                                                                \
        (void *error, struct source_location location, const struct torch_string *message),        \
        "libc10.so", return, {                                                                     \
            const bool is_outer = !is_noted;                                                       \
            if (is_outer)                                                                          \
                note_message(message);                                                             \
            is_noted = true;                                                                       \
            real(error, location, message);                                                        \
            is_noted = !is_outer;                                                                  \
        })

/* c10::Error::Error(SourceLocation, std::string), or the constructor of OutOfMemoryError itself, as
 * in 2.15 */
MADE(_ZN3c105ErrorC2ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
MADE(
    _ZN3c1016OutOfMemoryErrorC1ENS_14SourceLocationENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE)
