/* SPDX-License-Identifier: MIT */
/*
 * Pages of known bytes. See contents.h.
 */
#include "contents.h"

#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define PAGE_BYTES ((uint64_t)4096)

/* The value of page->state if the bytes of the page differ in state. In most pages all bytes have
 * the same state, and the array of states is not set. */
#define STATE_OF_EACH 255

struct page {
    struct tree_node by_address;
    struct page *older, *newer; /* in the order of creation */
    unsigned char state;        /* of all bytes, or STATE_OF_EACH */
    unsigned char bytes[PAGE_BYTES], states[PAGE_BYTES];
};

static struct tree pages;
static struct page *oldest, *newest;
static uint64_t page_count;
/* Deleted pages, linked by `newer`, for reuse: tensors are allocated and freed often. */
#define SPARE_COUNT_MAX 512
static struct page *spare;
static unsigned spare_count;

bool contents_are_kept(void)
{
    static int kept = -1;
    if (kept < 0) {
        const char *setting = getenv("GPUMEMTRACE_VALUES");
        kept = !setting || strcmp(setting, "none") != 0;
    }
    return kept;
}

/* --- pages --- */

static void page_delete(struct page *page)
{
    *(page->older ? &page->older->newer : &oldest) = page->newer;
    *(page->newer ? &page->newer->older : &newest) = page->older;
    tree_remove(&pages, &page->by_address);
    page_count--;
    if (spare_count == SPARE_COUNT_MAX) {
        free(page);
        return;
    }
    page->newer = spare;
    spare = page;
    spare_count++;
}

/* The first page at or after this address; NULL: none. */
static struct page *page_from(uint64_t address)
{
    struct tree_node *node =
        page_count ? tree_at_least(&pages, (struct tree_key){address - address % PAGE_BYTES, 0})
                   : NULL;
    return node ? TREE_ENTRY(node, struct page, by_address) : NULL;
}

static struct page *page_find(uint64_t address)
{
    struct page *page = page_from(address);
    return page && page->by_address.key.first == address - address % PAGE_BYTES ? page : NULL;
}

static struct page *page_take(void)
{
    struct page *page = spare;
    if (!page)
        return malloc(sizeof *page);
    spare = page->newer;
    spare_count--;
    return page;
}

/* NULL: out of memory. */
static struct page *page_make(uint64_t address)
{
    if (page_count >= CONTENTS_BYTES_MAX / PAGE_BYTES)
        page_delete(oldest);
    struct page *page = page_take();
    if (!page)
        return NULL;
    memset(page->bytes, 0, PAGE_BYTES);
    page->state = CONTENTS_UNKNOWN;
    page->newer = NULL;
    page->older = newest;
    *(newest ? &newest->newer : &oldest) = page;
    newest = page;
    page_count++;
    tree_insert(&pages, &page->by_address, (struct tree_key){address - address % PAGE_BYTES, 0});
    return page;
}

static enum contents_state lowest(const unsigned char *states, uint64_t count)
{
    enum contents_state state = CONTENTS_KNOWN;
    for (uint64_t i = 0; i < count; i++)
        if (states[i] < state)
            state = states[i];
    return state;
}

static enum contents_state highest(const unsigned char *states, uint64_t count)
{
    enum contents_state state = CONTENTS_UNKNOWN;
    for (uint64_t i = 0; i < count; i++)
        if (states[i] > state)
            state = states[i];
    return state;
}

static enum contents_state page_lowest(const struct page *page, uint64_t at, uint64_t count)
{
    return page->state == STATE_OF_EACH ? lowest(page->states + at, count)
                                        : (enum contents_state)page->state;
}

static void page_states(const struct page *page, uint64_t at, uint64_t count, unsigned char *states)
{
    if (page->state == STATE_OF_EACH)
        memcpy(states, page->states + at, count);
    else
        memset(states, page->state, count);
}

/* Returns where the states of these bytes must be written. NULL: nothing must be written, because
 * the whole page has this state. */
static unsigned char *page_states_to_set(struct page *page, uint64_t at, uint64_t count,
                                         enum contents_state state)
{
    if (count == PAGE_BYTES)
        page->state = (unsigned char)state;
    if (page->state == state)
        return NULL;
    if (page->state != STATE_OF_EACH)
        memset(page->states, page->state, PAGE_BYTES);
    page->state = STATE_OF_EACH;
    return page->states + at;
}

static void page_set_state(struct page *page, uint64_t at, uint64_t count,
                           enum contents_state state)
{
    unsigned char *states = page_states_to_set(page, at, count, state);
    if (states)
        memset(states, (int)state, count);
}

static void page_set_states(struct page *page, uint64_t at, uint64_t count,
                            const unsigned char *states)
{
    const enum contents_state first = (enum contents_state)states[0];
    if (!memcmp(states, states + 1, count - 1)) {
        page_set_state(page, at, count, first);
        return;
    }
    if (page->state != STATE_OF_EACH)
        memset(page->states, page->state, PAGE_BYTES);
    page->state = STATE_OF_EACH;
    memcpy(page->states + at, states, count);
}

/* Returns the number of bytes from this address to the end of its page, but at most size_bytes. */
static uint64_t part_bytes(uint64_t address, uint64_t size_bytes)
{
    const uint64_t left_bytes = PAGE_BYTES - address % PAGE_BYTES;
    return size_bytes < left_bytes ? size_bytes : left_bytes;
}

/* --- ranges --- */

/* states: receives one state for each byte; NULL: the caller does not want the states. */
static enum contents_state read_range(uint64_t address, uint64_t size_bytes, unsigned char *bytes,
                                      unsigned char *states)
{
    enum contents_state state = CONTENTS_KNOWN;
    while (size_bytes) {
        const struct page *page = page_find(address);
        const uint64_t part = part_bytes(address, size_bytes), at = address % PAGE_BYTES;
        const enum contents_state own = page ? page_lowest(page, at, part) : CONTENTS_UNKNOWN;
        if (page)
            memcpy(bytes, page->bytes + at, part);
        else
            memset(bytes, 0, part);
        if (states && page)
            page_states(page, at, part, states);
        else if (states)
            memset(states, CONTENTS_UNKNOWN, part);
        if (own < state)
            state = own;
        address += part, bytes += part, size_bytes -= part;
        if (states)
            states += part;
    }
    return state;
}

enum contents_state contents_least(uint64_t address, uint64_t size_bytes)
{
    enum contents_state state = page_count ? CONTENTS_KNOWN : CONTENTS_UNKNOWN;
    while (size_bytes && state != CONTENTS_UNKNOWN) {
        const struct page *page = page_find(address);
        const uint64_t part = part_bytes(address, size_bytes);
        const enum contents_state own =
            page ? page_lowest(page, address % PAGE_BYTES, part) : CONTENTS_UNKNOWN;
        if (own < state)
            state = own;
        address += part, size_bytes -= part;
    }
    return state;
}

enum contents_state contents_read(uint64_t address, uint64_t size_bytes, void *bytes)
{
    return read_range(address, size_bytes, bytes, NULL);
}

/* states: one for each byte; NULL: all bytes get `state`. */
static void write_range(uint64_t address, uint64_t size_bytes, const unsigned char *bytes,
                        const unsigned char *states, enum contents_state state)
{
    while (contents_are_kept() && size_bytes) {
        struct page *page = page_find(address);
        const uint64_t part = part_bytes(address, size_bytes), at = address % PAGE_BYTES;
        if (!page)
            page = page_make(address);
        if (page) {
            memcpy(page->bytes + at, bytes, part);
            if (states)
                page_set_states(page, at, part, states);
            else
                page_set_state(page, at, part, state);
        }
        address += part, bytes += part, size_bytes -= part;
        if (states)
            states += part;
    }
}

void contents_write(uint64_t address, uint64_t size_bytes, const void *bytes,
                    enum contents_state state)
{
    write_range(address, size_bytes, bytes, NULL, state);
}

void contents_guess(uint64_t address, uint64_t size_bytes, void *bytes)
{
    unsigned char *guess = bytes, there[PAGE_BYTES], states[PAGE_BYTES];
    for (uint64_t part; size_bytes; address += part, guess += part, size_bytes -= part) {
        part = part_bytes(address, size_bytes);
        read_range(address, part, there, states);
        for (uint64_t i = 0; i < part; i++)
            if (states[i] == CONTENTS_UNKNOWN)
                states[i] = CONTENTS_GUESSED;
            else
                guess[i] = there[i];
        write_range(address, part, guess, states, CONTENTS_GUESSED);
    }
}

void contents_copy(uint64_t to, uint64_t from, uint64_t size_bytes)
{
    unsigned char *both =
        page_count && size_bytes <= CONTENTS_COPY_BYTES_MAX ? malloc(2 * size_bytes) : NULL;
    if (both && (read_range(from, size_bytes, both, both + size_bytes) != CONTENTS_UNKNOWN ||
                 highest(both + size_bytes, size_bytes) != CONTENTS_UNKNOWN))
        write_range(to, size_bytes, both, both + size_bytes, CONTENTS_UNKNOWN);
    else
        contents_forget(to, size_bytes);
    free(both);
}

/* Unknown bytes are set to 0, because they read as 0. */
void contents_forget(uint64_t address, uint64_t size_bytes)
{
    const uint64_t end = address + size_bytes;
    struct page *page = page_from(address);
    while (page && page->by_address.key.first < end) {
        const uint64_t start = page->by_address.key.first;
        const uint64_t first = start < address ? address - start : 0;
        const uint64_t last = end - start < PAGE_BYTES ? end - start : PAGE_BYTES;
        if (last - first == PAGE_BYTES) {
            page_delete(page);
        } else {
            memset(page->bytes + first, 0, last - first);
            page_set_state(page, first, last - first, CONTENTS_UNKNOWN);
        }
        page = page_from(start + PAGE_BYTES);
    }
}

void contents_forget_all(void)
{
    while (oldest)
        page_delete(oldest);
}
