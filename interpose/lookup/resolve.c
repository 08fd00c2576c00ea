/* SPDX-License-Identifier: MIT */
/*
 * Finds and caches the libraries that define hooked functions. See resolve.h.
 */
#include "resolve.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/compiler.h"
#include "interpose/image/elf_image.h"
#include "interpose/image/image_list.h"
#include "interpose/image/known_code.h"
#include "interpose/image/scope.h"
#include "thunks.h"

#define IMAGE_LIMIT 15
#define ADDRESS_SLOTS 4096 /* power of two */
#define CALLER_SLOTS 4096

/* A library with hooked functions. All members are set before image_count counts the library
 * (release). */
struct image {
    uintptr_t start, end;
    void *functions[HOOK_COUNT];
};
static struct image images[IMAGE_LIMIT];
static _Atomic unsigned image_count;

/* Maps a real function to its hook, and to the thunk that a lookup returns in its place. The hook
 * and the thunk are stored before the address (release) and never change. */
struct address_slot {
    _Atomic(void *) real;
    enum hook hook;
    unsigned thunk; /* number of the thunk + 1; 0: no thunk was left */
};
static struct address_slot address_slots[ADDRESS_SLOTS];
static unsigned address_count;

/* The exported functions of the hooks; NULL for a row without such a function. The table is filled
 * when the first library is met. */
static void *own_functions[HOOK_COUNT];

struct resolve_thunk resolve_thunks[THUNK_LIMIT];
static unsigned thunk_count;

/* Protects all writes to the variables above, which happen when a library is met. Readers take no
 * lock. */
static pthread_mutex_t meet_lock = PTHREAD_MUTEX_INITIALIZER;

/* The row of the thunk that this thread has just called, until the thunk's hook takes it. */
_Thread_local const struct resolve_thunk *resolve_handed GMT_TLS_INITIAL_EXEC;

_Static_assert(IMAGE_LIMIT < 1 << 4 && HOOK_COUNT < 1 << 12, "a caller's entry is one word");

static size_t hash(uint64_t value, unsigned bits)
{
    return (size_t)((value * 0x9e3779b97f4a7c15u) >> (64 - bits));
}

/* --- address -> hook --- */

/* Returns the slot of this address, or the free slot where the address belongs. */
static struct address_slot *address_slot(const void *real)
{
    size_t at = hash((uint64_t)(uintptr_t)real, 12);
    for (;; at = (at + 1) % ADDRESS_SLOTS) {
        void *taken = atomic_load_explicit(&address_slots[at].real, memory_order_acquire);
        if (!taken || taken == real)
            return &address_slots[at];
    }
}

_Static_assert(ADDRESS_SLOTS == 1 << 12 && CALLER_SLOTS == 1 << 12, "the hash gives 12 bits");

/* If two hooked names have the same address, the row that comes first is used for both names. */
static void add_address(void *real, enum hook hook)
{
    struct address_slot *slot = address_slot(real);
    if (atomic_load_explicit(&slot->real, memory_order_relaxed) ||
        address_count >= ADDRESS_SLOTS / 2)
        return;
    slot->hook = hook;
    if (thunk_count < THUNK_LIMIT) {
        resolve_thunks[thunk_count] = (struct resolve_thunk){own_functions[hook], real};
        slot->thunk = ++thunk_count;
    }
    address_count++;
    atomic_store_explicit(&slot->real, real, memory_order_release);
}

/* --- meeting libraries --- */

static const struct image *image_of(const void *address)
{
    const unsigned count = atomic_load_explicit(&image_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if ((uintptr_t)address >= images[i].start && (uintptr_t)address < images[i].end)
            return &images[i];
    return NULL;
}

static void find_own_functions(void)
{
    const struct link_map *own = image_list_own();
    for (int hook = 0; hook < HOOK_COUNT; hook++)
        own_functions[hook] = elf_image_symbol(own, hook_rows[hook].name);
}

/* The caller holds meet_lock. Objects that define no hooked function are not cached. */
static void add_image(const struct image_span *span)
{
    const unsigned count = atomic_load_explicit(&image_count, memory_order_relaxed);
    struct image *image = &images[count];
    bool any = false;
    if (count == IMAGE_LIMIT || image_of(span->image->l_ld))
        return;
    if (count == 0)
        find_own_functions();
    for (int hook = 0; hook < HOOK_COUNT; hook++) {
        image->functions[hook] =
            own_functions[hook] ? elf_image_symbol(span->image, hook_rows[hook].name) : NULL;
        any = any || image->functions[hook];
        if (image->functions[hook])
            add_address(image->functions[hook], (enum hook)hook);
    }
    image->start = span->start;
    image->end = span->end;
    if (any)
        atomic_store_explicit(&image_count, count + 1, memory_order_release);
}

/* Returns the library that contains this function. NULL: the library defines no hooked functions,
 * or there are too many libraries. *own: the function is in this library. */
static const struct image *meet(const void *function, bool *own)
{
    struct image_span span;
    const struct image *image = image_of(function);
    *own = false;
    if (image || !image_list_of(function, &span))
        return image;
    if ((*own = span.image == image_list_own()))
        return NULL;
    pthread_mutex_lock(&meet_lock);
    add_image(&span);
    pthread_mutex_unlock(&meet_lock);
    return image_of(function);
}

bool resolve_has_met(void)
{
    return atomic_load_explicit(&image_count, memory_order_acquire) != 0;
}

bool resolve_remembers(uintptr_t start, uintptr_t end)
{
    const unsigned count = atomic_load_explicit(&image_count, memory_order_acquire);
    for (unsigned i = 0; i < count; i++)
        if (images[i].start < end && start < images[i].end)
            return true;
    return false;
}

void resolve_before_fork(void)
{
    pthread_mutex_lock(&meet_lock);
    image_list_before_fork();
}

void resolve_after_fork(bool in_child)
{
    image_list_after_fork(in_child);
    if (in_child)
        pthread_mutex_init(&meet_lock, NULL);
    else
        pthread_mutex_unlock(&meet_lock);
}

/* --- hook -> real function --- */

static GMT_NOINLINE void *search_for_caller(enum hook hook, const void *caller,
                                            _Atomic uint64_t *entry, uint64_t key)
{
    bool own;
    void *real = scope_function(hook_rows[hook].name, caller);
    const struct image *image = real ? meet(real, &own) : NULL;
    known_code_note((uintptr_t)caller);
    if (image && image->functions[hook] == real)
        atomic_store_explicit(entry, key | (uint64_t)(image - images + 1), memory_order_release);
    return real;
}

/* An entry is one word: hook << 52 | caller << 4 | image + 1. If two threads store an entry at
 * once, one entry is lost and must be searched again. Stores use release and loads use acquire, so
 * a reader that sees an entry also sees the complete image. */
static void *function_for_caller(enum hook hook, const void *caller)
{
    static _Atomic uint64_t cache[CALLER_SLOTS];
    const uint64_t key = (uint64_t)hook << 52 | ((uint64_t)(uintptr_t)caller << 16) >> 12;
    _Atomic uint64_t *entry = &cache[hash(key >> 4, 12)];
    const uint64_t found = atomic_load_explicit(entry, memory_order_acquire);
    if (GMT_LIKELY(found && (found & ~UINT64_C(15)) == key))
        return images[(found & 15) - 1].functions[hook];
    return search_for_caller(hook, caller, entry, key);
}

void *resolve_hook(enum hook hook, const void *caller)
{
    const struct resolve_thunk *handed = resolve_handed;
    /* If the row belongs to another hook, a signal handler interrupted this thread between a thunk
     * and its hook, and the handler made this call. Leave resolve_handed to the interrupted
     * hook. */
    if (GMT_LIKELY(!handed) || handed->hook != own_functions[hook])
        return function_for_caller(hook, caller);
    resolve_handed = NULL;
    return handed->real;
}

/* --- real function -> function that is handed out --- */

/* Does the hook's name lead to this function for every caller? All objects are searched only for
 * functions of the runtime, because several runtimes in one process are common. Several drivers in
 * one process are not common, and a runtime looks up hundreds of driver functions when it
 * starts. */
static bool means_it_for_all(enum hook hook, const void *real)
{
    return function_for_caller(hook, NULL) == real &&
           (hook_rows[hook].api != API_runtime || scope_is_only(hook_rows[hook].name, real));
}

void *resolve_hand_out(void *real, const void *caller, bool *hooked)
{
    bool own;
    meet(real, &own);
    const struct address_slot *slot = address_slot(real);
    *hooked = true;
    if (!atomic_load_explicit(&slot->real, memory_order_acquire))
        *hooked = own;
    else if (function_for_caller(slot->hook, caller) == real && means_it_for_all(slot->hook, real))
        return own_functions[slot->hook];
    else if (slot->thunk)
        return thunk_address(slot->thunk - 1);
    else
        *hooked = false;
    return real;
}
