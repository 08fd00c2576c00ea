/* SPDX-License-Identifier: MIT */
/* The set that keeps equal texts once, and the arena that holds the texts. */
#include <stdio.h>
#include <string.h>

#include "analyzer/util/arena.h"
#include "analyzer/util/text_set.h"
#include "tests/unit/unit_test.h"

enum { TEXTS = 10000 };

static uint32_t add(struct text_set *set, int i)
{
    char text[32];
    snprintf(text, sizeof text, "at::native::%d", i);
    return text_set_add(set, text, NULL);
}

TEST(equal_texts_have_one_number_and_different_ones_two)
{
    struct text_set set = {0};
    for (int turn = 0; turn < 2; turn++)
        for (int i = 0; i < TEXTS; i++)
            assert_int_equal(add(&set, i), i);
    assert_int_equal(set.count, TEXTS);
    assert_string_equal(set.texts[42], "at::native::42");
    assert_int_equal(text_set_add(&set, "", NULL), TEXTS);
    text_set_release(&set);
}

TEST(what_is_given_back_is_taken_again)
{
    struct arena arena = {0};
    char *first = arena_take(&arena, 3), *second = arena_take(&arena, 100);
    assert_int_equal((uintptr_t)second % 8, 0);
    arena_take(&arena, 5000);
    arena_give_back(&arena, second);
    assert_ptr_equal(arena_take(&arena, 1), second);
    assert_non_null(memset(arena_take(&arena, 1 << 20), 1, 1 << 20));
    arena_give_back(&arena, first); /* not in the current chunk, so its memory stays taken */
    assert_ptr_not_equal(arena_take(&arena, 8), first);
    assert_null(arena_take(&arena, SIZE_MAX - 20));
    arena_release(&arena);
}

UNIT_MAIN(NULL, NULL)
