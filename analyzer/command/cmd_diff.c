/* SPDX-License-Identifier: MIT */
/* `gpumemtrace diff`: the change between two traces, two jobs, or two moments of one trace.
 * page/diff/ writes the answer. */
#include "answer.h"
#include "output.h"

#include "analyzer/job/trace_files.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/page/job/two_jobs_page.h"
#include "analyzer/reading/reading.h"

struct diff_given {
    struct option_texts at;
    int by;
};

/* The traces of both sides. The two are the same if two moments of one trace are compared. */
struct diff_sides {
    struct trace_files files[2];
    bool are_jobs;
};

static int find_sides(struct diff_sides *sides, const struct command_options *options,
                      struct err *err)
{
    const int last = options->operand_count - 1;
    if (trace_files_find(&sides->files[0], &options->operands[0], 1, err))
        return -1;
    if (trace_files_find(&sides->files[1], &options->operands[last], 1, err)) {
        trace_files_release(&sides->files[0]);
        return -1;
    }
    sides->are_jobs = sides->files[0].count > 1 || sides->files[1].count > 1;
    return 0;
}

static void release_sides(struct diff_sides *sides)
{
    trace_files_release(&sides->files[0]);
    trace_files_release(&sides->files[1]);
}

/* Chooses the moments to compare. A single --at applies to both traces. If there is only one trace,
 * its peak is compared with the moment of --at. */
static int choose_moments(struct page_diff_options *own, const struct diff_given *given,
                          int operand_count, struct err *err)
{
    if (given->at.count > 2 || (operand_count == 1 && !given->at.count))
        return err_set(
            err, ERR_USAGE,
            given->at.count > 2
                ? "--at may be given twice: for the moment before, and for the one after"
                : "diff compares two traces, two folders of them, or two moments of one: give "
                  "a second TRACE, or --at=WHEN twice");
    own->by = given->by;
    own->at[0] = given->at.count ? given->at.values[0] : NULL;
    own->at[1] = given->at.count ? given->at.values[given->at.count - 1] : NULL;
    if (operand_count == 1 && given->at.count == 1)
        own->at[0] = "peak";
    return 0;
}

static int compare_traces(const struct command_options *options, const struct diff_sides *sides,
                          const struct page_diff_options *given, struct err *err)
{
    struct page_diff_options own = *given;
    const struct view view = answer_view(options, &own);
    struct command_options of_last = *options;
    struct reading_ask ask;
    struct reading before;
    page_diff_ask_before(&ask, &view);
    if (reading_open(&before, sides->files[0].paths[0], NULL, &ask, NULL, err))
        return -1;
    own.before = &before.study;
    of_last.operands = sides->files[1].paths;
    of_last.operand_count = 1;
    const int status = answer_print(&page_diff, &of_last, &own, err);
    reading_release(&before);
    return status;
}

static int compare_jobs(const struct command_options *options, const struct diff_sides *sides,
                        const struct page_diff_options *own, struct err *err)
{
    const struct view view = answer_view(options, own);
    enum doc_level reads;
    struct doc *doc = NULL;
    if (own->at[0] || options->layer == LAYER_pool)
        return err_set(
            err, ERR_USAGE,
            "two folders are compared by the peaks of the leading layers, or with --layer=driver "
            "by those of the driver; for anything else give two traces in place of folders");
    if (answer_reads(&reads, options, err) ||
        page_build_two_jobs(&doc, reads, &view, &sides->files[0], &sides->files[1],
                            options->every_trace, err))
        return -1;
    const int status = command_print(doc, options, err);
    doc_free(doc);
    return status;
}

int command_diff(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"at", 0, OPTION_TEXTS, "WHEN",
         "the moment: peak, end, a time (1.5s), a sequence number, phase:NAME or oom:N (default "
         "peak); given twice: the moment before, then the moment after",
         offsetof(struct diff_given, at)},
        {"by", 0, OPTION_CHOICE, "site|category|phase|layer",
         "what each row stands for (default site)", offsetof(struct diff_given, by)},
        {0},
    };
    struct diff_given given = {0};
    struct page_diff_options own = {0};
    struct command_options options;
    struct diff_sides sides;
    if (options_parse(&options, command, rules, &given, argc, argv, err) ||
        choose_moments(&own, &given, options.operand_count, err) ||
        find_sides(&sides, &options, err))
        return -1;
    memory_limit_set(options.memory_limit_bytes);
    const int status = sides.are_jobs ? compare_jobs(&options, &sides, &own, err)
                                      : compare_traces(&options, &sides, &own, err);
    release_sides(&sides);
    return status;
}
