/* SPDX-License-Identifier: MIT */
/* NVRTC: every program compiles to an image that the simulated driver accepts. Its kernels do
 * nothing. */
#include "standin.h"

#include <string.h>

#include "gpumemtrace/cuda/abi.h"

enum { SUCCESS = 0, OUT_OF_MEMORY = 1 };

static const char image[] = ".version 8.0\n.target sm_80\n.address_size 64\n";

STANDIN_CREATE(nvrtcCreateProgram, OUT_OF_MEMORY)

STANDIN(int, nvrtcDestroyProgram, (void **program))
{
    free(*program);
    *program = NULL;
    return SUCCESS;
}

STANDIN(int, nvrtcVersion, (int *major, int *minor))
{
    int runtime = 0;
    cudaRuntimeGetVersion(&runtime);
    *major = runtime / 1000;
    *minor = runtime % 1000 / 10;
    return SUCCESS;
}

#define TEXT(name, name_of_size, text)                                                             \
    STANDIN(int, name_of_size, (const void *program, size_t *bytes))                               \
    {                                                                                              \
        (void)program;                                                                             \
        *bytes = sizeof(text);                                                                     \
        return SUCCESS;                                                                            \
    }                                                                                              \
    STANDIN(int, name, (const void *program, char *buffer))                                        \
    {                                                                                              \
        (void)program;                                                                             \
        memcpy(buffer, text, sizeof(text));                                                        \
        return SUCCESS;                                                                            \
    }
TEXT(nvrtcGetPTX, nvrtcGetPTXSize, image)
TEXT(nvrtcGetCUBIN, nvrtcGetCUBINSize, image)
TEXT(nvrtcGetProgramLog, nvrtcGetProgramLogSize, "")

/* Returns names unchanged: the simulated driver finds kernels of any name. */
STANDIN(int, nvrtcGetLoweredName, (const void *program, const char *name, const char **lowered))
{
    (void)program;
    *lowered = name;
    return SUCCESS;
}

STANDIN(const char *, nvrtcGetErrorString, (int status))
{
    return status ? "NVRTC_ERROR_COMPILATION" : "NVRTC_SUCCESS";
}

/* Compute capabilities to compile for: 10 * major + minor. */
static const int architectures[] = {75, 80, 86, 87, 89, 90, 100, 103, 110, 120, 121};

STANDIN(int, nvrtcGetNumSupportedArchs, (int *count))
{
    *count = (int)(sizeof architectures / sizeof *architectures);
    return SUCCESS;
}

STANDIN(int, nvrtcGetSupportedArchs, (int *numbers))
{
    memcpy(numbers, architectures, sizeof architectures);
    return SUCCESS;
}
