/* SPDX-License-Identifier: MIT */
/*
 * See frame_tree.h.
 *
 *     slots[]   hash table of 64-bit words   | upper half of the hash | frame id |   0: free
 *     nodes[]   by frame id                  | address | parent id | kind |          immutable once
 *                                                                                    a slot has it
 *
 * To add a frame: fill nodes[id], write the FRAME record, compare-and-swap the slot. If two threads
 * add the same frame at once, both write a record, one wins the slot, and the other's id is never
 * used.
 */
#include "frame_tree.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/image/known_code.h"
#include "interpose/stack/native/limits.h"
#include "interpose/stack/native/modules.h"
#include "interpose/recording/recording.h"

#define SLOT_COUNT ((uint64_t)FRAME_TREE_MAX * 2)

struct node {
    uint64_t address;
    uint32_t parent_id;
    uint32_t kind;
};

static _Atomic uint64_t *slots;
static struct node *nodes;
static _Atomic uint32_t next_id;

static void *reserve(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return memory == MAP_FAILED ? NULL : memory;
}

int frame_tree_setup(void)
{
    /* The trace of a fork's child has no frames yet. */
    if (slots)
        munmap((void *)slots, SLOT_COUNT * sizeof *slots);
    if (nodes)
        munmap(nodes, FRAME_TREE_MAX * sizeof *nodes);
    slots = reserve(SLOT_COUNT * sizeof *slots);
    nodes = reserve(FRAME_TREE_MAX * sizeof *nodes);
    atomic_store(&next_id, 1);
    return slots && nodes ? 0 : -1;
}

static uint64_t hash_frame(uint32_t parent_id, uint32_t kind, uint64_t address)
{
    uint64_t hash = address * 0x9e3779b97f4a7c15u;
    hash ^= ((uint64_t)parent_id << 2 | kind) * 0xc2b2ae3d27d4eb4fu;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

static bool same_node(uint32_t id, const struct node *node)
{
    return nodes[id].address == node->address && nodes[id].parent_id == node->parent_id &&
           nodes[id].kind == node->kind;
}

/* A new id with its node and its record, which nobody can find yet. 0: the tree is full. */
static uint32_t make_node(struct thread *thread, const struct node *node)
{
    if (node->kind == FRAME_NATIVE)
        known_code_note(node->address);
    if (atomic_load_explicit(&next_id, memory_order_relaxed) >= FRAME_TREE_MAX - 1024)
        return 0; /* 1024: at most so many threads are between this check and the next line */
    const uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    nodes[id] = *node;
    if (node->kind == FRAME_NATIVE)
        modules_note(thread);
    const struct ring_slot record = {.seq = id,
                                     .address = node->address,
                                     .stack_id = node->parent_id,
                                     .memory = (uint8_t)node->kind};
    thread_define(thread, SLOT_FRAME, &record, NULL, 0);
    return id;
}

uint32_t frame_tree_add(struct thread *thread, uint32_t parent_id, enum frame_kind kind,
                        uint64_t address)
{
    const struct node node = {address, parent_id, kind};
    const uint64_t hash = hash_frame(parent_id, kind, address);
    uint32_t id = 0;
    for (uint64_t at = hash & (SLOT_COUNT - 1);; at = (at + 1) & (SLOT_COUNT - 1)) {
        /* Acquire: a node is read only through the slot that shows it. */
        uint64_t slot = atomic_load_explicit(&slots[at], memory_order_acquire);
        if (!slot) {
            if (!id && !(id = make_node(thread, &node)))
                return 0;
            const uint64_t mine = (hash & 0xffffffff00000000u) | id;
            if (atomic_compare_exchange_strong_explicit(&slots[at], &slot, mine,
                                                        memory_order_acq_rel, memory_order_acquire))
                return id;
        }
        if (slot >> 32 == hash >> 32 && same_node((uint32_t)slot, &node))
            return (uint32_t)slot;
    }
}

/* A thread's last stack as words, innermost first, and the id of each frame: the next stack mostly
 * has the same outer part. */
struct last_stack {
    uint32_t depth;
    uint32_t frame_ids[STACK_FRAMES_MAX]; /* not cleared, nor what follows */
    uint64_t frames[STACK_FRAMES_MAX];
};
static struct thread_part part =
    THREAD_PART(struct last_stack, offsetof(struct last_stack, frame_ids));

uint32_t frame_tree_last_depth(struct thread *thread)
{
    const struct last_stack *last = thread_part(thread, &part);
    return last->depth;
}

/* How many outermost frames this stack shares with the thread's last one. */
static uint32_t shared_depth(const struct last_stack *last, const uint64_t *frames, uint32_t depth)
{
    const uint32_t limit = depth < last->depth ? depth : last->depth;
    const uint64_t *end = frames + depth, *last_end = last->frames + last->depth;
    uint32_t shared = 0;
    if (depth == last->depth && memcmp(frames, last->frames, depth * sizeof *frames) == 0)
        return depth;
    while (shared < limit && last_end[-1 - (ptrdiff_t)shared] == end[-1 - (ptrdiff_t)shared])
        shared++;
    return shared;
}

/* The ids of shared frames move to where these stand in a stack of this depth. */
static void remember(struct last_stack *last, const uint64_t *frames, uint32_t depth,
                     uint32_t shared)
{
    memmove(last->frame_ids + (depth - shared), last->frame_ids + (last->depth - shared),
            shared * sizeof *last->frame_ids);
    memcpy(last->frames, frames, depth * sizeof *frames);
    last->depth = depth;
}

uint32_t frame_tree_intern(struct thread *thread, const uint64_t *frames, uint32_t depth)
{
    struct last_stack *last = thread_part(thread, &part);
    if (depth > STACK_FRAMES_MAX)
        depth = STACK_FRAMES_MAX;
    const uint32_t shared = shared_depth(last, frames, depth);
    if (shared == depth && depth == last->depth)
        return depth ? last->frame_ids[0] : 0;
    remember(last, frames, depth, shared);
    uint32_t id = shared ? last->frame_ids[depth - shared] : 0;
    for (uint32_t left = depth - shared; left-- > 0;) {
        const enum frame_kind kind = (enum frame_kind)(frames[left] >> FRAME_WORD_KIND_SHIFT);
        const uint64_t address = frames[left] & (((uint64_t)1 << FRAME_WORD_KIND_SHIFT) - 1);
        const uint32_t child = frame_tree_add(thread, id, kind, address);
        if (!child) {
            atomic_fetch_add_explicit(&recording.ring.header->lost_frames, 1, memory_order_relaxed);
            last->depth = 0;
            return id;
        }
        last->frame_ids[left] = id = child;
    }
    return id;
}
