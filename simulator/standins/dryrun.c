/* SPDX-License-Identifier: MIT */
/*
 * Prevents a program in a dry run from loading cuDNN, and from loading NVIDIA's libraries by their
 * full paths. Newer releases of PyTorch load the libraries in site-packages in this way. This
 * library is loaded together with the stand-ins.
 */
#include "dryrun.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "simulator/standins/dryrun/families.h"
#include "simulator/standins/dryrun/needs.h"
#include "standin.h"

/* --- dlopen --- */

struct dlopen_choice {
    void *function;
    const char *path;
};

struct dlopen_choice dryrun_dlopen_choose(const char *path, const void *caller);

/*
 * Called by dlopen in dryrun_dlopen.S. A library of NVIDIA's is opened by its name without a
 * folder. A library with that name is already loaded, or it is generated first.
 */
struct dlopen_choice dryrun_dlopen_choose(const char *path, const void *caller)
{
    void *const function = dlsym(RTLD_NEXT, "dlopen");
    dlopen_function *const real = (dlopen_function *)(uintptr_t)function;
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;
    if (slash && strstr(path, "/torch/_C.") == slash - strlen("/torch"))
        dryrun_torch_is_loaded();
    if (name && family_standin(name)) {
        needs_prepare_name(name, real);
        path = name;
    } else if (name && *name) {
        needs_prepare(path, caller, real);
    }
    return (struct dlopen_choice){function, path};
}
