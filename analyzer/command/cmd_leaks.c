/* SPDX-License-Identifier: MIT */
/* `gpumemtrace leaks`: memory never freed, and growth per step. What it says is page/leaks.c. */
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
    if (growth_find(&growth, &study->growth, stock, err))
        return -1;
    *own->found |= growth.count > 0;
    growth_release(&growth);
    return 0;
}

static int note_and_add_leaks(struct doc *doc, const struct study *study,
                              const struct device_use *use, const struct view *view,
                              struct err *err)
{
    return note_growth(study, use, view, err) || page_leaks.device(doc, study, use, view, err) ? -1
                                                                                               : 0;
}

int command_leaks(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"fail", 0, OPTION_FLAG, NULL, "exit 1 when a call stack grows with every step",
         offsetof(struct own, fail)},
        {0},
    };
    bool found = false;
    struct own own = {.found = &found};
    struct page page = page_leaks;
    struct command_options options;
    int status;

    if (options_parse(&options, command, rules, &own, argc, argv, err))
        return -1;
    page.device = note_and_add_leaks;
    status = answer_print(&page, &options, &own, err);
    return status ? status : found;
}
