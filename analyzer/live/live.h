/* SPDX-License-Identifier: MIT */
/*
 * The view of a growing trace at this moment. Sums, graph and phases are updated by each live_step.
 * Sites, growth and the ledger take longer, so they are computed less often (live_sites.h). If the
 * replay is behind the recorder, the sums are those that the recorder's writer counted.
 */
#pragma once

#include "analyzer/analysis/study.h"
#include "follow.h"

/* The parts of the card. Each byte of the card is in exactly one. */
enum live_part {
    LIVE_PART_live,    /* live bytes of the layer that is shown */
    LIVE_PART_cached,  /* in a framework's pool, but not handed out */
    LIVE_PART_driver,  /* other driver memory of this process */
    LIVE_PART_context, /* the context, with modules and limits */
    LIVE_PART_others,  /* other processes */
    LIVE_PART_free,
    LIVE_PARTS
};

enum live_sort { LIVE_SORT_bytes, LIVE_SORT_growth, LIVE_SORT_blocks, LIVE_SORTS };

enum { LIVE_ROWS = 100, LIVE_TEXT_BYTES = 256, LIVE_POINTS = 2048, LIVE_PHASES = 26 };

struct live_row {
    uint64_t bytes, count;
    double growth_bytes; /* per training step; 0: no growth, or unknown */
    char site[LIVE_TEXT_BYTES], phase[LIVE_TEXT_BYTES];
};

/* The sites of the layer. They are older than the rest of the view, because finding them takes
 * longer. */
struct live_held {
    struct live_row rows[LIVE_ROWS];
    size_t row_count;
    uint64_t at_ns, steps; /* steps: training steps that had ended at at_ns */
    bool has_growth;       /* enough steps have ended to compute growth */
};

/* Everything that is shown. It is copied and contains no pointers. */
struct live_view {
    char program[LIVE_TEXT_BYTES], trace[LIVE_TEXT_BYTES];
    int64_t pid;     /* -1: unknown */
    bool is_waiting; /* the recorder is just creating the trace */
    bool is_recording, is_complete, has_account;
    uint64_t now_ns;    /* time of the sums, since the start */
    uint64_t behind_ns; /* how far the replay is behind the stored events */
    bool is_held;       /* the only missing events wait for a call that has not returned */
    bool is_ahead;      /* the sums are those of the recorder's writer */
    uint64_t events, events_per_s, lost_events;

    int device;
    char card[LIVE_TEXT_BYTES], layer[LIVE_TEXT_BYTES], phase[LIVE_TEXT_BYTES];
    uint64_t live_bytes, peak_bytes;
    uint64_t peak_ns;      /* 0: unknown */
    uint64_t total_bytes;  /* of the card; 0: unknown */
    uint64_t failed_count; /* failed allocations of the process */
    uint64_t parts[LIVE_PARTS];

    struct live_held held;

    int64_t points[LIVE_POINTS]; /* live bytes; -1: unknown, because no look was taken then */
    uint8_t phases[LIVE_POINTS]; /* 1 + index into phase_names; 0: no phase */
    char phase_names[LIVE_PHASES][LIVE_TEXT_BYTES];
    size_t point_count, phase_count;
    uint64_t point_ns; /* time between two points; the last point is now */
};

/* The user's choices of what is shown. */
struct live_choice {
    int device; /* device number; -1: the first device */
    int layer;  /* enum memory_layer; LAYER_none: the leading one */
    enum live_sort sort;
    bool is_whole; /* the graph shows the whole run, not only its last minutes */
};

struct live;
struct live *live_open(const char *path, struct err *err);
/* Reads more of the trace for about budget_ns. Returns 1 if the program has ended and everything is
 * read. */
int live_step(struct live *live, uint64_t budget_ns, struct err *err);
/* Fills the view with the state after the last live_step. */
int live_look(struct live *live, const struct live_choice *choice, struct live_view *view,
              struct err *err);
/* Choose the next device, and the other layer (driver or framework's pool). */
void live_next_device(const struct live *live, struct live_choice *choice);
void live_next_layer(struct live_choice *choice);
void live_close(struct live *live);
