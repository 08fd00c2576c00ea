/* SPDX-License-Identifier: MIT */
/*
 * Runs values.py in a Python that loads PyTorch, and hides the dispatch mode of values.py from
 * PyTorch's C++ code. If that code saw an active mode, it would take other code paths and so
 * allocate differently. This file also keeps the version of cuDNN that PyTorch was built for,
 * because PyTorch chooses code paths by that version.
 *
 * The thread that loads PyTorch's extension holds Python's lock (GIL), as in every import. Python
 * is called only on this thread, and only if it confirms that the thread holds the lock.
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

/* The source is a single expression, so that it adds no name to the program's __main__. */
static const char run_source[] =
    "exec(compile(__import__('ctypes').string_at(%llu).decode(), '" VALUES_FILE "', 'exec'), "
    "{'__name__': 'gpumemtrace_values', '__file__': '" VALUES_FILE "'})";

/* Stores dlsym's result in a function pointer by memcpy, because ISO C has no such cast. */
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
    if (done)
        return;
    done = true;
    find_function("PyGILState_Check", &holds_lock);
    find_function("PyRun_SimpleString", &run);
    if (!holds_lock || !run || !holds_lock()) {
        const char *values = getenv("GPUMEMTRACE_VALUES");
        if (!values || strcmp(values, "none") != 0)
            fputs("gpumemtrace: this Python cannot compute values: values read from a simulated "
                  "card are zero unless the program copied them there\n",
                  stderr);
        return;
    }
    snprintf(text, sizeof text, run_source, (unsigned long long)(uintptr_t)dryrun_values);
    run(text);
}

/* --- the cuDNN that PyTorch was built for --- */

/* Major and minor version and patch level; major 0: unknown. Set once, while PyTorch is
 * imported. */
static int cudnn[3];

GMT_EXPORT void gpumemtrace_dryrun_set_cudnn(int major, int minor, int patch);
void gpumemtrace_dryrun_set_cudnn(int major, int minor, int patch)
{
    cudnn[0] = major, cudnn[1] = minor, cudnn[2] = patch;
}

/* For the stand-in of cuDNN. -1: PyTorch was built for another major version. */
GMT_EXPORT int gpumemtrace_dryrun_cudnn_part(int major, int part);
int gpumemtrace_dryrun_cudnn_part(int major, int part)
{
    return major == cudnn[0] && part >= 0 && part < 3 ? cudnn[part] : -1;
}

/* --- the mode that is not there --- */

/* A loaded library, found by the beginning of its file name. */
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

/* Functions of libc10.so. */
struct c10 {
    bool (*mode_enabled)(void);
    int64_t (*mode_count)(void);
    void (*exclude)(void *guard, uint64_t keys);
    bool (*is_excluded)(uint16_t key);
    void (*set_excluded)(uint16_t key, bool is_excluded);
};

static const struct c10 *c10_find(void)
{
    static struct c10 c10;
    static bool found;
    if (found)
        return &c10;
    const struct image image = image_find("libc10.so");
    void *handle = image.path[0] ? dlopen(image.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    const struct {
        const char *name;
        void *function;
    } rows[] = {
        {"_ZN3c104impl21dispatch_mode_enabledEv", &c10.mode_enabled},
        {"_ZN3c104impl20TorchDispatchModeTLS9stack_lenEv", &c10.mode_count},
        {"_ZN3c104impl23ExcludeDispatchKeyGuardC1ENS_14DispatchKeySetE", &c10.exclude},
        {"_ZN3c104impl28tls_is_dispatch_key_excludedENS_11DispatchKeyE", &c10.is_excluded},
        {"_ZN3c104impl29tls_set_dispatch_key_excludedENS_11DispatchKeyEb", &c10.set_excluded},
    };
    for (size_t i = 0; handle && i < sizeof rows / sizeof *rows; i++) {
        void *function = dlsym(handle, rows[i].name);
        memcpy(rows[i].function, &function, sizeof function);
    }
    found = handle;
    return &c10;
}

/* Set when the mode of values.py is pushed: libtorch_python.so, which calls modes, and the dispatch
 * keys. */
static bool mode_is_pushed;
static struct image python;
static uint64_t python_entry_keys;
static uint16_t autocast_key;
static _Thread_local bool autocast_is_on;

GMT_EXPORT void gpumemtrace_values_mode_is_pushed(uint64_t entry_keys, unsigned autocast);
void gpumemtrace_values_mode_is_pushed(uint64_t entry_keys, unsigned autocast)
{
    python = image_find("libtorch_python.so");
    python_entry_keys = entry_keys;
    autocast_key = (uint16_t)autocast;
    mode_is_pushed = true;
}

/* c10::impl::dispatch_mode_enabled(): false if the only mode is that of values.py, which is always
 * the first. If libtorch_python.so asks, it gets the real answer, because it calls the modes. */
STANDIN(bool, _ZN3c104impl21dispatch_mode_enabledEv, (void))
{
    const uintptr_t caller = (uintptr_t)GMT_CALLER_ADDRESS();
    const struct c10 *c10 = c10_find();
    if (!c10->mode_enabled || !c10->mode_enabled())
        return false;
    return !mode_is_pushed || !c10->mode_count || c10->mode_count() > 1 ||
           (caller >= python.first && caller < python.end);
}

/* --- autocast within operators --- */

/*
 * c10::impl::ExcludeDispatchKeyGuard(DispatchKeySet). Before PyTorch calls a mode, it excludes the
 * dispatch keys above Python's, and autocast is one of them. Without a mode, an operator that
 * autocast does not handle (convolution_backward) calls other operators through autocast, which
 * converts tensors and so allocates memory. So the state of autocast is kept here, and the mode
 * switches autocast on again around the operator.
 */
STANDIN(void, _ZN3c104impl23ExcludeDispatchKeyGuardC1ENS_14DispatchKeySetE,
        (void *guard, uint64_t keys))
{
    const struct c10 *c10 = c10_find();
    if ((keys & python_entry_keys) && c10->is_excluded)
        autocast_is_on = !c10->is_excluded(autocast_key);
    if (c10->exclude)
        c10->exclude(guard, keys);
    else
        memset(guard, 0, 2 * sizeof keys); /* excludes nothing */
}

GMT_EXPORT void gpumemtrace_values_let_autocast(void);
void gpumemtrace_values_let_autocast(void)
{
    const struct c10 *c10 = c10_find();
    if (autocast_is_on && c10->set_excluded)
        c10->set_excluded(autocast_key, false);
}
