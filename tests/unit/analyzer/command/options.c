/* SPDX-License-Identifier: MIT */
/* Tests the parsing of options that are described in tables: every kind of option, every
   mistake, and the options of each command. */
#include <string.h>

#include "gpumemtrace/event.h"
#include "analyzer/command/commands.h"
#include "analyzer/command/options.h"
#include "tests/unit/unit_test.h"

struct own {
    bool flag;
    const char *maybe;
    struct option_texts texts;
    uint64_t size_bytes;
    double ratio;
    int choice;
};

static const struct option_rule rules[] = {
    {"flag", 'f', OPTION_FLAG, NULL, "", offsetof(struct own, flag)},
    {"maybe", 0, OPTION_MAYBE, "TEXT", "", offsetof(struct own, maybe)},
    {"text", 't', OPTION_TEXTS, "TEXT", "", offsetof(struct own, texts)},
    {"size", 0, OPTION_SIZE, "SIZE", "", offsetof(struct own, size_bytes)},
    {"ratio", 0, OPTION_RATIO, "SHARE", "", offsetof(struct own, ratio)},
    {"choice", 0, OPTION_CHOICE, "one|two|three", "", offsetof(struct own, choice)},
    {0},
};

struct parsed {
    struct command_options options;
    struct own own;
    struct err err;
    char copy[512];
    char *argv[32];
    int result;
};

/* Splits the line at spaces and parses it. *parsed keeps argv alive. */
static void parse(struct parsed *parsed, const char *line, bool leading)
{
    int argc = 0;
    memset(parsed, 0, sizeof *parsed);
    snprintf(parsed->copy, sizeof parsed->copy, "%s", line);
    for (char *word = strtok(parsed->copy, " "); word; word = strtok(NULL, " "))
        parsed->argv[argc++] = word;
    parsed->result = (leading ? options_parse_leading : options_parse)(
        &parsed->options, command_find(parsed->argv[0]), rules, &parsed->own, argc, parsed->argv,
        &parsed->err);
}

static void assert_refused(const char *line, const char *message)
{
    struct parsed parsed;
    parse(&parsed, line, false);
    assert_int_equal(parsed.result, -1);
    assert_int_equal(parsed.err.code, ERR_USAGE);
    assert_string_equal(parsed.err.message, message);
}

TEST(without_options_the_defaults_hold)
{
    struct parsed parsed;
    parse(&parsed, "peak a.db b.db", false);
    assert_int_equal(parsed.result, 0);
    assert_string_equal(parsed.options.command->name, "peak");
    assert_string_equal(parsed.options.format->name, "text");
    assert_null(parsed.options.output);
    assert_null(parsed.options.at);
    assert_int_equal(parsed.options.device, -1);
    assert_int_equal(parsed.options.layer, LAYER_none);
    assert_int_equal(parsed.options.top, 0);
    assert_int_equal(parsed.options.operand_count, 2);
    assert_string_equal(parsed.options.operands[1], "b.db");
}

TEST(options_may_stand_after_operands)
{
    struct parsed parsed;
    parse(&parsed, "peak a.db --json -o out.json b.db --device=2 --layer pool --top 5 --at=end",
          false);
    assert_int_equal(parsed.result, 0);
    assert_string_equal(parsed.options.format->name, "json");
    assert_string_equal(parsed.options.output, "out.json");
    assert_int_equal(parsed.options.device, 2);
    assert_int_equal(parsed.options.layer, LAYER_pool);
    assert_int_equal(parsed.options.top, 5);
    assert_string_equal(parsed.options.at, "end");
    assert_int_equal(parsed.options.operand_count, 2);
    assert_string_equal(parsed.options.operands[0], "a.db");
}

TEST(two_dashes_end_the_options)
{
    struct parsed parsed;
    parse(&parsed, "peak -- --json", false);
    assert_int_equal(parsed.result, 0);
    assert_string_equal(parsed.options.format->name, "text");
    assert_string_equal(parsed.options.operands[0], "--json");
}

TEST(for_another_program_the_first_operand_ends_them)
{
    struct parsed parsed;
    parse(&parsed, "run --flag prog --size=junk -x", true);
    assert_int_equal(parsed.result, 0);
    assert_true(parsed.own.flag);
    assert_int_equal(parsed.options.operand_count, 3);
    assert_string_equal(parsed.options.operands[1], "--size=junk");
}

TEST(a_command_adds_options_of_its_own)
{
    struct parsed parsed;
    parse(&parsed, "check x.db -f --maybe=3 --text=a -t b --size=4KiB --ratio=50% --choice=two",
          false);
    assert_int_equal(parsed.result, 0);
    assert_true(parsed.own.flag);
    assert_string_equal(parsed.own.maybe, "3");
    assert_int_equal(parsed.own.texts.count, 2);
    assert_string_equal(parsed.own.texts.values[1], "b");
    assert_int_equal(parsed.own.size_bytes, 4096);
    assert_true(parsed.own.ratio == 0.5);
    assert_int_equal(parsed.own.choice, 2);
}

TEST(an_option_with_maybe_a_value_takes_none_from_the_next_word)
{
    struct parsed parsed;
    parse(&parsed, "check --maybe x.db", false);
    assert_int_equal(parsed.result, 0);
    assert_string_equal(parsed.own.maybe, "");
    assert_int_equal(parsed.options.operand_count, 1);
}

TEST(mistakes_are_named)
{
    assert_refused("peak x --foo", "unknown option '--foo'; see 'gpumemtrace help peak'");
    assert_refused("peak x --foo=3", "unknown option '--foo'; see 'gpumemtrace help peak'");
    assert_refused("peak x -z", "unknown option '-z'; see 'gpumemtrace help peak'");
    assert_refused("peak x --flag=1", "option '--flag' takes no value");
    assert_refused("peak x --top", "option '--top' needs a value: --top=N");
    assert_refused("peak x -o", "option '-o' needs a value; see 'gpumemtrace help peak'");
    assert_refused("peak x --top=0", "option '--top': '0' is out of range; the least is 1");
    assert_refused("peak x --device=one", "option '--device': 'one' is not a whole number");
    assert_refused("peak x --layer=gpu", "option '--layer': 'gpu' is not one of driver|pool");
    assert_refused("peak x --choice=on", "option '--choice': 'on' is not one of one|two|three");
    assert_refused("peak x --format=xml",
                   "option '--format': unknown format 'xml'; there are text, "
                   "json, html and csv");
    assert_refused("peak x --size=4XB", "option '--size': '4XB' is not a size; write it like 4GiB, "
                                        "512MiB, 4GB or 4294967296");
}

TEST(operands_are_counted_as_the_commands_row_says)
{
    assert_refused("peak", "needs TRACE..., got 0 operands; see 'gpumemtrace help peak'");
    assert_refused("compare x", "needs TRACE MODEL, got 1 operand; see 'gpumemtrace help compare'");
    assert_refused("estimate a b",
                   "takes 1 operand (MODEL), not 2; see 'gpumemtrace help estimate'");
}

TEST(a_command_has_the_shared_options_of_its_row_only)
{
    assert_refused("estimate x --at=end", "unknown option '--at'; see 'gpumemtrace help estimate'");
    assert_refused("info x --layer=pool", "unknown option '--layer'; see 'gpumemtrace help info'");
}

TEST(too_many_texts_are_refused)
{
    static char text[] = "--text=x", name[] = "check", operand[] = "x.db";
    char *argv[OPTION_TEXTS_MAX + 4] = {name, operand};
    struct command_options options;
    struct own own = {0};
    struct err err = {0};
    for (int i = 0; i <= OPTION_TEXTS_MAX; i++)
        argv[i + 2] = text;
    assert_int_equal(options_parse(&options, command_find(argv[0]), rules, &own,
                                   OPTION_TEXTS_MAX + 2, argv, &err),
                     0);
    own.texts.count = 0;
    assert_int_equal(options_parse(&options, command_find(argv[0]), rules, &own,
                                   OPTION_TEXTS_MAX + 3, argv, &err),
                     -1);
    assert_string_equal(err.message, "option '--text': it is given more than 64 times");
}

UNIT_MAIN(NULL, NULL)
