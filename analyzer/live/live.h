/* SPDX-License-Identifier: MIT */
/*
 * A trace that grows, ready to be asked what there is to see now. Sums, the graph and phases are as of each
 * step; sites, growth and the ledger take longer, and are found again when that has paid off. Where the
 * replay is behind, the sums are those of the recorder's writer. It must not know how this is shown.
 */
#ifndef GPUMEMTRACE_ANALYZER_LIVE_LIVE_H
#define GPUMEMTRACE_ANALYZER_LIVE_LIVE_H

#include "analyzer/analysis/study.h"
#include "follow.h"

/* Of all bytes of the card, each once. */
enum live_part {
    LIVE_PART_live,    /* of the layer that is shown */
    LIVE_PART_cached,  /* held by a framework's pool, and not handed out */
    LIVE_PART_driver,  /* else of this process */
    LIVE_PART_context, /* with modules and limits */
    LIVE_PART_others,  /* other processes */
    LIVE_PART_free,
    LIVE_PARTS
};

enum live_sort { LIVE_SORT_bytes, LIVE_SORT_growth, LIVE_SORT_blocks, LIVE_SORTS };

enum { LIVE_ROWS = 100, LIVE_TEXT_BYTES = 256, LIVE_POINTS = 2048, LIVE_PHASES = 26 };

struct live_row {
    uint64_t bytes, count;
    double growth_bytes; /* a step; 0: it does not grow, or nobody can tell */
    char site[LIVE_TEXT_BYTES], phase[LIVE_TEXT_BYTES];
};

/* Who holds it; to find that takes longer, so it is older than the rest. */
struct live_held {
    struct live_row rows[LIVE_ROWS];
    size_t row_count;
    uint64_t at_ns, steps; /* steps that had ended then */
    bool has_growth;       /* those are enough */
};

/* What there is to see; nothing in it points anywhere. */
struct live_view {
    char program[LIVE_TEXT_BYTES], trace[LIVE_TEXT_BYTES];
    int64_t pid;     /* -1: not known */
    bool is_waiting; /* the recorder is just making the trace */
    bool is_recording, is_complete, has_account;
    uint64_t now_ns;    /* of the sums, after the start */
    uint64_t behind_ns; /* how much older all else is */
    bool is_held;       /* all that is left is behind a call that has not returned */
    bool is_ahead;      /* the sums are the writer's */
    uint64_t events, events_per_s, lost_events;

    int device;
    char card[LIVE_TEXT_BYTES], layer[LIVE_TEXT_BYTES], phase[LIVE_TEXT_BYTES];
    uint64_t live_bytes, peak_bytes;
    uint64_t peak_ns;      /* 0: not known yet */
    uint64_t total_bytes;  /* of the card; 0: not known */
    uint64_t failed_count; /* of the process */
    uint64_t parts[LIVE_PARTS];

    struct live_held held;

    int64_t points[LIVE_POINTS]; /* live bytes, -1: before the beginning */
    uint8_t phases[LIVE_POINTS]; /* 1 + number of a name, 0: outside any */
    char phase_names[LIVE_PHASES][LIVE_TEXT_BYTES];
    size_t point_count, phase_count;
    uint64_t point_ns; /* between two of them; the last is now */
};

/* What is shown of it. */
struct live_choice {
    int device; /* number; -1: the first */
    int layer;  /* enum memory_layer; LAYER_none: the leading one */
    enum live_sort sort;
    bool is_whole; /* the graph: the run, not its last minutes */
};

struct live;
struct live *live_open(const char *path, struct err *err);
/* Reads on for about so long. 1: all is read and the program has ended. */
int live_step(struct live *live, uint64_t budget_ns, struct err *err);
/* As of the last step. */
int live_look(struct live *live, const struct live_choice *choice, struct live_view *view,
              struct err *err);
/* The next of its devices; the other layer, where there is one. */
void live_next_device(const struct live *live, struct live_choice *choice);
void live_next_layer(struct live_choice *choice);
void live_close(struct live *live);

#endif
