/* SPDX-License-Identifier: MIT */
/* link: cudart13 */
/*
 * Opens overlapping ranges in NVTX domains, with registered strings. Prints the result of each
 * call.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/cuda/abi.h"
#include "nvtx_attributes.h"
#include "nvtx_player.h"

#define MIB ((size_t)1 << 20)

static void *create(const char *name)
{
    return NVTX_CALL(void *, (const char *), NVTX_CORE2, 12, (name), NULL);
}

static void *registered(void *domain, const char *text)
{
    return NVTX_CALL(void *, (void *, const char *), NVTX_CORE2, 10, (domain, text), NULL);
}

static void push(void *domain, int message_type, const void *message)
{
    const struct attributes attributes = {
        .version = 3, .size = sizeof attributes, .message_type = message_type, .message = message};
    printf("push %d\n", NVTX_CALL(int, (void *, const struct attributes *), NVTX_CORE2, 4,
                                  (domain, &attributes), -2));
}

static void pop(void *domain)
{
    printf("pop %d\n", NVTX_CALL(int, (void *), NVTX_CORE2, 5, (domain), -2));
}

static void allocate(size_t mebibytes)
{
    void *block = NULL;
    if (cudaMalloc(&block, mebibytes * MIB) != 0)
        exit(9);
}

int main(void)
{
    printf("injected %d\n", nvtx_inject());
    void *first = create("first"), *second = create("second");
    void *name = registered(first, "registered");
    printf("domains %d\n", first && second && first != second && name);
    push(first, MESSAGE_ASCII, "outer");
    allocate(1);
    push(second, MESSAGE_ASCII, "other");
    allocate(2);
    pop(first);
    allocate(4);
    push(NULL, MESSAGE_ASCII, "default");
    allocate(8);
    pop(second);
    allocate(16);
    pop(NULL);
    allocate(32);
    pop(first);
    push(first, MESSAGE_REGISTERED, name);
    push(first, MESSAGE_ASCII, "inner");
    allocate(64);
    pop(first);
    pop(first);
    for (int i = 0; i < 40; i++)
        push(second, MESSAGE_ASCII, "deep");
    for (int i = 0; i < 40; i++)
        pop(second);
    allocate(128);
    return 0;
}
