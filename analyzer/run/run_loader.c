/* SPDX-License-Identifier: MIT */
/* The loader's variables; see run_loader.h. */
#include "run_loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/text.h"

#define VARIABLE_BYTES_MAX 65536

/* Puts `first` before the value of the variable, with a colon between them. */
static int prepend(const char *name, const char *first, struct err *err)
{
    struct text value;
    const char *before = getenv(name);
    text_init(&value, VARIABLE_BYTES_MAX);
    text_add(&value, first);
    if (before && *before)
        text_addf(&value, ":%s", before);
    int result = -1;
    if (text_failed(&value))
        err_set(err, ERR_USAGE, "%s is too long", name);
    else if (!setenv(name, value.data, 1))
        result = 0;
    else
        err_set(err, ERR_SYSTEM, "cannot set %s: %s", name, strerror(errno));
    text_release(&value);
    return result;
}

static const char *const simulated[] = {
#define DRIVER(soname) soname,
#define RUNTIME(soname, version) soname,
#define STANDIN(soname, list, symbol_version, runtime) soname,
#include "simulator/libraries.def"
};

/*
 * The recorder comes first. The simulator's libraries follow under their public names, so that a
 * program's rpath cannot load others. LD_LIBRARY_PATH serves libraries that are opened later.
 */
int run_loader_set(const struct run_places *places, struct err *err)
{
    struct text preload;
    text_init(&preload, VARIABLE_BYTES_MAX);
    text_add(&preload, places->library);
    for (size_t i = 0; places->simulator[0] && i < sizeof simulated / sizeof *simulated; i++)
        text_addf(&preload, ":%s/%s", places->simulator, simulated[i]);
    int result = prepend("LD_PRELOAD", preload.data, err);
    text_release(&preload);
    if (!result && places->simulator[0])
        result = prepend("LD_LIBRARY_PATH", places->simulator, err);
    return result;
}
