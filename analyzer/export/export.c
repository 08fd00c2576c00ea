/* SPDX-License-Identifier: MIT */
/* Opens a trace for a format, and has helpers that several formats use; see export.h. */
#include "export.h"

#include "analyzer/analysis/study_open.h"
#include "analyzer/replay/replay.h"
#include "analyzer/symbol/keep_names.h"

int export_open(struct export *export, const struct export_format *format, const struct view *view,
                const char *path, struct err *err)
{
    *export = (struct export){.format = format, .view = *view};
    if (view->at && !format->at)
        return err_set(err, ERR_USAGE,
                       "--at: %s has all events and no moment; leave the option out", format->name);
    if (!view->at)
        export->view.at = format->at;
    const struct study_ask ask = {.at = export->view.at,
                                  .takes_library_ranges = view->takes_library_ranges};
    if (study_open(&export->study, path, &ask, err))
        return -1;
    if (study_check_view(&export->study, &export->view, err) ||
        symbols_set_sources(export->study.symbols, &export->view.sources, err)) {
        export_close(export);
        return -1;
    }
    return 0;
}

int export_write(struct export *export, FILE *out, struct err *err)
{
    export->out = out;
    if (export->format->write(export, err))
        return -1;
    trace_close_events(&export->study.trace);
    return keep_names(&export->study.trace, export->study.symbols, err);
}

int export_replay(const struct export *export, const struct observer *observer, uint64_t most,
                  struct err *err)
{
    const struct replay_plan plan = {.rule_of = category_rule_of,
                                     .takes_library_ranges = export->view.takes_library_ranges,
                                     .events_most = most,
                                     .observers = {observer, 1}};
    return study_replay_again(&export->study, &plan, err);
}

void export_close(struct export *export)
{
    study_release(&export->study);
}

const char *export_layer_text(const struct export *export, uint32_t number,
                              char text[EXPORT_LAYER_BYTES])
{
    const struct account *account = &export->study.history.accounts[number];
    const char *pool = study_pool(&export->study, account);
    char device[STUDY_DEVICE_BYTES];
    snprintf(text, EXPORT_LAYER_BYTES, "%s (%.250s%s)", study_device_name(account->device, device),
             pool ? pool : study_layer(account), pool ? " pool" : "");
    return text;
}
