/* SPDX-License-Identifier: MIT */
/* Tests that the memo finds a stack by the fingerprint of its words, and that stacks with
   different words have different fingerprints. */
#include "interpose/stack/take/stack_memo.h"
#include "tests/unit/unit_test.h"

enum { WORDS = 23 };

static struct fingerprint print_of(const uint64_t *words, unsigned count)
{
    struct fingerprint print = {{0}};
    fingerprint_add(&print, words, count);
    return print;
}

static void fill(uint64_t *words)
{
    for (unsigned i = 0; i < WORDS; i++)
        words[i] = 0x7f0000400000u + 16 * i;
}

static int same(const struct fingerprint *a, const struct fingerprint *b)
{
    return memcmp(a, b, sizeof *a) == 0;
}

TEST(a_change_of_any_bit_changes_the_fingerprint)
{
    uint64_t words[WORDS];
    fill(words);
    const struct fingerprint before = print_of(words, WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        for (unsigned bit = 0; bit < 64; bit++) {
            words[i] ^= (uint64_t)1 << bit;
            const struct fingerprint after = print_of(words, WORDS);
            words[i] ^= (uint64_t)1 << bit;
            assert_false(same(&before, &after));
        }
}

TEST(the_highest_bit_of_two_words_does_not_cancel)
{
    uint64_t words[WORDS];
    fill(words);
    const struct fingerprint before = print_of(words, WORDS);
    for (unsigned i = 0; i < WORDS; i++)
        for (unsigned j = i + 1; j < WORDS; j++) {
            words[i] ^= (uint64_t)1 << 63;
            words[j] ^= (uint64_t)1 << 63;
            const struct fingerprint after = print_of(words, WORDS);
            words[i] ^= (uint64_t)1 << 63;
            words[j] ^= (uint64_t)1 << 63;
            assert_false(same(&before, &after));
        }
}

static struct fingerprint begun(uint64_t number, uint64_t word)
{
    const uint64_t numbers[FINGERPRINT_LANES] = {1, number, 1, 0};
    const uint64_t words[] = {0x4000000000000001, 0x4000000000000000 | word, 0};
    struct fingerprint print = fingerprint_begin(numbers);
    fingerprint_add(&print, words, sizeof words / sizeof *words);
    return print;
}

/* Each lane of the fingerprint starts with a small number, the count of scans of the loaded
   objects. A word of the stack may also be small, for example the number of a frame. XOR alone
   would confuse different pairs of such numbers: 3 ^ 2 == 4 ^ 5. */
TEST(a_number_at_the_beginning_and_a_word_do_not_cancel)
{
    enum { MOST = 32 };
    for (unsigned i = 0; i < MOST * MOST; i++)
        for (unsigned j = 0; j < i; j++) {
            const struct fingerprint a = begun(i / MOST, i % MOST), b = begun(j / MOST, j % MOST);
            assert_false(same(&a, &b));
        }
}

TEST(order_and_count_are_part_of_it)
{
    uint64_t words[WORDS + 1] = {0};
    fill(words);
    const struct fingerprint before = print_of(words, WORDS);
    const struct fingerprint longer = print_of(words, WORDS + 1);
    assert_false(same(&before, &longer));
    words[0] += 64; /* swaps words 0 and 4, which belong to one lane */
    words[4] -= 64;
    const struct fingerprint swapped = print_of(words, WORDS);
    assert_int_equal(words[0], 0x7f0000400000u + 16 * 4);
    assert_false(same(&before, &swapped));
}

TEST(what_was_put_is_found_until_its_slot_is_taken)
{
    static struct stack_memo memo;
    uint64_t words[WORDS];
    fill(words);
    const struct fingerprint print = print_of(words, WORDS);
    assert_int_equal(stack_memo_find(&memo, &print), 0);
    stack_memo_put(&memo, &print, 7);
    assert_int_equal(stack_memo_find(&memo, &print), 7);
    for (uint32_t i = 1; i <= 16 * STACK_MEMO_SLOTS; i++) {
        words[3] = i;
        const struct fingerprint other = print_of(words, WORDS);
        assert_int_equal(stack_memo_find(&memo, &other), 0);
        stack_memo_put(&memo, &other, 7 + i);
        assert_int_equal(stack_memo_find(&memo, &other), 7 + i);
    }
    assert_int_equal(stack_memo_find(&memo, &print), 0);
}

UNIT_MAIN(NULL, NULL)
