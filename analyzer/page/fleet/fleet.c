/* SPDX-License-Identifier: MIT */
/* The document of a run; see fleet.h. */
#include "fleet.h"

#include "analyzer/page/verdict/verdict.h"
#include "stand_out.h"

enum { SUMMARY_ROWS = 10 };

/* --- a table of an answer, with its columns in the engine's order --- */

struct shown_column {
    const char *key, *label;
    enum doc_unit unit;
    bool is_detail;
};

struct shown_table {
    enum query query;
    const char *key, *heading;
    const struct shown_column *columns;
    size_t summary_rows; /* rows that a summary shows; 0: the whole table is a detail */
};

static void add_cell(struct doc *doc, const struct answer_table *answer, size_t row,
                     const struct shown_column *column)
{
    const char *text = answer_text(answer, row, column->key);
    doc_detail_if(doc, column->is_detail);
    if (!text)
        doc_null(doc, column->key, column->label, column->unit);
    else if (column->unit == DOC_TEXT)
        doc_text(doc, column->key, column->label, *text ? text : NULL);
    else
        doc_integer(doc, column->key, column->label, column->unit,
                    answer_integer(answer, row, column->key));
}

static void add_table(struct doc *doc, const struct fleet *fleet, const struct shown_table *table)
{
    const struct answer_table *answer = &fleet->answers[table->query];
    doc_list_begin(doc_detail_if(doc, !table->summary_rows), table->key, table->heading);
    for (size_t i = 0; i < answer->row_count; i++) {
        doc_row_begin(doc_detail_if(doc, i >= table->summary_rows));
        for (const struct shown_column *column = table->columns; column->key; column++)
            add_cell(doc, answer, i, column);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

#define RANK                                                                                       \
    {                                                                                              \
        "rank", "Rank", DOC_COUNT, false                                                           \
    }
#define PROCESS                                                                                    \
    {                                                                                              \
        "process", "Process", DOC_COUNT, true                                                      \
    }
#define DEVICE                                                                                     \
    {                                                                                              \
        "device", "Device", DOC_COUNT, true                                                        \
    }

static const struct shown_column peaks[] = {
    RANK,
    PROCESS,
    DEVICE,
    {"host", "Host", DOC_TEXT, false},
    {"layer", "Layer", DOC_TEXT, true},
    {"uuid", "UUID", DOC_TEXT, true},
    {"name", "Card", DOC_TEXT, true},
    {"total_bytes", "Of the card", DOC_BYTES, true},
    {"peak_bytes", "Peak", DOC_BYTES, false},
    {"peak_time_ns", "At", DOC_NS, true},
    {"peak_phase", "Phase", DOC_TEXT, false},
    {"driver_peak_bytes", "Driver", DOC_BYTES, false},
    {"reserved_peak_bytes", "Reserved", DOC_BYTES, true},
    {"live_at_exit_bytes", "Left at exit", DOC_BYTES, false},
    {"failed", "Refused", DOC_COUNT, true},
    {"leak", "Leak", DOC_TEXT, false},
    {"steps", "Steps", DOC_COUNT, true},
    {"bytes_per_step", "Per step", DOC_DELTA, true},
    {"leak_bytes_per_step", "Leaks", DOC_BYTES, true},
    {"ended", "Ended", DOC_TEXT, false},
    {0}};
static const struct shown_column differences[] = {RANK,
                                                  PROCESS,
                                                  DEVICE,
                                                  {"more_bytes", "More", DOC_DELTA, false},
                                                  {"bytes", "Bytes", DOC_BYTES, false},
                                                  {"usual_bytes", "Median rank", DOC_BYTES, false},
                                                  {"site", "Held by", DOC_TEXT, false},
                                                  {0}};
static const struct shown_column growth[] = {RANK,
                                             PROCESS,
                                             DEVICE,
                                             {"leak", "Verdict", DOC_TEXT, false},
                                             {"steps", "Steps", DOC_COUNT, false},
                                             {"bytes_per_step", "Per step", DOC_DELTA, false},
                                             {"leak_bytes_per_step", "Leaks", DOC_BYTES, false},
                                             {"site", "Most by", DOC_TEXT, false},
                                             {0}};
static const struct shown_column failures[] = {RANK,
                                               PROCESS,
                                               DEVICE,
                                               {"number", "No.", DOC_COUNT, true},
                                               {"layer", "Layer", DOC_TEXT, true},
                                               {"unix_ns", "Clock", DOC_COUNT, true},
                                               {"time_ns", "At", DOC_NS, false},
                                               {"phase", "Phase", DOC_TEXT, false},
                                               {"asked_bytes", "Asked", DOC_BYTES, false},
                                               {"live_bytes", "Live", DOC_BYTES, false},
                                               {"verdict", "Verdict", DOC_TEXT, false},
                                               {"kind", "Kind", DOC_TEXT, false},
                                               {"site", "Site", DOC_TEXT, false},
                                               {"explanation", "Why", DOC_TEXT, true},
                                               {0}};
static const struct shown_column endings[] = {RANK,
                                              PROCESS,
                                              {"host", "Host", DOC_TEXT, false},
                                              {"pid", "Process id", DOC_COUNT, true},
                                              {"ended", "Ended", DOC_TEXT, false},
                                              {"lost_events", "Lost events", DOC_COUNT, false},
                                              {"events", "Events", DOC_COUNT, false},
                                              {"ended_why", "Why", DOC_TEXT, false},
                                              {"end_unix_ns", "Clock", DOC_COUNT, true},
                                              {0}};
static const struct shown_column nodes[] = {
    {"host", "Host", DOC_TEXT, false},
    {"ranks", "Ranks", DOC_COUNT, false},
    {"devices", "Devices", DOC_COUNT, true},
    {"highest_bytes", "Highest peak", DOC_BYTES, false},
    {"highest_rank", "Of rank", DOC_COUNT, false},
    {"lowest_bytes", "Lowest", DOC_BYTES, false},
    {"driver_sum_bytes", "Sum of the driver's", DOC_BYTES, true},
    {"refused", "Refused", DOC_COUNT, false},
    {"killed", "Killed", DOC_COUNT, false},
    {0}};
static const struct shown_column categories[] = {RANK,
                                                 PROCESS,
                                                 DEVICE,
                                                 {"category", "Category", DOC_TEXT, false},
                                                 {"bytes", "Bytes", DOC_BYTES, false},
                                                 {0}};
static const struct shown_column history[] = {{"run", "Run", DOC_TEXT, false},
                                              {"week", "Week of", DOC_TEXT, false},
                                              {"first_unix_ns", "Clock", DOC_COUNT, true},
                                              {"ranks", "Ranks", DOC_COUNT, false},
                                              {"highest_bytes", "Highest peak", DOC_BYTES, false},
                                              {"median_bytes", "Median", DOC_BYTES, false},
                                              {"refused", "Refused", DOC_COUNT, false},
                                              {"killed", "Killed", DOC_COUNT, false},
                                              {0}};
static const struct shown_column against_ranks[] = {
    RANK,
    PROCESS,
    DEVICE,
    {"more_bytes", "More", DOC_DELTA, false},
    {"peak_bytes", "Peak", DOC_BYTES, false},
    {"other_peak_bytes", "Of the other", DOC_BYTES, false},
    {0}};
static const struct shown_column against_sites[] = {
    {"more_bytes", "More", DOC_DELTA, false},
    {"bytes", "Bytes", DOC_BYTES, false},
    {"other_bytes", "Of the other", DOC_BYTES, false},
    {"site", "Held by", DOC_TEXT, false},
    {0}};

static const struct shown_table tables[] = {
    {QUERY_difference, "difference", "What holds the difference", differences, SUMMARY_ROWS},
    {QUERY_failures, "failures", "Failed allocations, the earliest first", failures, SUMMARY_ROWS},
    {QUERY_growth, "growth", "Growth per step", growth, SUMMARY_ROWS},
    {QUERY_endings, "endings", "Did not exit, or lost events", endings, SUMMARY_ROWS},
    {QUERY_nodes, "hosts", "Hosts", nodes, SUMMARY_ROWS},
    {QUERY_against_ranks, "against_ranks", "Beside the other run, by rank", against_ranks,
     SUMMARY_ROWS},
    {QUERY_against_sites, "against_sites", "Beside the other run, by site, of each device",
     against_sites, SUMMARY_ROWS},
    {QUERY_history, "history", "Runs of this job", history, SUMMARY_ROWS},
    {QUERY_peaks, "ranks", "Ranks", peaks, SUMMARY_ROWS},
    {QUERY_categories, "categories", "Held at the peaks, by category", categories, 0},
};

/* --- the run, and the devices that stand out --- */

static void add_spread(struct doc *doc, const struct fleet *fleet)
{
    static const struct shown_column columns[] = {
        {"ranks", "Ranks with memory", DOC_COUNT, false},
        {"places", "Devices", DOC_COUNT, false},
        {"lowest_bytes", "Lowest peak", DOC_BYTES, false},
        {"median_bytes", "Median", DOC_BYTES, false},
        {"highest_bytes", "Highest", DOC_BYTES, false},
        {"highest_rank", "Of rank", DOC_COUNT, false},
        {"mean_bytes", "Mean", DOC_BYTES, false},
        {"deviation_bytes", "Standard deviation", DOC_BYTES, false},
        {"sum_bytes", "Sum", DOC_BYTES, true},
        {"leaking", "With a leak", DOC_COUNT, true},
        {0}};
    doc_object_begin(doc, "job", "Job");
    doc_text(doc, "job", "Job", fleet->job);
    doc_text(doc, "run", "Run", fleet->run);
    if (*fleet->other_job) {
        doc_text(doc, "other_job", "Beside job", fleet->other_job);
        doc_text(doc, "other_run", "Run", fleet->other_run);
    }
    for (const struct shown_column *column = columns; column->key; column++)
        add_cell(doc, &fleet->answers[QUERY_spread], 0, column);
    doc_object_end(doc);
}

static void add_stand_out(struct doc *doc, const struct stand_outs *found,
                          const struct stand_out *one, const struct fleet *fleet)
{
    char label[STAND_OUT_LABEL_BYTES];
    doc_text(doc_summary(doc), NULL, "Who", stand_out_label(found, one, label));
    doc_integer(doc_detail(doc), "rank", "Rank", DOC_COUNT, one->rank);
    doc_integer(doc_detail(doc), "process", "Process", DOC_COUNT, one->process);
    doc_known_integer(doc_detail(doc), "device", "Device", DOC_COUNT, one->device != INT64_MIN,
                      one->device);
    doc_known_integer(doc, "more_bytes", "Than the median", DOC_DELTA, one->more_bytes != 0,
                      one->more_bytes);
    doc_known_bytes(
        doc, "leak_bytes_per_step", "Leaks per step", one->growth != SIZE_MAX,
        answer_count(&fleet->answers[QUERY_growth], one->growth, "leak_bytes_per_step"));
    doc_bool(doc, "out_of_memory", "Out of memory", one->failure != SIZE_MAX);
    doc_bool(doc, "killed", "Killed", one->ending != SIZE_MAX);
    doc_text(doc, "site", "Most by",
             one->difference != SIZE_MAX
                 ? answer_text(&fleet->answers[QUERY_difference], one->difference, "site")
                 : answer_text(&fleet->answers[QUERY_growth], one->growth, "site"));
}

static void add_stand_outs(struct doc *doc, const struct stand_outs *found,
                           const struct fleet *fleet)
{
    doc_list_begin(doc, "stand_out", "Who stands out");
    for (size_t i = 0; i < found->count; i++) {
        doc_row_begin(doc_detail_if(doc, i >= SUMMARY_ROWS));
        add_stand_out(doc, found, &found->items[i], fleet);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

static void add_answer(struct doc *doc, const struct stand_outs *found, const struct fleet *fleet)
{
    struct verdict said = {0};
    stand_outs_say(&said, found, fleet);
    verdict_write(doc, &said, NULL, false);
    verdict_release(&said);
}

int page_fleet(struct doc **doc, enum doc_level reads, const struct fleet *fleet, struct err *err)
{
    struct doc *built = doc_new("gpumemtrace.fleet/1", reads);
    struct stand_outs found = {0};
    if (!built)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    const int status = stand_outs_find(&found, fleet, err);
    if (!status) {
        add_answer(built, &found, fleet);
        add_spread(built, fleet);
        add_stand_outs(built, &found, fleet);
        for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
            if (!queries[tables[i].query].is_of_two || *fleet->other_job)
                add_table(built, fleet, &tables[i]);
        *doc = built;
    }
    stand_outs_release(&found);
    if (status)
        doc_free(built);
    return status;
}
