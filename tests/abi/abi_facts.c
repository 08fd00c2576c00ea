/* SPDX-License-Identifier: MIT */
/*
 * Prints sizes, offsets and values of the CUDA ABI, one fact a line. test_abi.py builds it twice,
 * with our declarations and with NVIDIA's headers; both must print the same. The test also writes
 * the list of facts, from everything that driver.h and runtime.h define, so that none is forgotten.
 */
#include <stddef.h>
#include <stdio.h>

#include "gpumemtrace/cuda/abi.h"

#define VALUE(name) printf("%s = %lld\n", #name, (long long)(name));
#define SIZE(type) printf("sizeof %s = %zu\n", #type, sizeof(type));
#define MEMBER(type, member)                                                                       \
    printf("%s.%s at %zu, %zu bytes\n", #type, #member, offsetof(type, member),                    \
           sizeof(((type *)0)->member));

int main(void)
{
#include "abi_facts.inc"
    return 0;
}
