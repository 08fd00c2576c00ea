/* SPDX-License-Identifier: MIT */
/*
 * Pages of known bytes. See contents.h.
 */
#include "contents.h"

#include <stdlib.h>
#include <string.h>

#include "tree.h"

#define PAGE_BYTES ((uint64_t)4096)

struct page {
    struct tree_node by_address;
    struct page *older, *newer; /* in the order of their first bytes */
    unsigned char bytes[PAGE_BYTES], states[PAGE_BYTES];
};

static struct tree pages;
static struct page *oldest, *newest;
static uint64_t page_count;

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
    free(page);
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

/* NULL: out of memory. */
static struct page *page_make(uint64_t address)
{
    if (page_count >= CONTENTS_BYTES_MAX / PAGE_BYTES)
        page_delete(oldest);
    struct page *page = calloc(1, sizeof *page);
    if (!page)
        return NULL;
    page->older = newest;
    *(newest ? &newest->newer : &oldest) = page;
    newest = page;
    page_count++;
    tree_insert(&pages, &page->by_address, (struct tree_key){address - address % PAGE_BYTES, 0});
    return page;
}

/* The bytes from here to the end of the page, at most this many. */
static uint64_t part_bytes(uint64_t address, uint64_t size_bytes)
{
    const uint64_t left_bytes = PAGE_BYTES - address % PAGE_BYTES;
    return size_bytes < left_bytes ? size_bytes : left_bytes;
}

/* --- ranges --- */

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

/* states: one for each byte; NULL: not wanted. */
static enum contents_state read_range(uint64_t address, uint64_t size_bytes, unsigned char *bytes,
                                      unsigned char *states)
{
    enum contents_state state = CONTENTS_KNOWN;
    while (size_bytes) {
        const struct page *page = page_find(address);
        const uint64_t part = part_bytes(address, size_bytes), at = address % PAGE_BYTES;
        const enum contents_state own = page ? lowest(page->states + at, part) : CONTENTS_UNKNOWN;
        if (page)
            memcpy(bytes, page->bytes + at, part);
        else
            memset(bytes, 0, part);
        if (states && page)
            memcpy(states, page->states + at, part);
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

enum contents_state contents_read(uint64_t address, uint64_t size_bytes, void *bytes)
{
    return read_range(address, size_bytes, bytes, NULL);
}

/* states: one for each byte; NULL: all have the same. */
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
                memcpy(page->states + at, states, part);
            else
                memset(page->states + at, (int)state, part);
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

/* Unknown bytes are 0, so that they read as such. */
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
            memset(page->states + first, CONTENTS_UNKNOWN, last - first);
        }
        page = page_from(start + PAGE_BYTES);
    }
}

void contents_forget_all(void)
{
    while (oldest)
        page_delete(oldest);
}
