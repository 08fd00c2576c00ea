/* SPDX-License-Identifier: MIT */
/*
 * See code_ranges.h. Finds a function's cold part by the jumps to that part. A conditional jump
 * stays inside its function, so a conditional jump that leaves the main part leads to the cold
 * part. The unwinders' search table (.eh_frame_hdr) gives the bounds of the cold part.
 */
#include "code_ranges.h"

#include <link.h>
#include <stddef.h>
#include <string.h>

#include "interpose/image/elf_image.h"
#include "gpumemtrace/compiler.h"
#include "unwind_table.h"

/* --- jumps --- */

#if defined(__x86_64__)
#define JUMP_STEP 1
#define JUMP_BYTES 6
/* Is there a conditional jump at `at`, if an instruction begins there? It has the bytes 0F 80 … 0F
 * 8F and a distance of 32 bits. */
static bool jump_target(const uint8_t *at, uintptr_t *target)
{
    int32_t distance;
    if (at[0] != 0x0f || (at[1] & 0xf0) != 0x80)
        return false;
    memcpy(&distance, at + 2, sizeof distance);
    *target = (uintptr_t)at + JUMP_BYTES + (uintptr_t)(intptr_t)distance;
    return true;
}
#elif defined(__aarch64__)
#define JUMP_STEP 4
#define JUMP_BYTES 4
/* B.cond, CBZ and CBNZ hold a distance of 19 bits, and B holds a distance of 26 bits. Distances are
 * in words. */
static bool jump_target(const uint8_t *at, uintptr_t *target)
{
    uint32_t word;
    memcpy(&word, at, sizeof word);
    const bool conditional = (word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000;
    const bool plain = (word & 0xfc000000) == 0x14000000;
    const int32_t words = conditional ? (int32_t)(word << 8) >> 13 : (int32_t)(word << 6) >> 6;
    *target = (uintptr_t)at + (uintptr_t)((intptr_t)words * 4);
    return conditional || plain;
}
#else
#define JUMP_STEP 1
#define JUMP_BYTES 1
static bool jump_target(const uint8_t *at, uintptr_t *target)
{
    (void)at, (void)target;
    return false;
}
#endif

struct search {
    const struct unwind_table *table;
    uintptr_t start, end;
    uint32_t row; /* the row that most jumps lead to, by majority vote */
    unsigned votes, hits, all;
};

static void vote(struct search *search, uint32_t row, bool again)
{
    if (again) {
        search->all++;
        search->hits += row == search->row;
    } else if (search->votes == 0) {
        search->row = row;
        search->votes = 1;
    } else {
        search->votes += row == search->row ? 1 : -1u;
    }
}

static void follow_jumps(struct search *search, bool again)
{
    for (uintptr_t at = search->start; at + JUMP_BYTES <= search->end; at += JUMP_STEP) {
        uintptr_t target;
        uint32_t row;
        if (jump_target((const uint8_t *)at, &target) &&
            (target < search->start || target >= search->end) &&
            unwind_table_find(search->table, target, &row) && row + 1 < search->table->count)
            vote(search, row, again);
    }
}

#define HITS_MIN 8 /* a cold part with fewer jumps is too small to call any function */

static void add(struct code_ranges *ranges, uintptr_t start, uintptr_t end)
{
    if (ranges->count == CODE_RANGES_MAX)
        return;
    ranges->ranges[ranges->count].start = start;
    ranges->ranges[ranges->count++].bytes = end - start;
}

static void add_cold_part(struct code_ranges *ranges, const struct dl_phdr_info *info,
                          uintptr_t start, uintptr_t end)
{
    struct unwind_table table;
    struct search search = {.table = &table, .start = start, .end = end};
    if (!unwind_table_read(info, &table))
        return;
    follow_jumps(&search, false);
    follow_jumps(&search, true);
    if (search.hits >= HITS_MIN && search.hits > search.all / 2)
        add(ranges, unwind_table_start(&table, search.row),
            unwind_table_start(&table, search.row + 1));
}

bool code_ranges_add(struct code_ranges *ranges, const struct dl_phdr_info *info, const char *name)
{
    struct link_map image;
    uintptr_t start, end;
    if (!elf_image_from(info, &image) || !elf_image_extent(&image, name, &start, &end))
        return false;
    add(ranges, start, end);
    add_cold_part(ranges, info, start, end);
    return true;
}
