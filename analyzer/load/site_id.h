/* SPDX-License-Identifier: MIT */
/*
 * The site of an allocation as one number: its call stack and, if a backward allocated, the stack
 * of the first allocation of the forward operator that this backward belongs to (autograd.h).
 *
 *     forward stack (0: not in a backward, or unknown) │ call stack (0: none)
 *
 * So the id of a call stack is also the id of the site that has no forward operator.
 */
#pragma once

#include <stdint.h>

static inline uint64_t site_id_of(uint32_t stack_id, uint32_t forward_stack_id)
{
    return (uint64_t)forward_stack_id << 32 | stack_id;
}

static inline uint32_t site_stack(uint64_t site_id)
{
    return (uint32_t)site_id;
}

static inline uint32_t site_forward_stack(uint64_t site_id)
{
    return (uint32_t)(site_id >> 32);
}

/* Orders sites by their call stacks, then by their forward stacks; as for qsort. */
static inline int site_id_compare(uint64_t a, uint64_t b)
{
    const uint64_t left = site_id_of(site_forward_stack(a), site_stack(a));
    const uint64_t right = site_id_of(site_forward_stack(b), site_stack(b));
    return (left > right) - (left < right);
}
