/* SPDX-License-Identifier: MIT */
/* Holes between live stretches, and which of them are stranded. */
#include "analyzer/analysis/fragmentation/stretches.h"
#include "tests/unit/unit_test.h"

#define MOST 3 /* stretches of a row */

/* A stretch that ends at 0 ends the list. */
static const struct {
    const char *name;
    struct stretch held[MOST + 1], live[MOST + 1];
    struct holes holes;
} rows[] = {
    {"nothing is held", {{0}}, {{0}}, {0, 0, 0}},
    {"all is free", {{10, 30, 0}}, {{0}}, {20, 20, 0}},
    {"all is live", {{10, 30, 0}}, {{10, 30, 0}}, {0, 0, 0}},
    {"a hole at the start", {{10, 30, 0}}, {{14, 30, 0}}, {4, 4, 4}},
    {"a hole at the end", {{10, 30, 0}}, {{10, 25, 0}}, {5, 5, 5}},
    {"holes at all places", {{10, 30, 0}}, {{12, 15, 0}, {22, 24, 0}}, {15, 7, 15}},
    {"one stretch is free", {{10, 20, 0}, {40, 70, 0}}, {{12, 20, 0}}, {32, 30, 2}},
    {"a neighbour is full", {{10, 20, 0}, {20, 50, 0}}, {{10, 20, 0}}, {30, 30, 0}},
    {"a later neighbour is full", {{10, 20, 0}, {20, 50, 0}}, {{20, 50, 0}}, {10, 10, 0}},
    {"live memory in two stretches", {{10, 20, 0}, {20, 50, 0}}, {{15, 30, 0}}, {25, 20, 25}},
    {"live memory that overlaps", {{10, 50, 0}}, {{12, 30, 0}, {20, 25, 0}}, {22, 20, 22}},
    {"live memory outside", {{10, 20, 0}}, {{0, 10, 0}, {20, 30, 0}}, {10, 10, 0}},
};

static struct stretches list_of(const struct stretch *items)
{
    struct stretches list = {.items = (struct stretch *)items};
    while (list.count < MOST && items[list.count].end)
        list.count++;
    return list;
}

TEST(only_a_hole_beside_live_memory_is_stranded)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct stretches held = list_of(rows[i].held), live = list_of(rows[i].live);
        const struct holes holes = holes_between(&held, &live), *right = &rows[i].holes;
        if (holes.total_bytes != right->total_bytes ||
            holes.largest_bytes != right->largest_bytes ||
            holes.stranded_bytes != right->stranded_bytes)
            fail_msg("%s: %d, %d, %d", rows[i].name, (int)holes.total_bytes,
                     (int)holes.largest_bytes, (int)holes.stranded_bytes);
    }
}

UNIT_MAIN(NULL, NULL)
