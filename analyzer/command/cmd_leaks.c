/* SPDX-License-Identifier: MIT */
/* `gpumemtrace leaks`: memory never freed, and growth per step. */
#include "analyzer/command.h"
#include "answer.h"

#include "analyzer/analysis/leaks.h"

struct own {
    bool fail;
    bool *found; /* something grows */
};

static int note_growth(const struct study *study, const struct device_use *use,
                       const struct view *view, struct err *err)
{
    const struct own *own = view->own;
    uint32_t stock = study_stock(study, use, view);
    struct growth growth;

    if (!own->fail || stock == HISTORY_NONE)
        return 0;
    if (growth_find(&growth, &study->history, stock, err))
        return -1;
    *own->found |= growth.count > 0;
    growth_release(&growth);
    return 0;
}

static int add_device(struct doc *doc, const struct study *study, const struct device_use *use,
                      const struct view *view, struct err *err)
{
    return note_growth(study, use, view, err) || docs_leaks(doc, study, use, view, err) ? -1 : 0;
}

int command_leaks(int argc, char **argv, struct err *err)
{
    static const struct answer answer = {
        .schema = "gpumemtrace.leaks/1", .device = add_device, .tail = docs_warnings};
    static const struct option_rule rules[] = {
        {"fail", 0, OPTION_FLAG, NULL, "exit 1 when a call stack grows with every step",
         offsetof(struct own, fail)},
        {0},
    };
    bool found = false;
    struct own own = {.found = &found};
    struct command_options options;
    int status;

    if (options_parse(&options, rules, &own, argc, argv, err))
        return -1;
    status = answer_print(&answer, &options, &own, err);
    return status ? status : found;
}
