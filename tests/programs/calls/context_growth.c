/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Makes a context that grows at the first use of a kernel, and allocates memory in one of three
 * ways:
 *
 *     context_growth grows | rises | loops
 *
 * grows: takes 2 GiB, then the kernel's 30 MiB, then 1 GiB. rises: allocates up to 8 GiB in steps
 * of 1 MiB. loops: allocates 1 GiB, 2,000 times.
 */
#include <elf.h>
#include <stdint.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"

#define MIB ((size_t)1 << 20)

/* Called by nvcc's code; no header declares these functions. */
void **__cudaRegisterFatBinary(void *wrapped);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaRegisterFunction(void **handle, const char *host_function, char *device_function,
                            const char *device_name, int thread_limit, void *thread, void *block,
                            dim3 *block_shape, dim3 *grid_shape, int *size);

static Elf64_Ehdr cubin; /* an ELF header that gives the size of the code */
static struct {
    int magic, version;
    const void *data;
    void *more;
} wrapped = {0x466243b1, 1, &cubin, NULL};
static char kernel; /* its address is the kernel's host function */

static void enroll(void)
{
    memcpy(cubin.e_ident, ELFMAG, SELFMAG);
    cubin.e_shoff = 30 * MIB;
    void **handle = __cudaRegisterFatBinary(&wrapped);
    __cudaRegisterFunction(handle, &kernel, &kernel, "kernel", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(handle);
}

static int grows(void)
{
    const dim3 one = {1, 1, 1};
    void *first, *second;
    enroll();
    return cudaMalloc(&first, 2048 * MIB) || cudaLaunchKernel(&kernel, one, one, NULL, 0, 0) ||
           cudaMalloc(&second, 1024 * MIB);
}

static int rises(void)
{
    void *block;
    for (int i = 0; i < 8192; i++)
        if (cudaMalloc(&block, MIB))
            return 1;
    return 0;
}

static int loops(void)
{
    void *block;
    for (int i = 0; i < 2000; i++)
        if (cudaMalloc(&block, 1024 * MIB) || cudaFree(block))
            return 1;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 9;
    return !strcmp(argv[1], "grows") ? grows() : !strcmp(argv[1], "rises") ? rises() : loops();
}
