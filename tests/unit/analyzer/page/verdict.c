/* SPDX-License-Identifier: MIT */
/* The verdict: which sentences it has, how clauses join, and how names are shortened. */
#include "analyzer/page/verdict/verdict.h"
#include "tests/unit/unit_test.h"

/* Sentences are said in this order: role, text. */
struct said {
    enum verdict_role role;
    const char *text;
};

static struct verdict say_all(const struct said *said, size_t count)
{
    struct verdict verdict = {0};
    for (size_t i = 0; i < count; i++)
        verdict_say(&verdict, said[i].role, "%s", said[i].text);
    return verdict;
}

TEST(the_verdict_has_the_first_sentence_of_each_role_until_the_next_finding)
{
    static const struct said said[] = {
        {VERDICT_what, "Leak."}, {VERDICT_do, "Free it."},    {VERDICT_why, "Kept."},
        {VERDICT_why, "Full."},  {VERDICT_what, "Reserved."}, {VERDICT_who, "By b.py:2."},
    };
    static const size_t expected[VERDICT_ROLES] = {0, 2, SIZE_MAX, 1};
    struct verdict verdict = say_all(said, sizeof said / sizeof *said);
    for (int role = 0; role < VERDICT_ROLES; role++)
        assert_int_equal(verdict_find(&verdict, (enum verdict_role)role), expected[role]);
    verdict_release(&verdict);
}

TEST(a_clause_joins_the_sentence_of_its_finding_if_that_has_no_semicolon)
{
    static const struct {
        struct said said[3];
        size_t count;
        const char *last; /* the last sentence after "the card is full" was joined as a "why" */
    } cases[] = {
        {{{VERDICT_what, "Leak."}, {VERDICT_why, "Kept."}}, 2, "Kept; the card is full."},
        {{{VERDICT_what, "Leak."}, {VERDICT_why, "Kept; in a list."}}, 2, "The card is full."},
        {{{VERDICT_what, "Leak."}, {VERDICT_who, "By a.py:1."}}, 2, "The card is full."},
        {{{VERDICT_what, "Leak."}, {VERDICT_why, "Kept."}, {VERDICT_what, "Peak."}},
         3,
         "The card is full."},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct verdict verdict = say_all(cases[i].said, cases[i].count);
        verdict_join(&verdict, VERDICT_why, "the card is full");
        assert_string_equal(verdict.texts.items[verdict.texts.count - 1], cases[i].last);
        verdict_release(&verdict);
    }
}

TEST(a_name_loses_its_end_and_keeps_its_line)
{
    static const struct {
        const char *name;
        size_t characters;
        const char *expected;
    } cases[] = {
        {"train.py:88 forward", 19, "train.py:88 forward"},
        {"train.py:88 forward", 16, "train.py:88 for…"},
        {"train.py:88 forward", 3, "train.py:88"},
        {"MmBackward0 of train.py:88 forward", 29, "MmBackward0 of train.py:88 f…"},
        {"MmBackward0 of train.py:88 forward", 5, "MmBackward0 of train.py:88"},
        {"a function without a line", 10, "a functio…"},
        {"päth.py:3 naïve", 15, "päth.py:3 naïve"},
        {"päth.py:3 naïveté", 14, "päth.py:3 na…"}, /* half of a character is left out */
    };
    char out[VERDICT_NAME_BYTES];

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_string_equal(verdict_fit(out, cases[i].name, cases[i].characters),
                            cases[i].expected);
}

UNIT_MAIN(NULL, NULL)
