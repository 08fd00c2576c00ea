/* SPDX-License-Identifier: MIT */
/* The input is text that a user typed. It is read as each kind of number and as a command line. */
#include <stdlib.h>
#include <string.h>

#include "analyzer/command/commands.h"
#include "analyzer/command/options.h"
#include "common/numbers.h"
#include "common/sim_spec.h"
#include "target.h"

#define WORDS_MAX 64

struct own {
    bool flag;
    const char *maybe;
    struct option_texts texts;
    uint64_t size_bytes;
    double ratio;
    long count;
    int choice;
};

static const struct option_rule rules[] = {
    {"flag", 'f', OPTION_FLAG, NULL, "", offsetof(struct own, flag)},
    {"maybe", 0, OPTION_MAYBE, "TEXT", "", offsetof(struct own, maybe)},
    {"text", 't', OPTION_TEXTS, "TEXT", "", offsetof(struct own, texts)},
    {"size", 0, OPTION_SIZE, "SIZE", "", offsetof(struct own, size_bytes)},
    {"share", 0, OPTION_RATIO, "SHARE", "", offsetof(struct own, ratio)},
    {"count", 0, OPTION_COUNT, "N", "", offsetof(struct own, count)},
    {"choice", 0, OPTION_CHOICE, "one|two|three", "", offsetof(struct own, choice)},
    {0},
};

/* Aborts if a refusal has no error code or no message. ERR_DONE needs no message. */
static void check(int result, const struct err *err)
{
    if (result && (err->code == ERR_NONE || !*err->message) && err->code != ERR_DONE)
        abort();
}

static void read_numbers(const char *text)
{
    struct err err = {0};
    uint64_t bytes;
    double ratio;
    long number;
    struct sim_spec spec;
    check(size_parse(text, &bytes, &err), &err);
    check(ratio_parse(text, &ratio, &err), &err);
    check(number_parse(text, -1, 1 << 20, &number, &err), &err);
    check(sim_spec_parse(text, &spec, &err), &err);
    digits_read(text, &bytes);
}

static void read_command_line(char *text)
{
    char *words[WORDS_MAX + 1], *rest = text, *word;
    struct command_options options;
    struct own own = {0};
    struct err err = {0};
    int count = 0;
    while (count < WORDS_MAX && (word = strsep(&rest, " \n")))
        words[count++] = word;
    words[count] = NULL;
    const struct command *command = command_find(words[0]);
    if (!command)
        check(command_unknown(words[0], &err), &err);
    else
        check(options_parse(&options, command, rules, &own, count, words, &err), &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = '\0';
    if (!strstr(text, "-h") && !strstr(text, "--h")) { /* these options print the help */
        read_numbers(text);
        read_command_line(text);
    }
    free(text);
    return 0;
}
