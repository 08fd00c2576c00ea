/* SPDX-License-Identifier: MIT */
/* Finds the largest value that fits; see run_largest.h. */
#include "run_largest.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/fix/folder.h"
#include "analyzer/fix/largest.h"
#include "analyzer/fix/run_lines.h"
#include "analyzer/page/fix/largest.h"
#include "analyzer/run/run_group.h"
#include "analyzer/run/run_spec.h"
#include "analyzer/util/say.h"
#include "analyzer/render/formats.h"
#include "output.h"

int run_largest_check(const struct run_largest *own, struct err *err)
{
    if (own->vary && own->fit)
        return 0;
    const char *given = own->vary       ? "vary"
                        : own->fit      ? "fit"
                        : own->keep     ? "keep"
                        : own->max_runs ? "max-runs"
                                        : "json";
    return err_set(err, ERR_USAGE,
                   "option '--%s' belongs to the search for the largest value that fits: "
                   "--vary=BATCH:1..512 --fit=24GiB",
                   given);
}

static int read_card(struct fix *fix, const char *spec, struct err *err)
{
    if (run_spec_parse(spec, &fix->card, err))
        return -1;
    if (!fix->card.is_unlimited)
        return 0;
    return err_set(
        err, ERR_USAGE,
        "option '--fit': '%.100s' has no limit, so everything fits; give a size or a card", spec);
}

static int print(const struct fix *fix, const struct largest *largest,
                 const struct run_largest *own, const struct command_options *options,
                 struct err *err)
{
    const struct page_largest_options page = {own->fit, own->keep != NULL, run_group_stopped_by()};
    struct command_options shown = *options;
    if (own->json && !(shown.format = format_find("json", NULL, err)))
        return -1;
    struct doc *doc = page_largest(shown.format->reads, fix, largest, &page);
    if (!doc)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    shown.operand_count = 0; /* the operands are the program's words, not traces */
    const int failed = command_print(doc, &shown, err);
    doc_free(doc);
    if (failed)
        return -1;
    if (page.stopped_by)
        return 128 + page.stopped_by;
    return largest->end == LARGEST_FOUND || largest->end == LARGEST_ALL ? 0 : 1;
}

static int search_and_print(struct fix *fix, const struct run_largest *own,
                            const struct command_options *options, struct err *err)
{
    struct largest largest;
    run_group_watch();
    if (largest_find(&largest, fix, err))
        return -1;
    if (largest.end != LARGEST_FAILED)
        return print(fix, &largest, own, options, err);
    if (run_group_stopped_by()) {
        command_say(fix->command, "stopped in the first run, before there was a result");
        return 128 + run_group_stopped_by();
    }
    run_lines_refuse(fix, &fix->runs[fix->count - 1].trial,
                     "that was the smallest value, and no other was tried", err);
    return -1;
}

int run_largest(const struct run_largest *own, const struct command_options *options,
                const char *path, char **argv, struct err *err)
{
    const char *quiet = getenv("GPUMEMTRACE_QUIET");
    char folder[PATH_MAX];
    struct fix fix = {.command = options->command->name,
                      .path = path,
                      .folder = folder,
                      .argv = argv,
                      .argc = options->operand_count,
                      .vary_count = 1,
                      .max_runs = own->max_runs ? (size_t)own->max_runs : FIX_RUNS_STANDARD};
    if (!quiet || strcmp(quiet, "1") != 0) {
        fix.on_begin = run_lines_begin;
        fix.on_end = run_lines_end;
    }
    if (vary_find_range(&fix.varies[0], own->vary, fix.argv, fix.argc, err) ||
        read_card(&fix, own->fit, err) || folder_make(folder, own->keep, fix.command, err))
        return -1;
    int status = setenv("GPUMEMTRACE_QUIET", "1", 1);
    if (status)
        err_set(err, ERR_SYSTEM, "out of memory for the environment");
    else
        status = search_and_print(&fix, own, options, err);
    if (!own->keep)
        folder_remove(folder);
    fix_release(&fix);
    return status;
}
