/* SPDX-License-Identifier: MIT */
/* `gpumemtrace help`: prints the list of commands, the help page of one command, or a topic. A
 * topic is a list that no command owns; each is ONE row here. Texts about commands come from
 * commands.def and are not repeated here. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "analyzer/command/guide/help_page.h"
#include "options.h"
#include "analyzer/command/guide/guides.h"
#include "analyzer/estimate/model/families.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"

/* --- topics --- */

static void add_metrics(struct text *text)
{
    static const struct {
        const char *word, *meaning;
    } metrics[] = {
#define METRIC(word, meaning) {word, meaning},
#include "analyzer/page/metrics.def"
    };

    text_add(text, "The terms for figures (counting.md in the manual has more):\n\n");
    for (size_t i = 0; i < sizeof metrics / sizeof *metrics; i++) {
        text_addf(text, "  %s\n", metrics[i].word);
        text_add_wrapped(text, "      ", metrics[i].meaning);
    }
}

static void add_cards(struct text *text)
{
    static const struct {
        const char *name, *source;
        double gib;
        int major, minor, multiprocessors, context_mib;
    } cards[] = {
#define PRESET(name, device, mib, context_mib, major, minor, multiprocessors, l2_mib, source)      \
    {name, source, (mib) / 1024.0, major, minor, multiprocessors, context_mib},
#include "common/sim_presets.def"
    };

    text_add(text,
             "Cards, and slices of cards (MIG), for 'gpumemtrace run --dry-run=CARD', each with "
             "the memory that it shows to\nprograms, and the source of that figure. CARD may also "
             "be a size, for example 16GiB:\n\n");
    for (size_t i = 0; i < sizeof cards / sizeof *cards; i++) {
        text_addf(
            text,
            "  %-13s%7.2f GiB, compute capability %d.%d, %d multiprocessors, context %d MiB\n",
            cards[i].name, cards[i].gib, cards[i].major, cards[i].minor, cards[i].multiprocessors,
            cards[i].context_mib);
        text_add_wrapped(text, "      ", cards[i].source);
    }
    text_add(text,
             "\nThe memory of a context is assumed. It differs by card, driver and program. A "
             "program that loads all kernels at once\n(before CUDA 11.7, or "
             "CUDA_MODULE_LOADING=EAGER) takes 1 GiB and more. ',context=SIZE' sets it.\n");
}

static void add_models(struct text *text)
{
    json_t *families = family_names(), *names;
    const char *family;
    text_add(text, "Models that 'gpumemtrace estimate NAME' knows by name, in upper or lower case. "
                   "Any other model is read from its\nconfig.json, its weights or a list of its "
                   "layers (MODEL-FORMAT.md):\n\n");
    json_object_foreach(families, family, names)
    {
        char head[64];
        struct text listed;
        text_init(&listed, 4000);
        for (size_t i = 0; i < json_array_size(names); i++)
            text_addf(&listed, "%s%s", i ? ", " : "", json_string_value(json_array_get(names, i)));
        snprintf(head, sizeof head, "  %-19s", family);
        if (listed.length)
            text_add_wrapped(text, head, listed.data);
        text_release(&listed);
    }
    json_decref(families);
}

static const struct topic {
    const char *name, *summary;
    void (*add)(struct text *text);
} topics[] = {
    {"cards", "the cards of a dry run", add_cards},
    {"metrics", "the terms for figures", add_metrics},
    {"models", "the models that estimate knows by name", add_models},
};
enum { TOPICS = sizeof topics / sizeof *topics };

static int print_topic(const struct topic *topic, struct err *err)
{
    struct text text;
    help_text_init(&text);
    topic->add(&text);
    const int status = help_text_print(&text, err);
    text_release(&text);
    return status;
}

/* Reports a name that is neither a command nor a topic. */
static int refuse(const char *typed, struct err *err)
{
    const char *names[TOPICS];
    char hint[NEAREST_HINT_BYTES];
    for (int i = 0; i < TOPICS; i++)
        names[i] = topics[i].name;
    if (!*nearest_hint(hint, typed, names, TOPICS))
        return command_unknown(typed, err);
    return err_set(err, ERR_USAGE, "unknown command or topic '%.100s'%s", typed, hint);
}

/* --- commands --- */

static void add_command(struct text *text, const struct command *command)
{
    char head[64];
    snprintf(head, sizeof head, "  %-10s %-22s ", command->name, command->operands);
    text_add_wrapped(text, head, command->summary);
}

static int print_overview(struct err *err)
{
    struct text text;
    help_text_init(&text);
    text_add(&text, "usage: gpumemtrace COMMAND [OPTION]... [OPERAND]...\n\n");
    text_add_wrapped(&text, "",
                     "Records every GPU memory allocation of a CUDA program, and answers "
                     "questions from the recorded trace.");
    text_add(&text, "\nCommands:\n");
    for (const struct command *command = commands; command->name; command++)
        add_command(&text, command);
    text_add(&text, "\n'gpumemtrace help COMMAND' shows a command's options and an example.\n");
    for (int i = 0; i < TOPICS; i++)
        text_addf(&text, "'gpumemtrace help %s' shows %s.\n", topics[i].name, topics[i].summary);
    text_add(&text, "'gpumemtrace --version' shows the version.\n");
    int result = help_text_print(&text, err);
    text_release(&text);
    return result;
}

/* Shows a command by calling it with --help, because only the command's own file has its table of
 * options. */
static int show_command(const struct command *asked, const char *guide, struct err *err)
{
    char name[32], help[32], *arguments[] = {name, help, NULL};
    snprintf(name, sizeof name, "%s", asked->name);
    snprintf(help, sizeof help, guide ? "--help=%s" : "--help", guide);
    return asked->function(asked, 2, arguments, err);
}

static int print_guide(const char *name, struct err *err)
{
    const struct guide *guide = guide_find(name);
    struct text text;
    fputs(guide->head, stdout);
    for (const struct command *command = commands; command->name; command++) {
        struct err said = {0};
        if (show_command(command, name, &said) && said.code != ERR_DONE) {
            *err = said;
            return -1;
        }
    }
    help_text_init(&text);
    guide->end(&text, commands);
    const int status = help_text_print(&text, err);
    text_release(&text);
    return status;
}

struct given {
    const char *guide;
};

int command_help(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"as", 0, OPTION_WORD, "man|bash|zsh|fish",
         "print all commands as the manual page, or as completion of a shell: source "
         "<(gpumemtrace help --as=bash)",
         offsetof(struct given, guide)},
        {0},
    };
    struct command_options options;
    struct given given = {0};
    if (options_parse(&options, command, rules, &given, argc, argv, err))
        return -1;
    if (given.guide)
        return print_guide(given.guide, err);
    if (options.operand_count == 0)
        return print_overview(err);
    for (int i = 0; i < TOPICS; i++)
        if (!strcmp(topics[i].name, options.operands[0]))
            return print_topic(&topics[i], err);
    const struct command *asked = command_find(options.operands[0]);
    return asked ? show_command(asked, NULL, err) : refuse(options.operands[0], err);
}
