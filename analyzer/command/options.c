/* SPDX-License-Identifier: MIT */
/* Parses arguments from tables of options with getopt_long; see options.h. getopt keeps global
 * state, so only one thread may parse. */
#include "options.h"

#include <getopt.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>

#include "gpumemtrace/event.h"
#include "analyzer/command/guide/help_page.h"
#include "analyzer/command/option/shared_options.h"
#include "analyzer/render/formats.h"
#include "analyzer/util/json_field.h"
#include "analyzer/util/nearest.h"
#include "analyzer/util/text.h"
#include "common/numbers.h"

#define RULES_MAX 48
/* getopt's result for rule i is FIRST_VALUE + i, a number above all letters */
#define FIRST_VALUE 256

struct parser {
    const struct command *command; /* NULL: no shared options */
    const struct option_rule *rules[RULES_MAX];
    void *targets[RULES_MAX]; /* the struct that has the field at the rule's offset */
    int count;
    struct option longs[RULES_MAX + 1];
    char letters[2 * RULES_MAX + 3];
};

static int takes_value(enum option_kind kind)
{
    if (kind == OPTION_FLAG || kind == OPTION_JSON)
        return no_argument;
    return kind == OPTION_MAYBE ? optional_argument : required_argument;
}

static void parser_add(struct parser *parser, const struct option_rule *rule, void *target)
{
    if (parser->count == RULES_MAX)
        return;
    int value = takes_value(rule->kind);
    parser->longs[parser->count] =
        (struct option){rule->name, value, NULL, FIRST_VALUE + parser->count};
    parser->rules[parser->count] = rule;
    parser->targets[parser->count++] = target;
    if (rule->letter) {
        size_t end = strlen(parser->letters);
        parser->letters[end] = rule->letter;
        parser->letters[end + 1] = value == required_argument ? ':' : '\0';
    }
}

/* Prepares the parser. If `ordering` is "+", parsing stops at the first operand. If it is "",
 * getopt moves operands behind the options. */
static void parser_init(struct parser *parser, struct command_options *options,
                        const struct option_rule *own_rules, void *own, const char *ordering)
{
    const unsigned groups = options->command ? options->command->common : COMMON_NONE;
    *parser = (struct parser){.command = options->command};
    snprintf(parser->letters, sizeof parser->letters, "%s:", ordering);
    for (const struct shared_option *shared = shared_options; shared->group; shared++)
        if (groups & shared->group)
            parser_add(parser, &shared->rule, options);
    for (; own_rules && own_rules->name; own_rules++)
        parser_add(parser, own_rules, own);
    parser_add(parser, &help_option, NULL);
}

/* --- values --- */

/* Returns 1 for the first choice of "a|b|c", 2 for the second, and so on. Returns 0 if value is no
 * choice. */
static int choice_parse(const char *choices, const char *value)
{
    size_t length = strlen(value);
    for (int i = 1;; i++) {
        size_t choice_length = strcspn(choices, "|");
        if (choice_length == length && !strncmp(choices, value, length))
            return i;
        if (!choices[choice_length])
            return 0;
        choices += choice_length + 1;
    }
}

enum { CHOICES_MAX = 16, CHOICES_BYTES = 256 };

/* Returns a hint that names the choice nearest to the given value. */
static const char *choice_hint(char hint[NEAREST_HINT_BYTES], const char *choices,
                               const char *value)
{
    char copy[CHOICES_BYTES], *rest = copy;
    const char *names[CHOICES_MAX];
    size_t count = 0;
    snprintf(copy, sizeof copy, "%s", choices);
    while (count < CHOICES_MAX && (names[count] = strsep(&rest, "|")))
        count++;
    return nearest_hint(hint, value, names, count);
}

static int store_choice(const struct option_rule *rule, void *field, const char *value,
                        struct err *err)
{
    char hint[NEAREST_HINT_BYTES];
    const int found = choice_parse(rule->argument, value);
    if (!found)
        return err_set(err, ERR_USAGE, "'%.100s' is not one of %s%s", value, rule->argument,
                       choice_hint(hint, rule->argument, value));
    if (rule->kind == OPTION_CHOICE)
        *(int *)field = found;
    else
        *(const char **)field = value;
    return 0;
}

static int store_number(void *field, enum option_kind kind, const char *value, struct err *err)
{
    long number;
    bool is_index = kind == OPTION_INDEX;
    if (number_parse(value, is_index ? 0 : 1, is_index ? INT_MAX : LONG_MAX, &number, err))
        return -1;
    if (is_index)
        *(int *)field = (int)number;
    else
        *(long *)field = number;
    return 0;
}

static int store_texts(struct option_texts *texts, const char *value, struct err *err)
{
    if (texts->count == OPTION_TEXTS_MAX)
        return err_set(err, ERR_USAGE, "it is given more than %d times", OPTION_TEXTS_MAX);
    texts->values[texts->count++] = value;
    return 0;
}

/* Stores the format. --format is a shared option, so its target is always struct
 * command_options. */
static int store_format(struct command_options *options, const char *name, struct err *err)
{
    const struct format **format = &options->format;
    *format = format_find(name, options->command->table, err);
    return *format ? 0 : -1;
}

static int store(const struct option_rule *rule, void *target, const char *value, struct err *err)
{
    void *field = (char *)target + rule->offset;
    switch (rule->kind) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_JSON:
        return store_format(target, "json", err);
    case OPTION_FORMAT:
        return store_format(target, value, err);
    case OPTION_TEXT:
        *(const char **)field = value;
        return 0;
    case OPTION_MAYBE:
        *(const char **)field = value ? value : "";
        return 0;
    case OPTION_TEXTS:
        return store_texts(field, value, err);
    case OPTION_COUNT:
    case OPTION_INDEX:
        return store_number(field, rule->kind, value, err);
    case OPTION_SIZE:
        return size_parse(value, field, err);
    case OPTION_RATIO:
        return ratio_parse(value, field, err);
    case OPTION_CHOICE:
    case OPTION_WORD:
        return store_choice(rule, field, value, err);
    }
    return -1;
}

/* --- errors --- */

static void say_unknown(const struct parser *parser, const char *typed, const char *command,
                        struct err *err)
{
    const char *names[RULES_MAX];
    char name[NEAREST_NAME_MAX + 2], hint[NEAREST_HINT_BYTES];
    const int length = (int)strcspn(typed, "=");
    for (int i = 0; i < parser->count; i++)
        names[i] = parser->rules[i]->name;
    snprintf(name, sizeof name, "%.*s", length > 2 ? length - 2 : 0, typed + 2);
    const char *nearest = nearest_name(name, names, (size_t)parser->count);
    snprintf(hint, sizeof hint, nearest ? "; did you mean '--%s'?" : "", nearest);
    err_set(err, ERR_USAGE, "unknown option '%.*s'%s%s 'gpumemtrace help %s'", length, typed, hint,
            nearest ? " See" : "; see", command);
}

static int say_misuse(const struct parser *parser, int result, char **argv, struct err *err)
{
    const char *name = argv[0];
    const char *typed = argv[optind - 1];
    int known = optopt - FIRST_VALUE;
    if (result == ':' && known >= 0)
        err_set(err, ERR_USAGE, "option '--%s' needs a value: --%s=%s", parser->rules[known]->name,
                parser->rules[known]->name, parser->rules[known]->argument);
    else if (result == ':')
        err_set(err, ERR_USAGE, "option '-%c' needs a value; see 'gpumemtrace help %s'", optopt,
                name);
    else if (known >= 0)
        err_set(err, ERR_USAGE, "option '--%s' takes no value", parser->rules[known]->name);
    else if (optopt)
        err_set(err, ERR_USAGE, "unknown option '-%c'; see 'gpumemtrace help %s'", optopt, name);
    else
        say_unknown(parser, typed, name, err);
    return -1;
}

static int check_operands(const struct parser *parser, int count, struct err *err)
{
    const struct command *command = parser->command;
    if (!command)
        return 0;
    if (count < command->fewest_operands)
        return err_set(err, ERR_USAGE, "needs %s, got %d operand%s; see 'gpumemtrace help %s'",
                       command->operands, count, count == 1 ? "" : "s", command->name);
    if (command->most_operands != OPERANDS_UNLIMITED && count > command->most_operands)
        return err_set(err, ERR_USAGE, "takes %d operand%s (%s), not %d; see 'gpumemtrace help %s'",
                       command->most_operands, command->most_operands == 1 ? "" : "s",
                       command->operands, count, command->name);
    return 0;
}

/* Checks --format before any trace is read. */
static int check_format(const struct command_options *options, struct err *err)
{
    const struct command *command = options->command;
    struct text known;
    if (!command || format_takes(options->format, command->table))
        return 0;
    text_init(&known, 256);
    formats_list(&known, command->table);
    err_set(err, ERR_USAGE, "option '--format': %s does not print %s; it prints %s", command->name,
            options->format->name, known.data);
    text_release(&known);
    return -1;
}

/* --- parsing --- */

static const struct option_rule *rule_of(const struct parser *parser, int result, int *index)
{
    for (*index = 0; *index < parser->count; ++*index)
        if (result == FIRST_VALUE + *index || result == parser->rules[*index]->letter)
            return parser->rules[*index];
    return NULL;
}

static int store_result(const struct parser *parser, int result, struct err *err)
{
    struct err reason;
    int index;
    const struct option_rule *rule = rule_of(parser, result, &index);
    if (store(rule, parser->targets[index], optarg, &reason))
        return err_set(err, reason.code, "option '--%s': %.400s", rule->name, reason.message);
    return 0;
}

static int show_help(const struct parser *parser, const struct option_rule *own_rules,
                     const char *guide, struct err *err)
{
    if (parser->command && help_page_print(parser->command, own_rules, guide, err))
        return -1;
    return err_set(err, ERR_DONE, "help was shown");
}

static int parse(struct command_options *options, const struct command *command,
                 const struct option_rule *own_rules, void *own, int argc, char **argv,
                 const char *ordering, struct err *err)
{
    struct parser parser;
    int result;
    *options = (struct command_options){.command = command, .device = -1, .layer = LAYER_none};
    if (store_format(options, "text", err))
        return -1;
    parser_init(&parser, options, own_rules, own, ordering);
    opterr = 0;
    optind = 0; /* glibc: start again from the beginning */
    while ((result = getopt_long(argc, argv, parser.letters, parser.longs, NULL)) != -1) {
        int index;
        if (result == '?' || result == ':')
            return say_misuse(&parser, result, argv, err);
        if (rule_of(&parser, result, &index) == &help_option)
            return show_help(&parser, own_rules, optarg, err);
        if (store_result(&parser, result, err))
            return -1;
    }
    if (check_format(options, err))
        return -1;
    options->operands = (const char **)(argv + optind);
    options->operand_count = argc - optind;
    return check_operands(&parser, options->operand_count, err);
}

int options_parse(struct command_options *options, const struct command *command,
                  const struct option_rule *own_rules, void *own, int argc, char **argv,
                  struct err *err)
{
    return parse(options, command, own_rules, own, argc, argv, "", err);
}

int options_parse_leading(struct command_options *options, const struct command *command,
                          const struct option_rule *own_rules, void *own, int argc, char **argv,
                          struct err *err)
{
    return parse(options, command, own_rules, own, argc, argv, "+", err);
}

/* --- options of a file --- */

static const struct option_rule *find_rule(const struct option_rule *rules, const char *key,
                                           struct err *err)
{
    const char *names[RULES_MAX];
    char hint[NEAREST_HINT_BYTES];
    size_t count = 0;
    for (; rules->name && count < RULES_MAX; rules++) {
        if (!strcmp(rules->name, key))
            return rules;
        names[count++] = rules->name;
    }
    err_set(err, ERR_INPUT, "is not an option%s", nearest_hint(hint, key, names, count));
    return NULL;
}

/* Stores a JSON value. A flag is true or false. Any other value is spelled as on the command
 * line. */
static int store_json(const struct option_rule *rule, void *own, const json_t *value,
                      struct err *err)
{
    char digits[32];
    if (rule->kind == OPTION_FLAG)
        return json_take_flag(value, (bool *)((char *)own + rule->offset), err);
    if (json_is_integer(value) && rule->kind != OPTION_TEXT) {
        snprintf(digits, sizeof digits, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
        return store(rule, own, digits, err);
    }
    const char *text;
    return json_take_text(value, &text, err) || store(rule, own, text, err) ? -1 : 0;
}

int options_of_json(const struct option_rule *rules, void *own, const json_t *object,
                    const char *skipped, struct err *err)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        char shown[JSON_SHOWN_BYTES];
        struct err reason = {0};
        const struct option_rule *rule;
        if (!strcmp(key, skipped))
            continue;
        if ((rule = find_rule(rules, key, &reason)) && !store_json(rule, own, value, &reason))
            continue;
        return err_set(err, ERR_INPUT, "field %s %s%.400s", json_shown_text(key, shown),
                       rule && reason.code == ERR_USAGE ? "has a wrong value: " : "",
                       reason.message);
    }
    return 0;
}
