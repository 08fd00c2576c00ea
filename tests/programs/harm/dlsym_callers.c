/* SPDX-License-Identifier: MIT */
/* link: cudart13 cuda dl */
/*
 * Calls dlsym with the handles whose meaning depends on the caller, and with names that only
 * resemble hooked ones. Except for hooks, results must be the same as without the recorder.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"

static int failures;

static void expect(int condition, const char *what)
{
    if (condition)
        return;
    printf("not so: %s\n", what);
    failures++;
}

static const char *library_of(void *function)
{
    Dl_info info;
    const char *slash;
    if (!function || !dladdr(function, &info))
        return "none";
    slash = strrchr(info.dli_fname, '/');
    return slash ? slash + 1 : info.dli_fname;
}

static void check_null(void)
{
    expect(dlsym(NULL, "no_such_function_anywhere") == NULL, "an unknown name is not found");
    expect(dlerror() != NULL, "dlerror says why");
    expect(dlsym(NULL, "cuNoSuchFunction") == NULL, "an unknown CUDA name is not found");
    expect(dlsym(NULL, "puts") == dlsym(RTLD_DEFAULT, "puts"), "NULL means RTLD_DEFAULT");
}

static void check_next(void)
{
    expect(dlsym(RTLD_NEXT, "puts") != NULL, "libc's puts comes next after the program");
    expect(strstr(library_of(dlsym(RTLD_NEXT, "cuMemAlloc_v2")), "libcuda") ||
               strstr(library_of(dlsym(RTLD_NEXT, "cuMemAlloc_v2")), "libgpumemtrace"),
           "the next cuMemAlloc_v2 is one that works");
    expect(dlsym(RTLD_NEXT, "main") == NULL, "nothing after the program has main");
}

static void check_default(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW);
    expect(driver != NULL, "the driver opens");
    expect(dlsym(driver, "cuNoSuchFunction") == NULL, "an unknown driver name is not found");
    expect(strcmp(library_of(dlsym(driver, "cuCtxGetCurrent")), "libcuda.so.1") == 0,
           "a function without a hook is the driver's own");
    expect(strcmp(library_of(dlsym(driver, "cuMemAlloc_v2")), "libgpumemtrace.so") == 0,
           "a function with a hook is the hook");
    expect(dlsym(driver, "cuMemAlloc_v2") == dlsym(RTLD_DEFAULT, "cuMemAlloc_v2"),
           "every way leads to the same hook");
    CUcontext context = NULL;
    expect(cuDevicePrimaryCtxRetain(&context, 0) == 0 && cuCtxSetCurrent(context) == 0,
           "a context can be made current");
    expect(cuMemFree_v2(0) == 0, "freeing NULL works through the hook");
}

int main(int argc, char **argv)
{
    const char *handle = argc > 1 ? argv[1] : "";
    if (cuInit(0) != 0)
        return 3;
    if (strcmp(handle, "NULL") == 0)
        check_null();
    else if (strcmp(handle, "RTLD_NEXT") == 0)
        check_next();
    else
        check_default();
    return failures ? 1 : 0;
}
