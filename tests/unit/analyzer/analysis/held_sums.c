/* SPDX-License-Identifier: MIT */
/* Joins rows of walks with the blocks that were live, and sums them by their chain of names. */
#include "tests/unit/analyzer/replay/replayed.h"

#include "analyzer/analysis/holders/held_sums.h"

enum { LIST = 1, MODEL, GRAPH_CHAIN }; /* chains */
enum { STACK_OF_LIST = 5, STACK_OF_MODEL };

static struct trace_walk walks[] = {
    {.walk_id = 1, .event_number = 4, .reason = (char *)"growth"},
    {.walk_id = 2, .event_number = 9, .reason = (char *)"oom"},
};

/* The blocks are 0x1000 to 0x1fff, 0x2000 to 0x2fff, and so on. */
static struct trace_holder rows[] = {
    {1, LIST, 0, 0x1000, 900, 3, (char *)"list"},
    {1, LIST, 0, 0x2100, 900, 3, (char *)"list"},
    {1, MODEL, 0, 0x3000, 4000, 0, (char *)"module"},
    {1, GRAPH_CHAIN, 0, 0x3800, 10, 0, (char *)"graph"}, /* a smaller storage in the same block */
    {1, LIST, 0, 0x9000, 900, 3, (char *)"list"},        /* no block is live there */
    {2, LIST, 0, 0x1000, 900, 5, (char *)"list"},
    {2, MODEL, 0, 0x3000, 4000, 0, (char *)"module"},
};

static const struct trace trace = {.walks = walks,
                                   .walk_count = sizeof walks / sizeof *walks,
                                   .holders = rows,
                                   .holder_count = sizeof rows / sizeof *rows};

static void add_block(struct made_events *made, uint64_t address, uint32_t stack_id)
{
    made_add(made, (struct event){.kind = EVENT_ALLOC,
                                  .memory = MEMORY_LINEAR,
                                  .address = address,
                                  .size_bytes = 0x1000,
                                  .stack_id = stack_id});
}

static void drop_block(struct made_events *made, uint64_t address)
{
    made_add(made, (struct event){.kind = EVENT_FREE, .memory = MEMORY_LINEAR, .address = address});
}

/* Events 1 to 4 make blocks. Block 0x1000 is then freed and made again, and a block is made that no
 * walk names. Event 9 is missing in the replay, as a mark of another tool would be. */
static struct history replay(struct holders *holders)
{
    const struct observer observer = holders_observer(holders);
    struct made_events made = {0};
    add_block(&made, 0x1000, STACK_OF_LIST);
    add_block(&made, 0x2000, STACK_OF_LIST);
    add_block(&made, 0x3000, STACK_OF_MODEL);
    add_block(&made, 0x4000, STACK_OF_MODEL);
    drop_block(&made, 0x1000);
    add_block(&made, 0x1000, STACK_OF_LIST);
    add_block(&made, 0x5000, STACK_OF_MODEL);
    made_add(&made, (struct event){.kind = EVENT_MARK});
    return made_replay(&made, &(struct replay_plan){.observers = {&observer, 1}});
}

static void expect_sum(const struct held_sum *sum, uint32_t chain_id, uint64_t bytes,
                       uint64_t count, uint64_t items_count)
{
    assert_int_equal(sum->holder ? sum->holder->chain_id : 0, chain_id);
    assert_int_equal(sum->bytes, bytes);
    assert_int_equal(sum->count, count);
    assert_int_equal(sum->items_count, items_count);
}

static struct held_sums find(const struct holders *holders, const struct history *history,
                             struct held_ask ask)
{
    struct held_sums sums;
    struct err err = {0};
    ask.account = history->devices[0].leading;
    assert_int_equal(held_sums_find(&sums, holders, history, &ask, &err), 0);
    return sums;
}

static void blocks_of_one_chain_are_one_sum_and_others_stand_apart(void **state)
{
    struct holders holders = {.trace = &trace};
    struct history history = replay(&holders);
    (void)state;
    assert_int_equal(holders.count, 2);
    struct held_sums sums =
        find(&holders, &history, (struct held_ask){.index = 5, .is_of_walk = true});
    assert_ptr_equal(sums.at->walk, &walks[0]);
    assert_int_equal(sums.count, 3);
    expect_sum(&sums.items[0], LIST, 0x2000, 2, 3);
    expect_sum(&sums.items[1], MODEL, 0x1000, 1, 0); /* its largest storage is named */
    expect_sum(&sums.items[2], 0, 0x1000, 1, 0);     /* held by no object of Python's */
    assert_null(held_sums_most(&sums));              /* exactly half is not most */
    held_sums_release(&sums);
    holders_release(&holders);
    history_release(&history);
}

static void a_block_that_was_freed_since_the_walk_is_not_held(void **state)
{
    struct holders holders = {.trace = &trace};
    struct history history = replay(&holders);
    (void)state;
    /* at the last event, seen with the eyes of the first walk: 0x1000 is another block */
    holders.count = 1;
    struct held_sums sums =
        find(&holders, &history, (struct held_ask){.index = history.last.index});
    assert_int_equal(sums.count, 3);
    assert_int_equal(sums.bytes, 0x3000);
    for (size_t i = 0; i < sums.count; i++)
        assert_int_equal(sums.items[i].bytes, 0x1000);
    held_sums_release(&sums);
    holders.count = 2;
    holders_release(&holders);
    history_release(&history);
}

static void each_call_stack_has_its_own_sums(void **state)
{
    struct holders holders = {.trace = &trace};
    struct history history = replay(&holders);
    (void)state;
    struct held_sums sums = find(
        &holders, &history, (struct held_ask){.index = 3, .by_stack = true, .is_of_walk = true});
    expect_sum(held_sums_of_stack(&sums, STACK_OF_LIST), LIST, 0x2000, 2, 3);
    assert_null(held_sums_of_stack(&sums, STACK_OF_MODEL)); /* half of it is held by nothing */
    assert_null(held_sums_of_stack(&sums, 99));
    held_sums_release(&sums);
    holders_release(&holders);
    history_release(&history);
}

static void a_moment_has_the_nearest_walk_and_a_failure_the_walk_that_follows(void **state)
{
    struct holders holders = {.trace = &trace};
    struct history history = replay(&holders);
    (void)state; /* the walks saw events 3 and 7 */
    assert_null(holders_last_walk(&holders, 2));
    assert_ptr_equal(holders_last_walk(&holders, 6)->walk, &walks[0]);
    assert_ptr_equal(holders_last_walk(&holders, 7)->walk, &walks[1]);
    assert_ptr_equal(holders_nearest_walk(&holders, 0, false)->walk, &walks[0]);
    assert_ptr_equal(holders_nearest_walk(&holders, 5, false)->walk, &walks[0]);
    assert_ptr_equal(holders_nearest_walk(&holders, 6, false)->walk, &walks[1]);
    assert_ptr_equal(holders_nearest_walk(&holders, 4, true)->walk, &walks[1]);
    assert_ptr_equal(holders_nearest_walk(&holders, 2, true)->walk, &walks[0]);
    holders_release(&holders);
    history_release(&history);
}

/* Each row has up to four chains with their bytes, the largest first, and the variable that keeps
 * most. */
static const struct {
    const char *chains[4];
    uint64_t bytes[4];
    const char *variable;
    uint64_t variable_bytes;
} variables[] = {
    {{"main: kept[*]", "main: model.weight"}, {60, 40}, "main: kept[*]", 60},
    {{"main: kept[*]", "m.up.weight", "m.down.weight"}, {40, 30, 30}, "m", 60},
    {{"main: m.body[*].up.weight", "main: m.body[*].down.weight", "main: m.head"},
     {50, 45, 5},
     "main: m.body[*]",
     95},
    {{"main: m.body[*].up.weight", "main: m.body[*].down.weight", "main: m.head"},
     {50, 30, 20},
     "main: m",
     100},
    {{"main: m.big", "main: m.small"}, {95, 5}, "main: m.big", 95},
    {{"main: m.a", "main: model.b", "run: m.c"}, {40, 30, 30}, "main: m.a", 40},
    {{"main: loss -> graph", "main: loss", "main: x"}, {40, 30, 30}, "main: loss -> graph", 40},
    {{"main: m['a.b'].x", "main: m['a.b'].y"}, {50, 50}, "main: m['a.b']", 100},
};

static void the_variable_that_keeps_most_is_as_narrow_as_holds_nearly_all(void **state)
{
    (void)state;
    for (size_t row = 0; row < sizeof variables / sizeof *variables; row++) {
        char *strings[5] = {(char *)""};
        struct trace_holder holders[4];
        struct held_sum items[4];
        struct held_sums sums = {.items = items};
        for (; sums.count < 4 && variables[row].chains[sums.count]; sums.count++) {
            strings[sums.count + 1] = (char *)variables[row].chains[sums.count];
            holders[sums.count] = (struct trace_holder){.chain_id = (uint32_t)sums.count + 1};
            items[sums.count] = (struct held_sum){.holder = &holders[sums.count],
                                                  .bytes = variables[row].bytes[sums.count]};
        }
        const struct trace named = {.strings = strings, .string_limit = sums.count + 1};
        const struct held_sum found = held_sums_variable(&named, &sums);
        char chain[64];
        snprintf(chain, sizeof chain, "%s", strings[found.holder->chain_id]);
        if (found.chain_bytes)
            chain[found.chain_bytes] = 0;
        assert_string_equal(chain, variables[row].variable);
        assert_int_equal(found.bytes, variables[row].variable_bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_one_chain_are_one_sum_and_others_stand_apart),
        cmocka_unit_test(a_block_that_was_freed_since_the_walk_is_not_held),
        cmocka_unit_test(each_call_stack_has_its_own_sums),
        cmocka_unit_test(the_variable_that_keeps_most_is_as_narrow_as_holds_nearly_all),
        cmocka_unit_test(a_moment_has_the_nearest_walk_and_a_failure_the_walk_that_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
