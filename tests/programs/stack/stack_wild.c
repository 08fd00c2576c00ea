/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Allocates from machine code that no unwind table covers, while the frame pointer's register holds
 * something else: an unwinder that trusts the register would read invalid addresses. Prints the
 * number of successful allocations. Exits 77 if there is no such code for this machine.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"

#define PAGE_BYTES 4096

#if defined(__x86_64__)
/* push %rbp; mov $value, %rbp; mov $cudaMalloc, %rax; call *%rax; pop %rbp; ret */
static const uint8_t code[] = {0x55, 0x48, 0xbd, 0, 0, 0, 0, 0, 0,    0,    0,    0x48, 0xb8,
                               0,    0,    0,    0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3};
enum { VALUE_AT = 3, FUNCTION_AT = 13 };

typedef cudaError_t malloc_function(void **block, size_t bytes);

/* Each call is made from another address, because the unwinder remembers its result for each
   address. */
static int allocate(uint8_t **place, uint64_t value)
{
    const uint64_t function = (uint64_t)(uintptr_t)cudaMalloc;
    malloc_function *call = GMT_FUNCTION(malloc_function *, (void *)*place);
    void *block = NULL;
    memcpy(*place, code, sizeof code);
    memcpy(*place + VALUE_AT, &value, sizeof value);
    memcpy(*place + FUNCTION_AT, &function, sizeof function);
    *place += 64;
    return call(&block, PAGE_BYTES) == cudaSuccess;
}

static uint8_t *map(int protection)
{
    return mmap(NULL, PAGE_BYTES, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    uint8_t *place = map(PROT_READ | PROT_WRITE | PROT_EXEC);
    uint8_t *data[4] = {map(PROT_READ | PROT_WRITE), map(PROT_READ | PROT_WRITE),
                        map(PROT_READ | PROT_WRITE), map(PROT_READ | PROT_WRITE)};
    const uint64_t values[] = {1, 16, UINT64_MAX - 7, UINT64_C(1) << 63};
    int succeeded = 0;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        succeeded += allocate(&place, values[i]);
    for (int i = 0; i < 4; i++) {
        succeeded += allocate(&place, (uint64_t)(uintptr_t)data[i]);
        mprotect(data[i], PAGE_BYTES, PROT_NONE);
        succeeded += allocate(&place, (uint64_t)(uintptr_t)data[i]);
    }
    printf("%d\n", succeeded);
    return 0;
}
#else
int main(void)
{
    return 77;
}
#endif
