/* SPDX-License-Identifier: MIT */
/* `gpumemtrace diff`: what changed between two traces, or two moments of one. What it says is page/diff. */
#include "answer.h"
#include "analyzer/load/memory_limit.h"

#include "analyzer/page/diff/diff.h"

struct diff_given {
    struct option_texts at;
    int by;
};

/* One moment is meant for both traces; of one trace it is what the other moment is compared with. */
static int choose_moments(struct page_diff_options *own, const struct diff_given *given,
                          int trace_count, struct err *err)
{
    if (given->at.count > 2 || (trace_count == 1 && !given->at.count)) {
        err_set(err, ERR_USAGE,
                given->at.count > 2
                    ? "--at may be given twice: for the moment before, and for the one after"
                    : "diff compares two traces, or two moments of one: give a second TRACE, or "
                      "--at=WHEN twice");
        return -1;
    }
    own->by = given->by;
    own->at[0] = given->at.count ? given->at.values[0] : NULL;
    own->at[1] = given->at.count ? given->at.values[given->at.count - 1] : NULL;
    if (trace_count == 1 && given->at.count == 1)
        own->at[0] = "peak";
    return 0;
}

int command_diff(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"at", 0, OPTION_TEXTS, "WHEN",
         "the moment: peak, end, a time (1.5s), a sequence number, phase:NAME or oom:N (default "
         "peak); given twice, the one before and the one after",
         offsetof(struct diff_given, at)},
        {"by", 0, OPTION_CHOICE, "site|category|phase|layer", "what the rows are (default site)",
         offsetof(struct diff_given, by)},
        {0},
    };
    struct diff_given given = {0};
    struct page_diff_options own = {0};
    struct command_options options;
    struct study before;
    int status = -1;

    if (options_parse(&options, command, rules, &given, argc, argv, err) ||
        choose_moments(&own, &given, options.operand_count, err))
        return -1;
    memory_limit_set(options.memory_limit_bytes);
    const struct view view = answer_view(&options, &own);
    const struct study_ask ask = {.at = own.at[0],
                                  .takes_library_ranges = view.takes_library_ranges};
    if (study_open(&before, options.operands[0], &ask, err))
        return -1;
    trace_close_events(&before.trace);
    own.before = &before;
    if (!symbols_set_sources(before.symbols, &view.sources, err)) {
        const char *const *last = &options.operands[options.operand_count - 1];
        struct command_options of_last = options;

        of_last.operands = (const char **)last;
        of_last.operand_count = 1;
        status = answer_print(&page_diff, &of_last, &own, err);
    }
    study_release(&before);
    return status;
}
