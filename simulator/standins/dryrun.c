/* SPDX-License-Identifier: MIT */
/*
 * Keeps a program in a dry run from using NVIDIA's libraries by full path, as newer PyTorch opens
 * those in site-packages, and from using cuDNN. Loaded with the stand-ins. It must not know what
 * the stand-ins do.
 */
#include "standin.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

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

static const char *const sonames[] = {
#undef STANDIN
#define DRIVER(soname) soname,
#define RUNTIME(soname, version) soname,
#define STANDIN(soname, list, symbol_version, runtime) soname,
#include "simulator/libraries.def"
};

struct dlopen_choice {
    void *function;
    const char *path;
};

struct dlopen_choice dryrun_dlopen_choose(const char *path);

/* Called by dlopen in dryrun_dlopen.S. A name without a folder finds the library already loaded
 * under that name. */
struct dlopen_choice dryrun_dlopen_choose(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct dlopen_choice choice = {dlsym(RTLD_NEXT, "dlopen"), path};
    for (size_t i = 0; slash && i < sizeof sonames / sizeof *sonames; i++)
        if (!strcmp(slash + 1, sonames[i]))
            choice.path = sonames[i];
    return choice;
}
