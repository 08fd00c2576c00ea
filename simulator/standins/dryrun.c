/* SPDX-License-Identifier: MIT */
/*
 * Keeps a program in a dry run from using NVIDIA's libraries by full path, as newer PyTorch opens
 * those in site-packages, and from using cuDNN. Loaded with the stand-ins. It must not know what
 * the stand-ins do.
 */
#include "dryrun.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "simulator/standins/dryrun/families.h"
#include "simulator/standins/dryrun/needs.h"
#include "standin.h"

/* --- cuDNN --- */

/* cuDNN's heuristics choose the memory of a convolution on the device; a dry run cannot know it, so
 * PyTorch must use its own kernels. PyTorch asks these functions before each use of cuDNN:
 * at::Context::userEnabledCuDNN() const, at::Context::userEnabledCuDNNSDP() const. */

STANDIN(bool, _ZNK2at7Context16userEnabledCuDNNEv, (const void *context))
{
    (void)context;
    return false;
}
STANDIN(bool, _ZNK2at7Context19userEnabledCuDNNSDPEv, (const void *context))
{
    (void)context;
    return false;
}

/* --- dlopen --- */

struct dlopen_choice {
    void *function;
    const char *path;
};

struct dlopen_choice dryrun_dlopen_choose(const char *path, const void *caller);

/*
 * Called by dlopen in dryrun_dlopen.S. A library of NVIDIA's is opened by its name without a folder,
 * under which it is loaded already, or is made for the purpose.
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
