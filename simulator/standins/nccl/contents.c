/* SPDX-License-Identifier: MIT */
/*
 * Contents of cards, through the functions of simulator/values.h of the loaded driver. See
 * contents.h.
 */
#include "contents.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef int read_function(uint64_t address, unsigned rank, const int64_t *shape,
                          const int64_t *strides, unsigned element_bytes, void *elements);
typedef void write_function(uint64_t address, unsigned rank, const int64_t *shape,
                            const int64_t *strides, unsigned element_bytes, const void *elements,
                            int state);
typedef int state_function(uint64_t address, uint64_t size_bytes);
typedef void forget_function(uint64_t address, uint64_t size_bytes);

static struct functions {
    read_function *read;
    write_function *write;
    state_function *state;
    forget_function *forget;
} functions;

static pthread_once_t once = PTHREAD_ONCE_INIT;

static void functions_find(void)
{
    const struct {
        const char *name;
        void *function;
    } rows[] = {{"gpumemtrace_values_read", &functions.read},
                {"gpumemtrace_values_write", &functions.write},
                {"gpumemtrace_values_state", &functions.state},
                {"gpumemtrace_values_forget", &functions.forget}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        void *function = dlsym(RTLD_DEFAULT, rows[i].name);
        memcpy(rows[i].function, &function, sizeof function);
    }
}

/* false: the loaded driver has none of these functions. */
static bool functions_are_there(void)
{
    pthread_once(&once, functions_find);
    return functions.read && functions.write && functions.state && functions.forget;
}

/* The number of known bytes at the beginning of the range. */
static size_t known_bytes(uint64_t address, size_t bytes)
{
    size_t known = 0, not_all = bytes + 1;
    if (functions.state(address, bytes) != CONTENTS_UNKNOWN)
        return bytes;
    while (known + 1 < not_all) {
        const size_t middle = known + (not_all - known) / 2;
        *(functions.state(address, middle) != CONTENTS_UNKNOWN ? &known : &not_all) = middle;
    }
    return known;
}

struct contents contents_read(const void *address, size_t bytes)
{
    struct contents contents = {0};
    if (!bytes || bytes > CONTENTS_BYTES_MAX || !functions_are_there())
        return contents;
    contents.bytes = known_bytes((uintptr_t)address, bytes);
    contents.data = contents.bytes ? malloc(contents.bytes) : NULL;
    if (contents.data)
        contents.state = (enum contents_state)functions.read(
            (uintptr_t)address, 0, NULL, NULL, (unsigned)contents.bytes, contents.data);
    return contents;
}

void contents_release(struct contents *contents)
{
    free(contents->data);
    *contents = (struct contents){0};
}

void contents_write(void *address, size_t bytes, const struct contents *contents,
                    size_t skipped_bytes)
{
    size_t known = 0;
    if (contents->data && contents->bytes > skipped_bytes)
        known = contents->bytes - skipped_bytes;
    known = known < bytes ? known : bytes;
    if (!functions_are_there())
        return;
    if (known)
        functions.write((uintptr_t)address, 0, NULL, NULL, (unsigned)known,
                        (const char *)contents->data + skipped_bytes, (int)contents->state);
    if (bytes > known)
        functions.forget((uintptr_t)address + known, bytes - known);
}
