/* SPDX-License-Identifier: MIT */
#include "analyzer/util/array.h"

#include <string.h>

#include "tests/unit/unit_test.h"

struct item {
    unsigned age, bytes;
    const char *name;
};

static int computed_count;

static int64_t negated(const struct item *item)
{
    computed_count++;
    return -(int64_t)item->bytes;
}

ORDER_BY(by_age, struct item, RISING(age), FALLING(bytes), strcmp(a->name, b->name));
ORDER_BY(by_negated, struct item, RISING(age), RISING_IN(negated));
ORDER_POINTERS_BY(pointers_by_bytes, struct item, FALLING(bytes));

TEST(the_first_key_that_differs_decides)
{
    struct item items[] = {{2, 1, "d"}, {1, 5, "c"}, {1, 7, "a"}, {1, 5, "b"}};
    SORT(items, 4, by_age);
    for (int i = 0; i < 4; i++)
        assert_int_equal(items[i].name[0], "abcd"[i]);
}

TEST(a_later_key_is_computed_only_if_the_earlier_ones_are_equal)
{
    const struct item items[] = {{1, 5, "a"}, {2, 9, "b"}, {2, 4, "c"}};
    computed_count = 0;
    assert_int_equal(by_negated(&items[0], &items[1]), -1);
    assert_int_equal(computed_count, 0);
    assert_int_equal(by_negated(&items[1], &items[2]), -1);
    assert_true(computed_count > 0);
}

TEST(pointers_are_sorted_by_their_items_and_an_empty_array_may_be_null)
{
    const struct item low = {0, 1, ""}, high = {0, 2, ""};
    const struct item *items[] = {&low, &high};
    SORT(items, 2, pointers_by_bytes);
    assert_true(items[0] == &high && items[1] == &low);
    SORT((struct item *)NULL, 0, by_age);
}

UNIT_MAIN(NULL, NULL)
