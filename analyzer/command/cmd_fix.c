/* SPDX-License-Identifier: MIT */
/*
 * `gpumemtrace fix`: dry runs of a program until it fits. What is tried is ../fix/, what it says
 * page/fix.c; this file sets the dry runs up and says how they go.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/fix/fix.h"
#include "analyzer/render/units.h"
#include "analyzer/run/run_group.h"
#include "analyzer/run/run_loader.h"
#include "analyzer/run/run_program.h"
#include "analyzer/run/run_spec.h"
#include "answer.h"
#include "say.h"

enum { RUNS_STANDARD = 16, SAID_BYTES = 1024, LOG_LINES_SHOWN = 12 };

struct given {
    uint64_t limit_bytes;
    const char *gpu, *keep;
    struct option_texts vary;
    long max_runs;
};

/* --- the card --- */

static int refuse_limit(uint64_t limit_bytes, const char *spec, uint64_t bytes, struct err *err)
{
    char limit[UNITS_TEXT_BYTES], has[UNITS_TEXT_BYTES];
    err_set(err, ERR_USAGE, "option '--limit': %s is more than '%.100s' has, %s",
            units_bytes(limit, limit_bytes), spec, units_bytes(has, bytes));
    return -1;
}

/* "24GiB" */
static void add_size(struct text *text, uint64_t bytes)
{
    const uint64_t mib = 1 << 20, gib = 1 << 30;
    if (bytes % gib == 0)
        text_addf(text, "%" PRIu64 "GiB", bytes / gib);
    else if (bytes % mib == 0)
        text_addf(text, "%" PRIu64 "MiB", bytes / mib);
    else
        text_addf(text, "%" PRIu64, bytes);
}

/* With --gpu the limit is of that card, with all else that it is; alone it is a card's size. */
static int write_spec(struct text *text, const struct given *given, struct sim_spec *card,
                      struct err *err)
{
    const char *spec = given->gpu ? given->gpu : getenv("GPUMEMTRACE_SIM");
    if (!spec || !*spec || (given->limit_bytes && !given->gpu))
        spec = SIM_SPEC_DEFAULT;
    if (run_spec_parse(spec, card, err))
        return -1;
    if (given->limit_bytes > card->total_bytes && given->gpu)
        return refuse_limit(given->limit_bytes, spec, card->total_bytes, err);
    const bool is_size = given->limit_bytes && (!given->gpu || card->is_unlimited);
    if (!is_size)
        text_addf(text, "%s%s", spec, given->limit_bytes ? ",memory=" : "");
    if (given->limit_bytes)
        add_size(text, given->limit_bytes);
    if (run_spec_parse(text->data, card, err))
        return -1;
    if (!card->is_unlimited)
        return 0;
    err_set(err, ERR_USAGE, "'%.100s' has no limit, so that all fits; give --limit=SIZE or a card",
            spec);
    return -1;
}

static int set_variable(const char *name, const char *value, struct err *err)
{
    if (!setenv(name, value, 1))
        return 0;
    err_set(err, ERR_SYSTEM, "cannot set %s: %s", name, strerror(errno));
    return -1;
}

/* --- the folder --- */

static int make_folder(char folder[PATH_MAX], const char *keep, struct err *err)
{
    const char *temporary = getenv("TMPDIR");
    if (keep && (mkdir(keep, 0777) == 0 || errno == EEXIST)) {
        if (!realpath(keep, folder))
            keep = "";
    } else if (!keep) {
        snprintf(folder, PATH_MAX, "%.4000s/gpumemtrace-fix.XXXXXX",
                 temporary && *temporary ? temporary : "/tmp");
        if (mkdtemp(folder))
            keep = folder;
    } else
        keep = "";
    if (!keep || !*keep) {
        err_set(err, ERR_SYSTEM, "cannot make a folder for the traces of the runs: %s",
                strerror(errno));
        return -1;
    }
    if (strpbrk(folder, "%*?[\\")) {
        err_set(err, ERR_USAGE,
                "the folder for the traces, '%.300s', has one of %%*?[\\ in its name; give another "
                "with --keep=FOLDER",
                folder);
        return -1;
    }
    return 0;
}

static int remove_one(const char *path, const struct stat *status, int type, struct FTW *at)
{
    (void)status;
    (void)type;
    (void)at;
    return remove(path);
}

static void remove_folder(const char *folder)
{
    nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* A folder with traces of an earlier search would be mistaken for this one's. */
static int refuse_used(const char *folder, struct err *err)
{
    char path[PATH_MAX + 16];
    snprintf(path, sizeof path, "%s/run1.log", folder);
    if (access(path, F_OK))
        return 0;
    err_set(err, ERR_USAGE,
            "option '--keep': '%.300s' holds the runs of an earlier search; give another folder",
            folder);
    return -1;
}

/* --- progress: a line for each run --- */

static void add_what(struct text *text, const struct fix *fix, const struct fix_change *change,
                     size_t number)
{
    text_addf(text, "run %zu of at most %zu, ", number, fix->max_runs);
    const size_t before = text->length;
    fix_change_text(text, fix, change);
    if (text->length == before)
        text_add(text, "as it is");
}

static void say_begin(const struct fix *fix, const struct fix_change *change)
{
    struct text text;
    if (isatty(STDERR_FILENO) != 1)
        return;
    text_init(&text, SAID_BYTES);
    add_what(&text, fix, change, fix->count + 1);
    if (!text_failed(&text))
        fprintf(stderr, "\rgpumemtrace: fix: %s …\033[K", text.data);
    fflush(stderr);
    text_release(&text);
}

static void add_how_it_ended(struct text *text, const struct trial *trial)
{
    char peak[UNITS_TEXT_BYTES], spare[UNITS_TEXT_BYTES];
    switch (trial->end) {
    case TRIAL_FITS:
        text_add(text, "fits");
        if (trial->is_known)
            text_addf(text, ", peak %s, %s spare", units_bytes(peak, trial->peak_bytes),
                      units_bytes(spare, trial->spare_bytes));
        break;
    case TRIAL_NO_MEMORY:
        text_add(text, "out of memory");
        break;
    case TRIAL_FAILED:
        text_addf(text, "failed for another reason (status %d)", trial->status);
        break;
    case TRIAL_NO_GPU:
        text_add(text, "no CUDA call");
        break;
    case TRIAL_STOPPED:
        text_add(text, "stopped");
        break;
    }
}

static void say_end(const struct fix *fix)
{
    const struct fix_run *run = &fix->runs[fix->count - 1];
    char took[UNITS_TEXT_BYTES];
    struct text text;
    text_init(&text, SAID_BYTES);
    add_what(&text, fix, &run->change, fix->count);
    text_add(&text, ": ");
    add_how_it_ended(&text, &run->trial);
    text_addf(&text, " (%s)", units_duration(took, (int64_t)run->trial.duration_ns));
    if (isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
    if (!text_failed(&text))
        command_say("fix", text.data);
    text_release(&text);
}

/* --- what cannot be fixed --- */

/* The end of what the program printed. */
static void show_log(const char *path)
{
    char lines[LOG_LINES_SHOWN][SAID_BYTES];
    size_t count = 0;
    FILE *log = fopen(path, "re");
    if (!log)
        return;
    while (fgets(lines[count % LOG_LINES_SHOWN], SAID_BYTES, log))
        count++;
    fclose(log);
    const size_t first = count > LOG_LINES_SHOWN ? count - LOG_LINES_SHOWN : 0;
    for (size_t i = first; i < count; i++) {
        struct text text;
        char *line = lines[i % LOG_LINES_SHOWN];
        line[strcspn(line, "\n")] = '\0';
        text_init(&text, 2 * SAID_BYTES);
        text_addf(&text, "it printed: %s", line);
        command_say("fix", text_failed(&text) ? line : text.data);
        text_release(&text);
    }
}

/* The first run showed nothing that memory has to do with. */
static int refuse_first(const struct fix *fix, struct err *err)
{
    const struct trial *trial = &fix->runs[0].trial;
    if (trial->end == TRIAL_NO_GPU) {
        err_set(err, ERR_INPUT,
                "no CUDA call was recorded in '%.150s' or in what it started, so there is nothing "
                "to fix",
                fix->path);
        return -1;
    }
    show_log(trial->log);
    if (trial->was_oom_kill)
        err_set(err, ERR_INPUT,
                "'%.150s' was killed by the kernel's OOM killer: it needed more memory than its "
                "cgroup or the host had, not the card; nothing was tried",
                fix->path);
    else if (trial->signal)
        err_set(err, ERR_INPUT,
                "'%.150s' was killed by signal %d in a dry run, and no allocation had failed: not "
                "for want of the card's memory; nothing was tried",
                fix->path, trial->signal);
    else
        err_set(
            err, ERR_INPUT,
            "'%.150s' failed in a dry run with status %d, and no allocation had failed: not for "
            "want of the card's memory; nothing was tried",
            fix->path, trial->status);
    return -1;
}

/* --- all of it --- */

static int print(const struct fix *fix, const struct command_options *options, bool is_kept,
                 struct err *err)
{
    const struct page_fix_options own = {
        .fix = fix, .is_kept = is_kept, .stopped_by = run_group_stopped_by()};
    const char *trace = fix->runs[0].trial.trace;
    struct command_options of_trace = *options;
    of_trace.operands = &trace;
    of_trace.operand_count = 1;
    if (answer_print(&page_fix, &of_trace, &own, err))
        return -1;
    if (own.stopped_by)
        return 128 + own.stopped_by;
    return fix->runs[0].trial.end == TRIAL_FITS || fix->remedy_count ? 0 : 1;
}

static int search_and_print(struct fix *fix, const struct command_options *options, bool is_kept,
                            struct err *err)
{
    run_group_watch();
    if (fix_search(fix, err))
        return -1;
    if (fix->count &&
        (fix->runs[0].trial.end == TRIAL_FITS || fix->runs[0].trial.end == TRIAL_NO_MEMORY))
        return print(fix, options, is_kept, err);
    if (run_group_stopped_by()) {
        command_say("fix", "stopped in the first run: nothing is known yet");
        return 128 + run_group_stopped_by();
    }
    return refuse_first(fix, err);
}

static int prepare(struct fix *fix, const struct given *given, char path[PATH_MAX], struct err *err)
{
    struct run_places places;
    struct text spec;
    if (given->vary.count > FIX_VARIES_MAX) {
        err_set(err, ERR_USAGE, "--vary may be given %d times", FIX_VARIES_MAX);
        return -1;
    }
    for (int i = 0; i < given->vary.count; i++)
        if (vary_find(&fix->varies[fix->vary_count++], given->vary.values[i], fix->argv, fix->argc,
                      err))
            return -1;
    text_init(&spec, SAID_BYTES);
    const int status =
        write_spec(&spec, given, &fix->card, err) ||
                set_variable("GPUMEMTRACE_SIM", spec.data, err) ||
                set_variable("GPUMEMTRACE_QUIET", "1", err) || run_places_find(&places, 1, err) ||
                run_program_check(path, places.library, true, err) || run_loader_set(&places, err)
            ? -1
            : 0;
    text_release(&spec);
    return status;
}

int command_fix(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"limit", 0, OPTION_SIZE, "SIZE",
         "what the program may use of a card, as 24GiB: the card's size, or with --gpu less than "
         "that card has",
         offsetof(struct given, limit_bytes)},
        {"gpu", 0, OPTION_TEXT, "SPEC",
         "the simulated cards, as run --dry-run has them: 2x80GiB, h100, "
         "a100-1g.5gb,others=1GiB (GPUMEMTRACE_SIM, default " SIM_SPEC_DEFAULT ")",
         offsetof(struct given, gpu)},
        {"vary", 0, OPTION_TEXTS, "NAME",
         "a number that may become smaller, as the batch's size: an option of PROGRAM "
         "(--NAME=32, --NAME 32, NAME=32) or a variable of the environment; may be repeated",
         offsetof(struct given, vary)},
        {"max-runs", 0, OPTION_COUNT, "N", "most runs, the first one included (default 16)",
         offsetof(struct given, max_runs)},
        {"keep", 0, OPTION_TEXT, "FOLDER",
         "keep the traces of all runs, and what they printed, in FOLDER",
         offsetof(struct given, keep)},
        {0},
    };
    struct given given = {.max_runs = RUNS_STANDARD};
    struct command_options options;
    struct fix fix = {0};
    const char *quiet = getenv("GPUMEMTRACE_QUIET");
    char path[PATH_MAX], folder[PATH_MAX];
    if (options_parse_leading(&options, command, rules, &given, argc, argv, err))
        return -1;
    fix.argv = argv + (argc - options.operand_count);
    fix.argc = options.operand_count;
    fix.max_runs = (size_t)given.max_runs;
    fix.path = path;
    fix.folder = folder;
    if (!quiet || strcmp(quiet, "1") != 0) {
        fix.on_begin = say_begin;
        fix.on_end = say_end;
    }
    const int refused = run_program_find(fix.argv[0], path, err);
    if (refused) {
        command_say("fix", err->message);
        return refused;
    }
    if (prepare(&fix, &given, path, err) || make_folder(folder, given.keep, err))
        return -1;
    int status = given.keep ? refuse_used(folder, err) : 0;
    if (!status)
        status = search_and_print(&fix, &options, given.keep != NULL, err);
    if (!given.keep)
        remove_folder(folder);
    fix_release(&fix);
    return status;
}
