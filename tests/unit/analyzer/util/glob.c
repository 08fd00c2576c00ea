/* SPDX-License-Identifier: MIT */
/* glob_match gives the same answers as fnmatch. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/glob.h"
#include "tests/unit/unit_test.h"

TEST(stars_and_sets_match_as_their_names_say)
{
    assert_true(glob_match("*/torch/nn/*:*.forward", "/x/torch/nn/linear.py:Linear.forward"));
    assert_false(glob_match("*/torch/nn/*:*.forward", "/x/torch/nn/linear.py:Linear.forward2"));
    assert_true(glob_match("lib[atu]*san.so*", "libasan.so.8"));
    assert_true(glob_match("lib[atu]*san.so*", "libubsan.so"));
    assert_false(glob_match("lib[atu]*san.so*", "libmsan.so"));
    assert_true(glob_match("[[]vdso]", "[vdso]"));
    assert_true(glob_match("*/a?/c?.py", "/tmp/ab/c1.py"));
    assert_false(glob_match("*/a?/c?.py", "/tmp/abc/c1.py"));
    assert_true(glob_match("*", ""));
    assert_true(glob_match("", ""));
    assert_false(glob_match("a*a", "a"));
}

static void random_text(char *text, const char *letters, int most)
{
    const int length = rand() % (most + 1);
    for (int i = 0; i < length; i++)
        text[i] = letters[(size_t)rand() % strlen(letters)];
    text[length] = '\0';
}

TEST(it_agrees_with_fnmatch)
{
    int matches = 0;
    srand(1);
    for (int i = 0; i < 200000; i++) {
        char pattern[16], text[16];
        random_text(pattern, i % 2 ? "ab*?" : "ab**.", 6);
        random_text(text, "ab.", 8);
        if (i % 3 == 0)
            strcat(pattern, i % 2 ? "[ab]*" : "*[.b]");
        const bool expected = fnmatch(pattern, text, 0) == 0;
        if (glob_match(pattern, text) != expected)
            fail_msg("'%s' and '%s'", pattern, text);
        matches += expected;
    }
    assert_in_range(matches, 20000, 180000);
}

UNIT_MAIN(NULL, NULL)
