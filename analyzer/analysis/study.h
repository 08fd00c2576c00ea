/* SPDX-License-Identifier: MIT */
/*
 * A study is one trace, loaded, replayed and categorised, with names for its frames; study_open.h
 * opens it. A view is the part of it that a command shows.
 */
#pragma once

#include "births.h"
#include "category.h"
#include "analyzer/analysis/steps/growth_watch.h"
#include "analyzer/analysis/steps/step_watch.h"
#include "analyzer/analysis/holders/holders.h"
#include "nesting.h"
#include "phases.h"
#include "analyzer/analysis/series.h"
#include "analyzer/analysis/moments/local_peaks.h"
#include "analyzer/analysis/over_time/breakdown.h"
#include "analyzer/analysis/over_time/timeline.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/load/event_reader.h"
#include "analyzer/load/load.h"
#include "analyzer/whatif/fit.h"
#include "analyzer/util/text_list.h"
#include "trace/not_known.h"

/* The analyses that a study can run during the replay, in addition to the sites at peaks and
 * failures. */
enum study_watch {
#define WATCH(name, type) STUDY_WATCH_##name,
#include "watches.def"
    STUDY_WATCHES
};
enum study_needs {
#define WATCH(name, type) STUDY_NEEDS_##name = 1 << STUDY_WATCH_##name,
#include "watches.def"
};
enum { STUDY_WATCHERS_MAX = 2 };
struct study_ask {
    struct opened_trace file;  /* the study takes it over; if not open, the study opens the path */
    unsigned needs;            /* STUDY_NEEDS_… */
    const char *at;            /* a moment, as in moment.h; NULL: the peak */
    bool takes_library_ranges; /* NVTX ranges in libraries' own domains also become phases */
    size_t stop_count;         /* number of moments, evenly spaced in events, in history.stops */
    struct timeline_ask timeline;
    int timeline_device; /* the device whose moments begin and end it; -1: see part_end.h */
    bool timeline_of_driver;
    bool wants_series;                /* fills `series` in a second replay; needs the timeline */
    enum breakdown_by timeline_by;    /* how each moment of the timeline is broken down */
    const struct whatif_ask *whatifs; /* replays of PyTorch's allocator; must outlive the study */
    size_t whatif_count;
    struct observers watchers; /* the caller's own observers: at most STUDY_WATCHERS_MAX */
};

struct study {
    struct trace trace;
    struct event_columns columns; /* the columns that the first pass read */
    struct history history;
    struct categories categories;
    struct symbols *symbols;
    struct step_ends ends; /* shared by the analyses that need steps */
    /* Rounds after the last step, and growth in them. Empty unless `needs` has growth, and more and
     * more was live then. */
    struct step_ends afterwards_ends;
    struct growth_watch afterwards;
    /* Each of these is empty unless `needs` has its bit. */
#define WATCH(name, type) struct type name;
#include "watches.def"
    struct timelines timelines;
    struct series series;
    struct breakdown breakdown;      /* at the timelines' moments */
    bool takes_library_ranges;       /* as in struct study_ask */
    const struct remedies *remedies; /* of analyzer/remedy/; NULL: not asked for */
    bool is_again;                   /* trace and symbols belong to another study */
    struct whatif whatif;            /* empty unless asked for */
    struct fit fit;                  /* empty unless asked for */
};

struct view {
    int device;                /* -1: all */
    int layer;                 /* enum memory_layer; LAYER_none: all */
    const char *at;            /* a moment; NULL: the command's default */
    long top;                  /* sites per list; 0: the default */
    bool takes_library_ranges; /* as in struct study_ask */
    bool all_frames;           /* fold and cut no stack */
    struct symbol_sources sources;
    const void *own; /* options that only this command has */
};

/* Fails if the trace lacks what the view asks for, because an empty result would look as if the
 * program had used no memory. */
int study_check_view(const struct study *study, const struct view *view, struct err *err);

/* The number of sites to show, if there are `count` sites. */
size_t view_limit(const struct view *view, size_t count);

/* study_layer: "device", "driver" or "pool"; "managed" or "host" for memory that no layer counts.
 * study_pool: the pool's name ("pytorch" by default); NULL: no pool. */
const char *study_layer(const struct account *account);
const char *study_pool(const struct study *study, const struct account *account);

/* The account of the view's layer, by default the device's leading one; HISTORY_NONE: none. */
uint32_t study_account(const struct study *study, const struct device_use *use,
                       const struct view *view);

/*
 * The accounts that tables list: first the leading account, then the device's other pools, then the
 * driver. Managed, pinned and imported memory are left out. Fills at most `limit` accounts and
 * returns their number.
 */
size_t study_accounts(const struct study *study, const struct device_use *use,
                      const struct view *view, uint32_t *accounts, size_t limit);
enum { STUDY_ACCOUNTS_MAX = 64 };
/* Does the same, and adds managed and pinned memory if the program allocated any. */
size_t study_leak_accounts(const struct study *study, const struct device_use *use,
                           const struct view *view, uint32_t *accounts, size_t limit);

/* The account of `other` with the same device, kind and pool name as an account of `study`. */
uint32_t study_counterpart(const struct study *other, const struct study *study, uint32_t account);

/* "device 0", or "an unknown device". */
#define STUDY_DEVICE_BYTES 32
const char *study_device_name(int device, char buffer[STUDY_DEVICE_BYTES]);

/* True if the trace's file does not have this figure, so that its 0 means "unknown". */
bool study_lacks(const struct study *study, enum lack lack);
/* False for an imported trace without times, in which all times are 0. */
bool study_has_times(const struct study *study);
/* True for a dry run on cards without limit (--dry-run=any): their reported total is
 * meaningless. */
bool study_has_no_limit(const struct study *study);
/* True if any phase of the trace is a backward. */
bool study_has_backward(const struct study *study);
/* True for a dry run in which CUDA events completed only when the host waited for them
 * (--events=late). */
bool study_has_late_events(const struct study *study);
/* Total memory of a device. 0: it is unknown, or the card has no limit (--dry-run=any). */
uint64_t study_card_bytes(const struct study *study, int device);
/* The same, but 16 GiB for a card without limit: idle memory that matters on the smallest card in
 * common use matters to the choice of a card. */
uint64_t study_judged_card_bytes(const struct study *study, int device);

/* "epoch/forward", or NULL outside any phase. */
const char *study_path(const struct study *study, uint32_t path);
/* A text that says what a dry run could not know. NULL: the trace is of no dry run, or there is
 * nothing to say. */
const char *study_dry_run(const struct study *study);
/* Adds warnings about the figures, one sentence each. */
int study_warnings(const struct study *study, struct text_list *warnings, struct err *err);
