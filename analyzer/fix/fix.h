/* SPDX-License-Identifier: MIT */
/*
 * What `fix` was asked, and what it found: every run, and of them the remedies. It must not know the order
 * in which runs are made.
 */
#ifndef GPUMEMTRACE_ANALYZER_FIX_FIX_H
#define GPUMEMTRACE_ANALYZER_FIX_FIX_H

#include "settings.h"
#include "trial.h"
#include "vary.h"

enum { FIX_VARIES_MAX = 8, FIX_RUNS_STANDARD = 16 };

/* What is not as it was. */
struct fix_change {
    enum fix_setting_key setting; /* SETTING_NONE: none */
    long values[FIX_VARIES_MAX];  /* of the varied numbers, as it was or smaller */
};

struct fix_run {
    struct fix_change change;
    struct trial trial;
};

/* Seen to fit. */
struct fix_remedy {
    size_t run;
    long refused; /* the smallest value above it that was seen not to fit; 0: none */
};

struct fix {
    /* The caller's to set. */
    const char *command; /* that asks, in what it says on stderr */
    const char *path;    /* of the program */
    char **argv;
    int argc;
    struct sim_spec card;
    const char *folder; /* of the traces */
    struct vary varies[FIX_VARIES_MAX];
    size_t vary_count;
    size_t max_runs;
    /* After each run, that of runs[count - 1]; and before it. May be NULL. */
    void (*on_begin)(const struct fix *fix, const struct fix_change *change);
    void (*on_end)(const struct fix *fix);

    struct fix_run *runs; /* the first without a change */
    size_t count, capacity;
    struct fix_setting settings[SETTING_COUNT];
    struct fix_remedy remedies[SETTING_COUNT + 2 * FIX_VARIES_MAX + 1]; /* the cheapest first */
    size_t remedy_count;
    bool is_out_of_runs; /* something was left to try */
};

struct fix_change fix_no_change(const struct fix *fix);
/* Of a change: which numbers are smaller than they were. */
bool fix_is_varied(const struct fix *fix, const struct fix_change *change, size_t number);
/* "PYTORCH_ALLOC_CONF=expandable_segments:True and batch-size 24"; "": nothing. */
void fix_change_text(struct text *text, const struct fix *fix, const struct fix_change *change);
/* A line for a shell: "BATCH=24 python train.py". */
void fix_change_line(struct text *text, const struct fix *fix, const struct fix_change *change);

/* One more run, two where the first crashed. 1: it fits; 0: it does not, or there was none to be had;
 * -1 and *err. */
int fix_try(struct fix *fix, const struct fix_change *change, struct err *err);
/* Runs that may still be made. */
size_t fix_runs_left(const struct fix *fix);

/* Makes the first run and, where that does not fit for want of memory, all others. */
int fix_search(struct fix *fix, struct err *err);
void fix_release(struct fix *fix);

#endif
