/* SPDX-License-Identifier: MIT */
/*
 * One trace, ready to be asked: loaded, replayed, categorised, with names for its frames. And the
 * view: what of it a command was asked to show. It must not know any one command.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_STUDY_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_STUDY_H

#include "births.h"
#include "category.h"
#include "analyzer/analysis/steps/growth_watch.h"
#include "analyzer/analysis/steps/step_watch.h"
#include "nesting.h"
#include "phases.h"
#include "analyzer/analysis/series.h"
#include "analyzer/analysis/moments/local_peaks.h"
#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/load/event_reader.h"
#include "analyzer/load/trace.h"
#include "analyzer/whatif/whatif.h"
#include "analyzer/util/text_list.h"
#include "trace/not_known.h"

/* What will be asked of a study, beside who held memory at the peaks and at the failures. */
enum study_watch {
#define WATCH(name, type) STUDY_WATCH_##name,
#include "watches.def"
    STUDY_WATCHES
};
enum study_needs {
#define WATCH(name, type) STUDY_NEEDS_##name = 1 << STUDY_WATCH_##name,
#include "watches.def"
};
struct study_ask {
    unsigned needs;            /* STUDY_NEEDS_… */
    const char *at;            /* as moment.h has it; NULL: the peak */
    bool takes_library_ranges; /* NVTX ranges of libraries' own domains are phases, too */
    size_t stop_count;         /* moments evenly spaced in events: history.stops */
    struct timeline_ask timeline;
    int timeline_device; /* whose moments begin and end it; -1: see part_end.h */
    bool timeline_of_driver;
    bool wants_series;                /* of the timeline's moments: a second replay */
    enum breakdown_by timeline_by;    /* what each of its moments is broken down by */
    const struct whatif_ask *whatifs; /* replays of PyTorch's allocator, which outlive the study */
    size_t whatif_count;
    const struct observer *watcher; /* one more, of somebody who keeps what it sees; NULL: nobody */
};

struct study {
    struct trace trace;
    struct event_columns columns; /* of the first pass */
    struct history history;
    struct categories categories;
    struct symbols *symbols;
    struct step_ends ends; /* of the steps, for whatever asks for them */
    /* Empty unless asked for. */
#define WATCH(name, type) struct type name;
#include "watches.def"
    struct timelines timelines;
    struct series series;
    struct breakdown breakdown;      /* of the moments of the timelines */
    bool takes_library_ranges;       /* as in struct study_ask */
    const struct remedies *remedies; /* analyzer/remedy/; NULL: nobody asked for them */
    struct whatif whatif;            /* empty unless asked for */
};

/*
 * One pass over the events. Stops need their number before it, which SQLite counts; a timeline by phase or
 * category needs a second replay, because its moments are known after the first; one by steps needs
 * one before it, because any event may show that steps end otherwise; and so does each end of its
 * part that is a moment, because a peak is known at the end. Steps that nothing marks need a second
 * replay of what asks for steps: what repeats is known after the first; and so do those that an optimizer
 * hid which allocated in the first steps alone. The events stay open until trace_close_events, for whoever reads them again.
 */
int study_open(struct study *study, const char *path, const struct study_ask *ask, struct err *err);
void study_release(struct study *study);

/* One more pass, for observers that need what the first one found; its history is not kept. */
struct replay_plan;
int study_replay_again(const struct study *study, const struct replay_plan *plan, struct err *err);

struct view {
    int device;                /* -1: all */
    int layer;                 /* enum memory_layer; LAYER_none: all */
    const char *at;            /* NULL: the command's own moment */
    long top;                  /* sites per list; 0: not asked for */
    bool takes_library_ranges; /* as in struct study_ask */
    bool all_frames;           /* nothing of a stack is folded or cut */
    struct symbol_sources sources;
    const void *own; /* what only this command knows */
};

/* What a view asks for must be there: an empty answer would look like a program that used nothing. */
int study_check_view(const struct study *study, const struct view *view, struct err *err);

/* How many of count sites are asked for. */
size_t view_limit(const struct view *view, size_t count);

/* "device", "driver" or "pool", and the pool's name ("pytorch" unless it says otherwise; NULL: no
 * pool). */
const char *study_layer(const struct account *account);
const char *study_pool(const struct study *study, const struct account *account);

/* The leading account of the device, or that of the layer that was asked for; HISTORY_NONE: none. */
uint32_t study_account(const struct study *study, const struct device_use *use,
                       const struct view *view);

/*
 * The accounts a table speaks of: leading first, then the device's other pools, then the driver.
 * Managed, pinned and imported memory are in none of these. Fills at most limit and returns how many.
 */
size_t study_accounts(const struct study *study, const struct device_use *use,
                      const struct view *view, uint32_t *accounts, size_t limit);
enum { STUDY_ACCOUNTS_MAX = 64 };

/* The account of `other` that stands for an account of `study`: same device, kind and name of a pool. */
uint32_t study_counterpart(const struct study *other, const struct study *study, uint32_t account);

/* "device 0", or "an unknown device". */
#define STUDY_DEVICE_BYTES 32
const char *study_device_name(int device, char buffer[STUDY_DEVICE_BYTES]);

/* What its file does not say, of what no 0 is a figure. */
bool study_lacks(const struct study *study, enum lack lack);
/* An imported trace may know none: then all times are 0. */
bool study_has_times(const struct study *study);
/* A dry run on cards without limit (--dry-run=any): what their total says is nobody's. */
bool study_has_no_limit(const struct study *study);
/* A phase of it is a backward. */
bool study_has_backward(const struct study *study);
/* A dry run whose events were reached only when the host waited for them (--events=late). */
bool study_has_late_events(const struct study *study);
/* Total memory of a device; 0: not known, or it has no limit. */
uint64_t study_card_bytes(const struct study *study, int device);

/* "epoch/forward", or NULL outside any phase. */
const char *study_path(const struct study *study, uint32_t path);
/* What a dry run could not know; NULL: nothing, or it was none. */
const char *study_dry_run(const struct study *study);
/* What a reader must know before believing the figures; one sentence each. */
int study_warnings(const struct study *study, struct text_list *warnings, struct err *err);

#endif
