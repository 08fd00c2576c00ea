/* SPDX-License-Identifier: MIT */
/*
 * See frame_tree.h.
 *
 *     nodes[]   by frame id                  | word | parent id | last child |
 *               word and parent are immutable once a slot has the id
 *     slots[]   hash table of 64-bit words   | upper half of the hash | frame id |   0: free
 *
 * To add a frame: fill nodes[id], write the FRAME record, compare-and-swap the slot. If two threads
 * add the same frame at once, both write a record, but only one thread gets the slot. The id of the
 * other thread is never used.
 *
 * Most frames of a stack have consecutive ids, so following the last children touches few cache
 * lines. The slots of the hash table are scattered, so it is searched only where a stack branches
 * off.
 */
#include "frame_tree.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/known_code.h"
#include "interpose/stack/native/limits.h"
#include "interpose/stack/native/modules.h"
#include "interpose/recording/recording.h"

#define SLOT_COUNT ((uint64_t)FRAME_TREE_MAX * 2)

/* Node 0 is the parent of the outermost frames. */
struct node {
    uint64_t word; /* frame_word */
    uint32_t parent_id;
    _Atomic uint32_t child_id; /* id of the child that was last looked up; 0: none */
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
    /* In a fork's child, forgets the frames of the parent, because the child's trace has no frames
     * yet. */
    if (slots)
        munmap((void *)slots, SLOT_COUNT * sizeof *slots);
    if (nodes)
        munmap(nodes, FRAME_TREE_MAX * sizeof *nodes);
    slots = reserve(SLOT_COUNT * sizeof *slots);
    nodes = reserve(FRAME_TREE_MAX * sizeof *nodes);
    atomic_store(&next_id, 1);
    return slots && nodes ? 0 : -1;
}

static uint64_t hash_frame(uint32_t parent_id, uint64_t word)
{
    uint64_t hash = word * 0x9e3779b97f4a7c15u;
    hash ^= (uint64_t)parent_id * 0xc2b2ae3d27d4eb4fu;
    hash ^= hash >> 29;
    hash *= 0xbf58476d1ce4e5b9u;
    return hash ^ hash >> 32;
}

/* Makes a new id with its node and its record. No other thread can find the id yet. 0: the tree is
 * full. */
static uint32_t make_node(struct thread *thread, uint32_t parent_id, uint64_t word)
{
    const enum frame_kind kind = (enum frame_kind)(word >> FRAME_WORD_KIND_SHIFT);
    const uint64_t address = word & (((uint64_t)1 << FRAME_WORD_KIND_SHIFT) - 1);
    if (kind == FRAME_NATIVE)
        known_code_note(address);
    if (atomic_load_explicit(&next_id, memory_order_relaxed) >= FRAME_TREE_MAX - 1024)
        return 0; /* at most 1024 threads are between this check and the next line */
    const uint32_t id = atomic_fetch_add_explicit(&next_id, 1, memory_order_relaxed);
    nodes[id].word = word;
    nodes[id].parent_id = parent_id;
    if (kind == FRAME_NATIVE)
        modules_note(thread);
    const struct ring_slot record = {
        .seq = id, .address = address, .stack_id = parent_id, .memory = (uint8_t)kind};
    thread_define(thread, SLOT_FRAME, &record, NULL, 0);
    return id;
}

/* Returns the id of a frame that is called by the frame parent_id (0: an outermost frame). Returns
 * 0 if the tree is full. */
static uint32_t find_or_add(struct thread *thread, uint32_t parent_id, uint64_t word)
{
    const uint64_t hash = hash_frame(parent_id, word);
    uint32_t id = 0;
    for (uint64_t at = hash & (SLOT_COUNT - 1);; at = (at + 1) & (SLOT_COUNT - 1)) {
        /* Acquire, so that a node is read only after the slot that has the node's id. */
        uint64_t slot = atomic_load_explicit(&slots[at], memory_order_acquire);
        if (!slot) {
            if (!id && !(id = make_node(thread, parent_id, word)))
                return 0;
            const uint64_t mine = (hash & 0xffffffff00000000u) | id;
            if (atomic_compare_exchange_strong_explicit(&slots[at], &slot, mine,
                                                        memory_order_acq_rel, memory_order_acquire))
                return id;
        }
        const struct node *node = &nodes[(uint32_t)slot];
        if (slot >> 32 == hash >> 32 && node->word == word && node->parent_id == parent_id)
            return (uint32_t)slot;
    }
}

static uint32_t child_of(struct thread *thread, uint32_t parent_id, uint64_t word)
{
    _Atomic uint32_t *last = &nodes[parent_id].child_id;
    /* Acquire and release: a reader that sees the child id may read the child's node. */
    uint32_t child_id = atomic_load_explicit(last, memory_order_acquire);
    if (GMT_LIKELY(child_id && nodes[child_id].word == word))
        return child_id;
    child_id = find_or_add(thread, parent_id, word);
    atomic_store_explicit(last, child_id, memory_order_release);
    return child_id;
}

uint32_t frame_tree_intern(struct thread *thread, const uint64_t *frames, uint32_t depth,
                           bool *is_whole)
{
    uint32_t id = 0;
    *is_whole = false;
    if (depth > STACK_FRAMES_MAX)
        depth = STACK_FRAMES_MAX;
    for (uint32_t left = depth; left-- > 0;) {
        const uint32_t child = child_of(thread, id, frames[left]);
        if (!child) {
            atomic_fetch_add_explicit(&recording.ring.header->lost_frames, 1, memory_order_relaxed);
            return id;
        }
        id = child;
    }
    *is_whole = true;
    return id;
}
