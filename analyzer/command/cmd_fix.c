/* SPDX-License-Identifier: MIT */
/* `gpumemtrace fix`: repeats dry runs of a program until it fits. This file sets the runs up; fix/
 * chooses the settings to try, fix/run_lines.c runs the program, page/fix/ writes the answer. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fix/fix.h"
#include "analyzer/fix/folder.h"
#include "analyzer/fix/run_lines.h"
#include "analyzer/render/units.h"
#include "analyzer/run/run_group.h"
#include "analyzer/run/run_loader.h"
#include "analyzer/run/run_program.h"
#include "analyzer/run/run_spec.h"
#include "answer.h"
#include "analyzer/util/say.h"

enum { SPEC_BYTES = 1024 };

struct given {
    uint64_t limit_bytes;
    const char *gpu, *keep;
    struct option_texts vary;
    long max_runs;
};

/* --- the card --- */

static int refuse_limit(uint64_t limit_bytes, const char *spec, uint64_t bytes, struct err *err)
{
    return err_set(err, ERR_USAGE, "option '--limit': %s is more than '%.100s' has, %s",
                   BYTES_TEXT(limit_bytes), spec, BYTES_TEXT(bytes));
}

/* Adds a size, for example "24GiB". */
static void add_size(struct text *text, uint64_t bytes)
{
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    if (bytes % gib == 0)
        text_addf(text, "%" PRIu64 "GiB", bytes / gib);
    else if (bytes % mib == 0)
        text_addf(text, "%" PRIu64 "MiB", bytes / mib);
    else
        text_addf(text, "%" PRIu64, bytes);
}

/* Writes the spec of the card. --limit with --gpu lowers the memory of that card and keeps its
 * other properties. --limit alone gives the size of a default card. */
static int write_spec(struct text *text, const struct given *given, struct sim_spec *card,
                      struct err *err)
{
    const char *spec = given->gpu ? given->gpu : getenv("GPUMEMTRACE_SIM");
    if (!spec || !*spec || (given->limit_bytes && !given->gpu))
        spec = SIM_SPEC_DEFAULT;
    if (run_spec_parse(spec, card, err))
        return -1;
    if (given->limit_bytes > card->total_bytes && given->gpu)
        return refuse_limit(given->limit_bytes, spec, card->total_bytes, err);
    const bool is_size = given->limit_bytes && (!given->gpu || card->is_unlimited);
    if (!is_size)
        text_addf(text, "%s%s", spec, given->limit_bytes ? ",memory=" : "");
    if (given->limit_bytes)
        add_size(text, given->limit_bytes);
    if (run_spec_parse(text->data, card, err))
        return -1;
    if (!card->is_unlimited)
        return 0;
    return err_set(err, ERR_USAGE,
                   "'%.100s' has no limit, so everything fits; give --limit=SIZE or a card", spec);
}

static int set_variable(const char *name, const char *value, struct err *err)
{
    if (!setenv(name, value, 1))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot set %s: %s", name, strerror(errno));
}

/* --- the whole command --- */

static int print(const struct fix *fix, const struct command_options *options, bool is_kept,
                 struct err *err)
{
    const struct page_fix_options own = {
        .fix = fix, .is_kept = is_kept, .stopped_by = run_group_stopped_by()};
    const char *trace = fix->runs[0].trial.trace;
    struct command_options of_trace = *options;
    of_trace.operands = &trace;
    of_trace.operand_count = 1;
    if (answer_print(&page_fix, &of_trace, &own, err))
        return -1;
    if (own.stopped_by)
        return 128 + own.stopped_by;
    return fix->runs[0].trial.end == TRIAL_FITS || fix->remedy_count ? 0 : 1;
}

static int search_and_print(struct fix *fix, const struct command_options *options, bool is_kept,
                            struct err *err)
{
    run_group_watch();
    if (fix_search(fix, err))
        return -1;
    if (fix->count &&
        (fix->runs[0].trial.end == TRIAL_FITS || fix->runs[0].trial.end == TRIAL_NO_MEMORY))
        return print(fix, options, is_kept, err);
    if (run_group_stopped_by()) {
        command_say("fix", "stopped in the first run, before there was a result");
        return 128 + run_group_stopped_by();
    }
    run_lines_refuse(fix, &fix->runs[0].trial, "nothing was tried", err);
    return -1;
}

static int prepare(struct fix *fix, const struct given *given, char path[PATH_MAX], struct err *err)
{
    struct run_places places;
    struct text spec;
    if (given->vary.count > FIX_VARIES_MAX)
        return err_set(err, ERR_USAGE, "--vary may be given %d times", FIX_VARIES_MAX);
    for (int i = 0; i < given->vary.count; i++)
        if (vary_find(&fix->varies[fix->vary_count++], given->vary.values[i], fix->argv, fix->argc,
                      err))
            return -1;
    text_init(&spec, SPEC_BYTES);
    const int status =
        write_spec(&spec, given, &fix->card, err) ||
                set_variable("GPUMEMTRACE_SIM", spec.data, err) ||
                set_variable("GPUMEMTRACE_QUIET", "1", err) || run_places_find(&places, 1, err) ||
                run_program_check(path, places.library, true, err) || run_loader_set(&places, err)
            ? -1
            : 0;
    text_release(&spec);
    return status;
}

int command_fix(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"limit", 0, OPTION_SIZE, "SIZE",
         "memory that the program may use, as 24GiB: the size of a card, or with --gpu a part of "
         "that card",
         offsetof(struct given, limit_bytes)},
        {"gpu", 0, OPTION_TEXT, "SPEC",
         "the simulated cards, as run --dry-run has them: 2x80GiB, h100, "
         "a100-1g.5gb,others=1GiB (GPUMEMTRACE_SIM, default " SIM_SPEC_DEFAULT ")",
         offsetof(struct given, gpu)},
        {"vary", 0, OPTION_TEXTS, "NAME",
         "a number that may become smaller, as the batch's size: an option of PROGRAM "
         "(--NAME=32, --NAME 32, NAME=32) or a variable of the environment; may be repeated",
         offsetof(struct given, vary)},
        {"max-runs", 0, OPTION_COUNT, "N", "most runs, the first one included (default 16)",
         offsetof(struct given, max_runs)},
        {"keep", 0, OPTION_TEXT, "FOLDER",
         "keep the traces of all runs, and what they printed, in FOLDER",
         offsetof(struct given, keep)},
        {0},
    };
    struct given given = {.max_runs = FIX_RUNS_STANDARD};
    struct command_options options;
    struct fix fix = {0};
    const char *quiet = getenv("GPUMEMTRACE_QUIET");
    char path[PATH_MAX], folder[PATH_MAX];
    if (options_parse_leading(&options, command, rules, &given, argc, argv, err))
        return -1;
    fix.argv = argv + (argc - options.operand_count);
    fix.argc = options.operand_count;
    fix.max_runs = (size_t)given.max_runs;
    fix.command = command->name;
    fix.path = path;
    fix.folder = folder;
    if (!quiet || strcmp(quiet, "1") != 0) {
        fix.on_begin = run_lines_begin;
        fix.on_end = run_lines_end;
    }
    const int refused = run_program_find(fix.argv[0], path, err);
    if (refused) {
        command_say("fix", err->message);
        return refused;
    }
    if (prepare(&fix, &given, path, err) || folder_make(folder, given.keep, command->name, err))
        return -1;
    const int status = search_and_print(&fix, &options, given.keep != NULL, err);
    if (!given.keep)
        folder_remove(folder);
    fix_release(&fix);
    return status;
}
