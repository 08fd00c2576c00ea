/* SPDX-License-Identifier: MIT */
/*
 * Hashes with a seed that differs from process to process, so that no trace can be written whose
 * addresses or texts all collide in a hash table.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>

/* Returns a seed from the 16 random bytes that the kernel gives each process. */
static inline uint64_t hash_seed(void)
{
    uint64_t seed = 0;
    const void *random = (const void *)(uintptr_t)getauxval(AT_RANDOM);
    if (random)
        memcpy(&seed, random, sizeof seed);
    return seed;
}

/* The finalizer of splitmix64. */
static inline uint64_t hash_mix(uint64_t hash)
{
    hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebu;
    return hash ^ (hash >> 31);
}

static inline uint64_t hash_bytes(const void *bytes, size_t length, uint64_t seed)
{
    const unsigned char *next = bytes;
    uint64_t hash = hash_mix(seed + length), part;
    for (; length >= sizeof part; length -= sizeof part, next += sizeof part) {
        memcpy(&part, next, sizeof part);
        hash = hash_mix(hash ^ part);
    }
    part = 0;
    memcpy(&part, next, length);
    return hash_mix(hash ^ part);
}
