/* SPDX-License-Identifier: MIT */
/* The request and the results of `fix`: all runs, and the remedies found among the runs. */
#pragma once

#include "settings.h"
#include "trial.h"
#include "vary.h"

enum { FIX_VARIES_MAX = 8, FIX_RUNS_STANDARD = 16 };

/* A change to the program's run: a setting, another value of a number, or both. */
struct fix_change {
    enum fix_setting_key setting; /* SETTING_NONE: no setting */
    size_t number;                /* index in `varies` */
    long value;                   /* the value of that number; 0: no number is changed */
};

struct fix_run {
    struct fix_change change;
    struct trial trial;
};

/* A change with which the program fits. */
struct fix_remedy {
    size_t run;
    long refused; /* the smallest larger value whose run did not fit; 0: none */
};

struct fix {
    /* The caller sets the fields up to on_end. */
    const char *command; /* `fix` or `run`, for messages on stderr */
    const char *path;    /* path of the program */
    char **argv;
    int argc;
    struct sim_spec card;
    const char *folder; /* folder for the traces */
    struct vary varies[FIX_VARIES_MAX];
    size_t vary_count;
    size_t max_runs;
    /*
     * on_begin is called before each run, and on_end after it. In on_end the run is
     * runs[count - 1]. Both may be NULL.
     */
    void (*on_begin)(const struct fix *fix, const struct fix_change *change);
    void (*on_end)(const struct fix *fix);

    struct fix_run *runs; /* the first run has no change */
    size_t count, capacity;
    struct fix_setting settings[SETTING_COUNT];
    /* the cheapest remedy first */
    struct fix_remedy remedies[SETTING_COUNT + 2 * FIX_VARIES_MAX];
    size_t remedy_count;
    bool is_out_of_runs; /* max_runs was reached before the search was over */
};

/* Adds the change as text: "PYTORCH_ALLOC_CONF=expandable_segments:True and batch-size 24". Adds
 * nothing if there is no change. */
void fix_change_text(struct text *text, const struct fix *fix, const struct fix_change *change);
/* Adds a line for a shell: "BATCH=24 python train.py". */
void fix_change_line(struct text *text, const struct fix *fix, const struct fix_change *change);

/*
 * Makes one more run, or two if the first one crashed. Returns 1 if the program fits, 0 if it does
 * not or if no run is left, and -1 with *err on an error.
 */
int fix_try(struct fix *fix, const struct fix_change *change, struct err *err);

/* Makes the first run. If that run lacks memory, makes all other runs. */
int fix_search(struct fix *fix, struct err *err);
void fix_release(struct fix *fix);
