/* SPDX-License-Identifier: MIT */
/*
 * See readings.h.
 */
#include "readings.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define LINES_MAX 64
#define FILE_BYTES_MAX 512

/* Declared in simulator/values.h and defined by the simulated libcuda.so, which is preloaded in
 * every dry run. The weak reference is resolved when this library is loaded. So if the function
 * exists, libcuda.so is ready to be called. */
__attribute__((weak)) uint64_t gpumemtrace_values_noted(unsigned number, char *file,
                                                        unsigned file_bytes, unsigned *line);
__attribute__((weak)) uint64_t gpumemtrace_values_floats(void);

/* Formats the line with this number as "file:line", or as another text if the readings have no
 * line. Returns how often the line has read such values; 0: there is no such line. */
static uint64_t read_line(unsigned number, char *text, size_t text_bytes)
{
    char file[FILE_BYTES_MAX];
    unsigned line = 0;
    const uint64_t count =
        gpumemtrace_values_noted ? gpumemtrace_values_noted(number, file, sizeof file, &line) : 0;
    if (count && file[0])
        snprintf(text, text_bytes, "%s:%u", file, line);
    else if (count)
        snprintf(text, text_bytes, "(copies outside operators)");
    return count;
}

static void store_floats(struct store *store)
{
    static uint64_t stored;
    struct err err;
    const uint64_t count = gpumemtrace_values_floats ? gpumemtrace_values_floats() : 0;
    if (count != stored && !store_meta_integer(store, META_dry_run_floats, (int64_t)count, &err))
        stored = count;
}

void readings_store(struct store *store)
{
    static uint64_t stored[LINES_MAX];
    char text[FILE_BYTES_MAX + 16], count_text[24];
    struct err err;
    store_floats(store);
    for (unsigned i = 0; i < LINES_MAX; i++) {
        const uint64_t count = read_line(i, text, sizeof text);
        if (!count)
            return;
        snprintf(count_text, sizeof count_text, "%" PRIu64, count);
        if (count != stored[i] && !store_variable(store, "read_back", text, count_text, &err))
            stored[i] = count;
    }
}

void readings_format(char *text, size_t text_bytes)
{
    char line[FILE_BYTES_MAX + 16], first[FILE_BYTES_MAX + 16] = "";
    unsigned count = 0;
    text[0] = '\0';
    while (count < LINES_MAX && read_line(count, line, sizeof line)) {
        if (!count)
            memcpy(first, line, sizeof first);
        count++;
    }
    const char *slash = strrchr(first, '/');
    char others[48] = "";
    if (count > 1)
        snprintf(others, sizeof others, " and %u other line%s", count - 1, count > 2 ? "s" : "");
    if (count)
        snprintf(text, text_bytes,
                 "; %s%s read%s values that the dry run could not compute, and shapes that follow "
                 "from them are guesses",
                 slash ? slash + 1 : first, others, count > 1 ? "" : "s");
}
