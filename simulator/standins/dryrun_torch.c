/* SPDX-License-Identifier: MIT */
/*
 * Brings values.py into a Python that loads PyTorch, and hides its dispatch mode from PyTorch's C++
 * code, which would choose other ways, and so other allocations, where a mode is active. It must
 * not know what values.py computes.
 *
 * The thread that loads PyTorch's extension holds Python's lock, as in every import: only this
 * thread's lock is used, and only if Python says that it has it.
 */
#include "dryrun.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "common/values_file.h"
#include "standin.h"

/* --- values.py --- */

extern const char dryrun_values[];

/* One expression, which leaves no name in the program's __main__. */
static const char run_source[] =
    "exec(compile(__import__('ctypes').string_at(%llu).decode(), '" VALUES_FILE "', 'exec'), "
    "{'__name__': 'gpumemtrace_values', '__file__': '" VALUES_FILE "'})";

/* GMT_FUNCTION is for the recorder; dlsym's result as a function, without a cast of the pointer. */
static void find_function(const char *name, void *function)
{
    void *found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof found);
}

void dryrun_torch_is_loaded(void)
{
    static bool done;
    int (*holds_lock)(void), (*run)(const char *);
    char text[sizeof run_source + 32];
    const char *values = getenv("GPUMEMTRACE_VALUES");
    if (done || (values && !strcmp(values, "none")))
        return;
    done = true;
    find_function("PyGILState_Check", &holds_lock);
    find_function("PyRun_SimpleString", &run);
    if (!holds_lock || !run || !holds_lock()) {
        fputs("gpumemtrace: this Python cannot be asked to compute values: what is read from a "
              "simulated card is zero where nobody copied it there\n",
              stderr);
        return;
    }
    snprintf(text, sizeof text, run_source, (unsigned long long)(uintptr_t)dryrun_values);
    run(text);
}

/* --- the mode that is not there --- */

/* A library in the process, by the beginning of its file's name. */
struct image {
    const char *library;
    char path[PATH_MAX];
    uintptr_t first, end; /* of its code */
};

static int image_search(struct dl_phdr_info *info, size_t size, void *data)
{
    struct image *image = data;
    const char *slash = strrchr(info->dlpi_name, '/');
    (void)size;
    if (!slash || strncmp(slash + 1, image->library, strlen(image->library)) != 0)
        return 0;
    snprintf(image->path, sizeof image->path, "%s", info->dlpi_name);
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X) {
            image->first = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
            image->end = image->first + info->dlpi_phdr[i].p_memsz;
        }
    return 1;
}

static struct image image_find(const char *library)
{
    struct image image = {.library = library};
    dl_iterate_phdr(image_search, &image);
    return image;
}

struct modes {
    bool (*are_enabled)(void);
    int64_t (*count)(void);
    uintptr_t python_first, python_end;
};

static const struct modes *modes_find(void)
{
    static struct modes modes;
    static bool found;
    if (found)
        return &modes;
    const struct image c10 = image_find("libc10.so"), python = image_find("libtorch_python.so");
    void *handle = c10.path[0] ? dlopen(c10.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *functions[] = {handle ? dlsym(handle, "_ZN3c104impl21dispatch_mode_enabledEv") : NULL,
                         handle ? dlsym(handle, "_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv")
                                : NULL};
    memcpy(&modes.are_enabled, &functions[0], sizeof modes.are_enabled);
    memcpy(&modes.count, &functions[1], sizeof modes.count);
    modes.python_first = python.first, modes.python_end = python.end;
    found = handle && python.end;
    return &modes;
}

static bool mode_is_pushed;

GMT_EXPORT void gpumemtrace_values_mode_is_pushed(void);
void gpumemtrace_values_mode_is_pushed(void)
{
    mode_is_pushed = true;
}

/* c10::impl::dispatch_mode_enabled(): not, where the only mode is ours, which is always the first;
 * but PyTorch's own Python part, which calls the modes, must know. */
STANDIN(bool, _ZN3c104impl21dispatch_mode_enabledEv, (void))
{
    const uintptr_t caller = (uintptr_t)GMT_CALLER_ADDRESS();
    const struct modes *modes = modes_find();
    if (!modes->are_enabled || !modes->are_enabled())
        return false;
    return !mode_is_pushed || !modes->count || modes->count() > 1 ||
           (caller >= modes->python_first && caller < modes->python_end);
}
