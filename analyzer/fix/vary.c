/* SPDX-License-Identifier: MIT */
/* Finds a number that a program takes; see vary.h. */
#include "vary.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/util/nearest.h"
#include "common/numbers.h"

enum { KNOWN_MAX = 256 };

/* A name and its value, as places in argv. */
struct word {
    const char *name;
    size_t length;
    int argument; /* the argument that holds the value */
    size_t before;
};

/* Reads argv[i]. Returns false if it is not a name with a value. */
static bool read_word(struct word *word, char **argv, int argc, int i)
{
    const char *text = argv[i], *name = text + strspn(text, text[0] == '+' ? "+" : "-");
    const char *equals = strchr(name, '=');
    const bool is_option = text[0] == '-' && name != text;
    *word = (struct word){.name = name, .length = strcspn(name, "="), .argument = i};
    if (!*name || *name == '=' || isspace((unsigned char)*name))
        return false;
    if (equals) {
        word->before = (size_t)(equals + 1 - text);
        return true;
    }
    if (is_option && name == text + 1 && isalpha((unsigned char)name[0]) &&
        isdigit((unsigned char)name[1])) {
        word->length = 1;
        word->before = 2;
        return true;
    }
    word->argument = i + 1;
    return is_option && i + 1 < argc && argv[i + 1][0] != '-';
}

static bool are_alike(const char *a, const char *b, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if ((a[i] == '-' ? '_' : a[i]) != (b[i] == '-' ? '_' : b[i]))
            return false;
    return true;
}

/* True if the word has the name. For example, "train.batch_size" also has the name "batch-size". */
static bool is_called(const struct word *word, const char *name)
{
    const size_t length = strlen(name);
    const char *end = word->name + word->length - length;
    return length && length <= word->length && are_alike(end, name, length) &&
           (length == word->length || end[-1] == '.');
}

static bool is_same_name(const struct word *a, const struct word *b)
{
    return a->length == b->length && are_alike(a->name, b->name, a->length);
}

static int refuse_two(const char *name, const struct word *a, const struct word *b, struct err *err)
{
    return err_set(err, ERR_USAGE,
                   "option '--vary': '%.100s' is both '%.*s' and '%.*s'; name one of them", name,
                   (int)(a->length < 100 ? a->length : 100), a->name,
                   (int)(b->length < 100 ? b->length : 100), b->name);
}

/* The names that could be given a value. */
struct known {
    char copies[KNOWN_MAX][NEAREST_NAME_MAX];
    const char *names[KNOWN_MAX];
    size_t count;
};

static void known_add(struct known *known, const char *name, size_t length)
{
    if (known->count == KNOWN_MAX || length >= NEAREST_NAME_MAX)
        return;
    memcpy(known->copies[known->count], name, length);
    known->copies[known->count][length] = '\0';
    known->names[known->count] = known->copies[known->count];
    known->count++;
}

/*
 * Returns the hint for a name that is not found. with_variables: the name may also be meant for a
 * variable of the environment.
 */
static const char *hint_of(char hint[NEAREST_HINT_BYTES], const char *name, char **argv, int argc,
                           bool with_variables)
{
    struct known known = {.count = 0};
    struct word word;
    for (int i = 1; i < argc; i++)
        if (read_word(&word, argv, argc, i))
            known_add(&known, word.name, word.length);
    for (char **variable = environ; *variable && with_variables; variable++)
        known_add(&known, *variable, strcspn(*variable, "="));
    return nearest_hint(hint, name, known.names, known.count);
}

static int read_value(struct vary *vary, const char *text, struct err *err)
{
    struct err reason = {0};
    if (!number_parse(text, 1, LONG_MAX, &vary->value, &reason))
        return 0;
    return err_set(err, ERR_USAGE,
                   "option '--vary': '%.100s' is '%.100s', not a whole number from 1 on",
                   vary->name, text);
}

static int take_name(struct vary *vary, const char *name, size_t length, struct err *err)
{
    const size_t skipped = strspn(name, "-+");
    *vary = (struct vary){0};
    if (skipped < length && length - skipped < sizeof vary->name) {
        memcpy(vary->name, name + skipped, length - skipped);
        return 0;
    }
    return err_set(err, ERR_USAGE,
                   "option '--vary': '%.100s' must begin with a name of at most %d bytes", name,
                   VARY_NAME_BYTES - 1);
}

/* Finds the name in argv. vary->argument stays 0 if the command line has no such name. */
static int find_argument(struct vary *vary, char **argv, int argc, struct err *err)
{
    struct word found = {0}, word;
    for (int i = 1; i < argc; i++) {
        if (!read_word(&word, argv, argc, i) || !is_called(&word, vary->name))
            continue;
        if (!found.argument || is_same_name(&found, &word) || word.length == strlen(vary->name))
            found = word; /* if a name is in argv twice, the last one counts */
        else if (found.length != strlen(vary->name))
            return refuse_two(vary->name, &found, &word, err);
    }
    vary->argument = found.argument;
    vary->before = found.before;
    return 0;
}

int vary_find(struct vary *vary, const char *name, char **argv, int argc, struct err *err)
{
    char hint[NEAREST_HINT_BYTES];
    if (take_name(vary, name, strlen(name), err) || find_argument(vary, argv, argc, err))
        return -1;
    if (vary->argument)
        return read_value(vary, argv[vary->argument] + vary->before, err);
    const char *value = getenv(vary->name);
    if (value)
        return read_value(vary, value, err);
    if (strchr(name, ':'))
        snprintf(hint, sizeof hint, "; 'run --vary' takes a range");
    else
        hint_of(hint, vary->name, argv, argc, true);
    return err_set(err, ERR_USAGE,
                   "option '--vary': '%.100s' has a value neither on the command line nor in the "
                   "environment%s%s",
                   vary->name, hint, *hint ? "" : "; write it there with the value to start from");
}

/* --- a range --- */

/* Reads "LOW..HIGH/STEP". */
static bool read_range(struct vary *vary, const char *text)
{
    char low[32] = "", high[32] = "";
    const char *dots = strstr(text, ".."), *slash = strchr(text, '/');
    const size_t high_length = !dots ? 0 : slash ? (size_t)(slash - dots - 2) : strlen(dots + 2);
    struct err reason = {0};
    if (!dots || (slash && slash < dots) || (size_t)(dots - text) >= sizeof low ||
        high_length >= sizeof high)
        return false;
    memcpy(low, text, (size_t)(dots - text));
    memcpy(high, dots + 2, high_length);
    vary->step = 1;
    return !number_parse(low, 1, LONG_MAX, &vary->low, &reason) &&
           !number_parse(high, vary->low, LONG_MAX, &vary->high, &reason) &&
           (!slash || !number_parse(slash + 1, 1, LONG_MAX, &vary->step, &reason));
}

int vary_find_range(struct vary *vary, const char *text, char **argv, int argc, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char hint[NEAREST_HINT_BYTES];
    if (take_name(vary, text, colon ? (size_t)(colon - text) : strlen(text), err))
        return -1;
    if (!colon || !read_range(vary, colon + 1))
        return err_set(
            err, ERR_USAGE,
            "option '--vary': '%.100s' has no range; write NAME:LOW..HIGH with whole numbers "
            "from 1 on, as BATCH:1..512, or BATCH:8..512/8 in steps of 8",
            text);
    if (find_argument(vary, argv, argc, err))
        return -1;
    if (vary->argument || getenv(vary->name) || !*hint_of(hint, vary->name, argv, argc, false))
        return 0;
    return err_set(err, ERR_USAGE, "option '--vary': no option of the program is called '%.100s'%s",
                   vary->name, hint);
}

/* --- numbers that could be varied --- */

/* Adds the name, unless the text already has it. */
static size_t offer(struct text *text, const char *name, size_t length, const char *value,
                    bool (*is_wanted)(const char *name))
{
    char known[NEAREST_NAME_MAX], words[NEAREST_NAME_MAX + sizeof " --vary="];
    struct err ignored = {0};
    long number;
    if (length >= sizeof known)
        return 0;
    snprintf(known, sizeof known, "%.*s", (int)length, name);
    snprintf(words, sizeof words, " --vary=%s", known);
    if (!is_wanted(known) || number_parse(value, 2, LONG_MAX, &number, &ignored) ||
        strstr(text->data, words))
        return 0;
    text_add(text, words);
    return 1;
}

size_t vary_offer(struct text *text, char **argv, int argc, bool (*is_wanted)(const char *name),
                  size_t most)
{
    struct word word;
    size_t count = 0;
    for (int i = 1; i < argc && count < most; i++)
        if (read_word(&word, argv, argc, i))
            count +=
                offer(text, word.name, word.length, argv[word.argument] + word.before, is_wanted);
    for (char **variable = environ; *variable && count < most; variable++) {
        const size_t length = strcspn(*variable, "=");
        if ((*variable)[length])
            count += offer(text, *variable, length, *variable + length + 1, is_wanted);
    }
    return count;
}

void vary_write(struct text *text, const struct vary *vary, char **argv, long value)
{
    if (vary->argument)
        text_addf(text, "%.*s%ld", (int)vary->before, argv[vary->argument], value);
    else
        text_addf(text, "%s=%ld", vary->name, value);
}
