/* SPDX-License-Identifier: MIT */
/* Finds functions. See finders.h. */
#include "finders.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"

/* --- a function in the driver's list of versions --- */

enum { DEFAULT, PER_THREAD };

struct form {
    const char *name, *symbol;
    int version, stream;
};

static const struct form forms[] = {
#define DRIVER_FUNCTION(name, version, stream, symbol) {#name, #symbol, version, stream},
#include "gpumemtrace/cuda/driver_functions.def"
};

static const struct form *form_of(const char *symbol)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].symbol, symbol) == 0)
            return &forms[i];
    return NULL;
}

/* Returns the version that introduced this form, or for per-thread streams the version that
   introduced the per-thread form. */
static int version_of(const struct finder *finder, const struct form *form)
{
    if (finder->per_thread)
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
            if (forms[i].stream == PER_THREAD && strcmp(forms[i].name, form->name) == 0 &&
                strncmp(forms[i].symbol, form->symbol, strlen(form->symbol)) == 0)
                return forms[i].version;
    return form->version;
}

/* Returns true if a lookup of this version finds this form: the newest one among the forms for
   the same stream. */
static bool is_newest(const struct form *form, int version)
{
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].name, form->name) == 0 && forms[i].stream == form->stream &&
            forms[i].version > form->version && forms[i].version <= version)
            return false;
    return form->version <= version;
}

/* --- finders: one function by its symbol --- */

void *find_in_library(const struct finder *finder, const char *symbol)
{
    return dlsym(finder->library, symbol);
}

void *find_version(const struct finder *finder, const char *symbol)
{
    return dlvsym(finder->library, symbol, finder->version);
}

static cuuint64_t stream_flags(const struct finder *finder)
{
    return finder->per_thread ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
                              : CU_GET_PROC_ADDRESS_DEFAULT;
}

void *find_by_lookup(const struct finder *finder, const char *symbol)
{
    typedef CUresult lookup(const char *, void **, int, cuuint64_t,
                            CUdriverProcAddressQueryResult *);
    const struct form *form = form_of(symbol);
    CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
    void *function = NULL;
    if (!form ||
        GMT_FUNCTION(lookup *, finder->lookup)(form->name, &function, version_of(finder, form),
                                               stream_flags(finder), &status))
        return NULL;
    return status == CU_GET_PROC_ADDRESS_SUCCESS ? function : NULL;
}

void *find_by_lookup_v1(const struct finder *finder, const char *symbol)
{
    typedef CUresult lookup(const char *, void **, int, cuuint64_t);
    const struct form *form = form_of(symbol);
    void *function = NULL;
    if (!form || GMT_FUNCTION(lookup *, finder->lookup)(
                     form->name, &function, version_of(finder, form), stream_flags(finder)))
        return NULL;
    return function;
}

void *find_entry_point(const struct finder *finder, const char *symbol)
{
    typedef cudaError_t lookup(const char *, void **, unsigned long long,
                               enum cudaDriverEntryPointQueryResult *);
    const struct form *form = form_of(symbol);
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
    void *function = NULL;
    if (!form || !is_newest(form, finder->runtime_version) ||
        GMT_FUNCTION(lookup *, finder->lookup)(form->name, &function, cudaEnableDefault, &status))
        return NULL;
    return status == cudaDriverEntryPointSuccess ? function : NULL;
}

void *find_by_version(const struct finder *finder, const char *symbol)
{
    typedef cudaError_t lookup(const char *, void **, unsigned, unsigned long long,
                               enum cudaDriverEntryPointQueryResult *);
    const struct form *form = form_of(symbol);
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointSuccess;
    void *function = NULL;
    if (!form || GMT_FUNCTION(lookup *, finder->lookup)(form->name, &function,
                                                        (unsigned)version_of(finder, form),
                                                        cudaEnableDefault, &status))
        return NULL;
    return status == cudaDriverEntryPointSuccess ? function : NULL;
}

/* --- filling tables --- */

/* A lookup selects the stream by flags, not by the symbol. */
static void fill(void *api, const struct function_name *names, size_t count,
                 const struct finder *finder)
{
    for (size_t i = 0; i < count; i++) {
        const char *suffix = finder->per_thread && !finder->lookup ? names[i].suffix : "";
        char symbol[100];
        snprintf(symbol, sizeof symbol, "%s%s", names[i].symbol, suffix);
        void *function = finder->find(finder, symbol);
        memcpy((char *)api + names[i].offset, &function, sizeof function);
    }
}

void fill_driver(struct opened *opened, const struct finder *finder)
{
    fill(&opened->driver, driver_names, driver_name_count, finder);
    opened->driver.per_thread = finder->per_thread;
    opened->has_driver = true;
}

void fill_runtime(struct opened *opened, const struct finder *finder)
{
    struct runtime_api *api = &opened->runtimes[opened->runtime_count++];
    fill(api, runtime_names, runtime_name_count, finder);
    api->per_thread = finder->per_thread;
}
