/* SPDX-License-Identifier: MIT */
/* A number that a program takes; see vary.h. */
#include "vary.h"

#include <ctype.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/util/nearest.h"
#include "common/numbers.h"

enum { KNOWN_MAX = 256 };

/* A name and the value behind it: where both stand in argv. */
struct word {
    const char *name;
    size_t length;
    int argument; /* of the value */
    size_t before;
};

/* What stands at argv[i]; false: no name with a value. */
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

/* "train.batch_size" is called so, and batch-size. */
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
    err_set(err, ERR_USAGE,
            "option '--vary': '%.100s' is both '%.*s' and '%.*s'; name the one that is meant", name,
            (int)(a->length < 100 ? a->length : 100), a->name,
            (int)(b->length < 100 ? b->length : 100), b->name);
    return -1;
}

/* The names that a value could be given to. */
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

static int refuse_unknown(const char *name, char **argv, int argc, struct err *err)
{
    struct known known = {.count = 0};
    char hint[NEAREST_HINT_BYTES];
    struct word word;
    for (int i = 1; i < argc; i++)
        if (read_word(&word, argv, argc, i))
            known_add(&known, word.name, word.length);
    for (char **variable = environ; *variable; variable++)
        known_add(&known, *variable, strcspn(*variable, "="));
    nearest_hint(hint, name, known.names, known.count);
    err_set(err, ERR_USAGE,
            "option '--vary': '%.100s' has a value neither on the command line nor in the "
            "environment%s%s",
            name, hint, *hint ? "" : "; write it there with the value to start from");
    return -1;
}

static int read_value(struct vary *vary, const char *text, struct err *err)
{
    struct err reason = {0};
    if (!number_parse(text, 1, LONG_MAX, &vary->value, &reason))
        return 0;
    err_set(err, ERR_USAGE, "option '--vary': '%.100s' is '%.100s', not a whole number from 1 on",
            vary->name, text);
    return -1;
}

int vary_find(struct vary *vary, const char *name, char **argv, int argc, struct err *err)
{
    const char *plain = name + strspn(name, "-+");
    struct word found = {0}, word;
    *vary = (struct vary){.name = plain};
    for (int i = 1; i < argc; i++) {
        if (!read_word(&word, argv, argc, i) || !is_called(&word, plain))
            continue;
        if (!found.argument || is_same_name(&found, &word) || word.length == strlen(plain))
            found = word; /* of the same twice, the last one counts */
        else if (found.length != strlen(plain))
            return refuse_two(plain, &found, &word, err);
    }
    if (found.argument) {
        vary->argument = found.argument;
        vary->before = found.before;
        return read_value(vary, argv[found.argument] + found.before, err);
    }
    const char *value = *plain ? getenv(plain) : NULL;
    return value ? read_value(vary, value, err) : refuse_unknown(plain, argv, argc, err);
}

void vary_write(struct text *text, const struct vary *vary, char **argv, long value)
{
    if (vary->argument)
        text_addf(text, "%.*s%ld", (int)vary->before, argv[vary->argument], value);
    else
        text_addf(text, "%s=%ld", vary->name, value);
}
