/* SPDX-License-Identifier: MIT */
/*
 * What a dry run has to keep a program from, loaded with the stand-ins: NVIDIA's libraries by their
 * full path (newer PyTorch opens those it finds in site-packages so, in front of any search path),
 * and cuDNN. It must not know what the stand-ins do.
 */
#include "standin.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

/* --- cuDNN ---
 * What it takes for a convolution is chosen by its heuristics on the card; a dry run does not guess
 * it, and PyTorch takes its own kernels. It asks its Context before each use:
 * at::Context::userEnabledCuDNN() const, at::Context::userEnabledCuDNNSDP() const.
 */

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

/* Asked by the dlopen in dryrun_dlopen.S. A name without folder finds what is loaded under it. */
struct dlopen_choice dryrun_dlopen_choose(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;
    struct dlopen_choice choice = {dlsym(RTLD_NEXT, "dlopen"), path};
    for (size_t i = 0; slash && i < sizeof sonames / sizeof *sonames; i++)
        if (!strcmp(slash + 1, sonames[i]))
            choice.path = sonames[i];
    return choice;
}
