/* SPDX-License-Identifier: MIT */
/* The options that commands share; see shared_options.h. */
#include "shared_options.h"

#include "analyzer/analysis/moment.h"
#include "analyzer/render/formats.h"
#include "analyzer/util/text.h"

#define FIELD(name) offsetof(struct command_options, name)

/* A new option needs ONE row here, and its group in commands.def. The choices of --format depend on
 * the command. */
const struct shared_option shared_options[] = {
    {COMMON_PRINT, {"format", 0, OPTION_FORMAT, "FORMAT", NULL, FIELD(format)}},
    {COMMON_PRINT, {"json", 0, OPTION_JSON, NULL, "the same as --format=json", FIELD(format)}},
    {COMMON_PRINT | COMMON_FILE,
     {"output", 'o', OPTION_TEXT, "FILE", "write to FILE instead of stdout", FIELD(output)}},
    {COMMON_DEVICE,
     {"device", 0, OPTION_INDEX, "N", "only device N, as the program numbered it", FIELD(device)}},
    {COMMON_LAYER,
     {"layer", 0, OPTION_CHOICE, "driver|pool", "only memory of this layer", FIELD(layer)}},
    {COMMON_PHASES,
     {"nvtx", 0, OPTION_CHOICE, "program|all",
      "NVTX ranges that count as phases; program (default): those of the program; all: also "
      "those in the domains of libraries, such as CCCL and NCCL",
      FIELD(nvtx)}},
    {COMMON_AT,
     {"at", 0, OPTION_TEXT, "WHEN", "the moment: " MOMENT_WORDS " (default peak)", FIELD(at)}},
    {COMMON_TOP,
     {"top", 0, OPTION_COUNT, "N", "only the N largest call stacks (default 10 in text, else all)",
      FIELD(top)}},
    {COMMON_STACKS,
     {"native", 0, OPTION_CHOICE, "folded|full",
      "native frames of a stack; full: all; folded (default): text folds frames of libraries "
      "and the interpreter, and an export leaves out those of the interpreter",
      FIELD(native)}},
    {COMMON_NAMES,
     {"debug-dir", 0, OPTION_TEXTS, "DIR",
      "folder with files of the recorded program, in any layout; files are found by build-id; "
      "may be repeated",
      FIELD(debug_dirs)}},
    {COMMON_NAMES,
     {"debuginfod", 0, OPTION_FLAG, NULL,
      "ask the servers in DEBUGINFOD_URLS for files that are not on this machine",
      FIELD(debuginfod)}},
    {COMMON_SERIES,
     {"series", 0, OPTION_FLAG, NULL,
      "with --format=json: also memory over time and its snapshots, which --format=html draws",
      FIELD(series)}},
    {COMMON_READ,
     {"every-trace", 0, OPTION_FLAG, NULL,
      "read and show each of several traces; without it one trace stands for ranks that are "
      "alike, and at most 8 traces are shown",
      FIELD(every_trace)}},
    {COMMON_READ | COMMON_FILE | COMMON_MEMORY,
     {"memory-limit", 0, OPTION_SIZE, "SIZE",
      "most memory that the command may use (default a quarter of the memory of the machine or "
      "its cgroup)",
      FIELD(memory_limit_bytes)}},
    {0},
};

/* --help=GUIDE prints the command in the form of the guide GUIDE. `help --as` uses this. */
const struct option_rule help_option = {"help", 'h', OPTION_MAYBE, NULL, "this page", 0};

/* --- help --- */

#define TEXT_COLUMN 26

static void add_description(struct text *text, const char *head, const struct option_rule *rule,
                            const struct command *command)
{
    struct text formats;
    if (rule->kind != OPTION_FORMAT) {
        text_add_wrapped(text, head, rule->text);
        return;
    }
    text_init(&formats, 256);
    text_add(&formats, "how to print the result: ");
    formats_list(&formats, command->table);
    text_add(&formats, " (default text)");
    text_add_wrapped(text, head, formats.data);
    text_release(&formats);
}

static void describe_option(struct text *text, const struct option_rule *rule,
                            const struct command *command)
{
    struct text head;
    text_init(&head, 256);
    if (rule->letter)
        text_addf(&head, "  -%c, --%s", rule->letter, rule->name);
    else
        text_addf(&head, "      --%s", rule->name);
    if (rule->argument)
        text_addf(&head, rule->kind == OPTION_MAYBE ? "[=%s]" : "=%s", rule->argument);
    if (head.length + 2 > TEXT_COLUMN) {
        text_addf(text, "%s\n", head.data);
        text_clear(&head);
    }
    text_fill(&head, ' ', TEXT_COLUMN - head.length);
    add_description(text, head.data, rule, command);
    text_release(&head);
}

void options_describe(struct text *text, const struct command *command,
                      const struct option_rule *own_rules)
{
    for (; own_rules && own_rules->name; own_rules++)
        describe_option(text, own_rules, command);
    for (const struct shared_option *shared = shared_options; shared->group; shared++)
        if (command->common & shared->group)
            describe_option(text, &shared->rule, command);
    describe_option(text, &help_option, command);
}
