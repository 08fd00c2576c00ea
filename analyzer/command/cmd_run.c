/* SPDX-License-Identifier: MIT */
/* `gpumemtrace run`: records a program, and also simulates GPUs if asked. It turns options into
 * environment variables, because the recorder reads its settings from the environment. options.def
 * says what each setting means. */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "options.h"
#include "run_largest.h"
#include "analyzer/need/need.h"
#include "analyzer/page/page.h"
#include "analyzer/util/say.h"
#include "analyzer/run/run_child.h"
#include "analyzer/run/run_end.h"
#include "analyzer/run/run_guesses.h"
#include "analyzer/run/run_loader.h"
#include "analyzer/run/run_names.h"
#include "analyzer/run/run_places.h"
#include "analyzer/run/run_program.h"
#include "analyzer/run/run_rank.h"
#include "analyzer/run/run_refused.h"
#include "analyzer/run/run_spec.h"
#include "common/numbers.h"
#include "analyzer/util/text.h"

#define MIB (UINT64_C(1) << 20)

enum { LINE_BYTES_MAX = 1 << 16 };

struct run_options {
#define OPTION(field, type, environment, flag, argument, standard, text) const char *field;
#include "gpumemtrace/options.def"
    const char *dry_run; /* NULL: no --dry-run; "": --dry-run without SPEC */
    const char *conv_workspace;
    const char *rank;
    bool no_resolve;
    struct run_largest largest;
};

#define OFFSET(field) offsetof(struct run_options, field)
#define KIND_TEXT OPTION_TEXT
#define KIND_CHOICE OPTION_WORD
#define KIND_FLAG OPTION_MAYBE
#define KIND_SIZE OPTION_TEXT
#define KIND_COUNT OPTION_TEXT
#define SHOWN_TEXT(argument) argument
#define SHOWN_CHOICE(argument) argument
#define SHOWN_FLAG(argument) "0|1"
#define SHOWN_SIZE(argument) argument
#define SHOWN_COUNT(argument) argument

static const struct option_rule rules[] = {
#define OPTION(field, type, environment, flag, argument, standard, text)                           \
    {flag,                                                                                         \
     OFFSET(field) == OFFSET(output) ? 'o' : 0,                                                    \
     KIND_##type,                                                                                  \
     SHOWN_##type(argument),                                                                       \
     text " (" environment ", default " standard ")",                                              \
     OFFSET(field)},
#include "gpumemtrace/options.def"
    {"dry-run", 0, OPTION_MAYBE, "SPEC",
     /* clang-format off */
     "run on simulated GPUs: a size (16GiB), several (2x80GiB, 8xh100), any (no limit: run prints how much is needed), or a card:"
#define PRESET(name, ...) " " name
#include "common/sim_presets.def"
     "; add ,others=3GiB for memory that other processes hold and ,context=300MiB for the memory of a "
     "context (else assumed; see gpumemtrace help cards; default "
     SIM_SPEC_DEFAULT ")",
     /* clang-format on */
     OFFSET(dry_run)},
    {"conv-workspace", 0, OPTION_TEXT, "SIZE",
     "workspace of each cuDNN convolution in a dry run; 0: none "
     "(GPUMEMTRACE_SIM_CONV_WORKSPACE, default assumed from the shapes)",
     OFFSET(conv_workspace)},
    {"rank", 0, OPTION_TEXT, "K/N",
     "run only rank K of N, in a dry run; the simulator acts for the other ranks, each with the "
     "values of this one",
     OFFSET(rank)},
    {"no-resolve", 0, OPTION_FLAG, NULL,
     "do not store the names of native frames after the run; the first command that reads the "
     "trace stores them",
     OFFSET(no_resolve)},
    {"vary", 0, OPTION_TEXT, "NAME:LOW..HIGH[/STEP]",
     "with --fit: try values of a number, for example the batch size, and print the largest "
     "that fits; NAME is an option of PROGRAM (--NAME=32, --NAME 32, NAME=32), or else an "
     "environment variable",
     OFFSET(largest.vary)},
    {"fit", 0, OPTION_TEXT, "SPEC",
     "with --vary: simulated cards on which the program must fit, a SPEC as for --dry-run",
     OFFSET(largest.fit)},
    {"max-runs", 0, OPTION_COUNT, "N", "with --vary: the largest number of runs (default 16)",
     OFFSET(largest.max_runs)},
    {"keep", 0, OPTION_TEXT, "FOLDER",
     "with --vary: keep the traces and the output of all runs in FOLDER", OFFSET(largest.keep)},
    {"json", 0, OPTION_FLAG, NULL, "with --vary: print the answer as JSON", OFFSET(largest.json)},
    {0},
};

/* --- settings --- */

static int set_variable(const char *name, const char *value, struct err *err)
{
    if (!setenv(name, value, 1))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot set %s: %s", name, strerror(errno));
}

static int check_TEXT(const char **value, struct err *err)
{
    if (**value)
        return 0;
    return err_set(err, ERR_USAGE, "the value is empty");
}

/* The option parser has already checked the choice. */
static int check_CHOICE(const char **value, struct err *err)
{
    (void)value;
    (void)err;
    return 0;
}

static int check_FLAG(const char **value, struct err *err)
{
    if (!**value)
        *value = "1";
    if (!strcmp(*value, "0") || !strcmp(*value, "1"))
        return 0;
    return err_set(err, ERR_USAGE, "'%.100s' is neither 0 nor 1", *value);
}

static int check_SIZE(const char **value, struct err *err)
{
    uint64_t bytes;
    return size_parse(*value, &bytes, err);
}

static int check_COUNT(const char **value, struct err *err)
{
    long number;
    return number_parse(*value, 0, LONG_MAX, &number, err);
}

static int set_option(const char *environment, const char *flag, const char *value,
                      int (*check)(const char **, struct err *), struct err *err)
{
    struct err reason;
    if (!value)
        return 0;
    if (check(&value, &reason))
        return err_set(err, reason.code, "option '--%s': %.400s", flag, reason.message);
    return set_variable(environment, value, err);
}

static int set_options(const struct run_options *own, struct err *err)
{
#define OPTION(field, type, environment, flag, argument, standard, text)                           \
    if (set_option(environment, flag, own->field, check_##type, err))                              \
        return -1;
#include "gpumemtrace/options.def"
    return 0;
}

/* Makes a relative FILE absolute, because the program may change its folder. Doubles the percent
 * signs of the current folder, because they are no fields of the template. */
static int make_output_absolute(const char **output, struct text *absolute, struct err *err)
{
    char folder[PATH_MAX];
    if (!*output || **output == '/' || !**output)
        return 0;
    if (!getcwd(folder, sizeof folder))
        return err_set(err, ERR_SYSTEM, "cannot find the current folder: %s", strerror(errno));
    for (const char *byte = folder; *byte; byte++)
        text_add_bytes(absolute, *byte == '%' ? "%%" : byte, *byte == '%' ? 2 : 1);
    text_addf(absolute, "/%s", *output);
    *output = absolute->data;
    if (!text_failed(absolute))
        return 0;
    return err_set(err, ERR_USAGE, "option '--output': the name is too long");
}

static int check_output_file(const char *output, struct err *err)
{
    struct stat found;
    if (strchr(output, '%') || stat(output, &found) || !S_ISDIR(found.st_mode))
        return 0;
    return err_set(err, ERR_USAGE, "option '--output': '%.300s' is a folder; name a file in it",
                   output);
}

/* Checks the folder now, because the recorder would notice a missing folder only at the first CUDA
 * call, minutes later. Does not check a folder whose name has template fields, because only the
 * recorder can fill them in. */
static int check_output_folder(const char *output, struct err *err)
{
    const char *slash = output ? strrchr(output, '/') : NULL;
    char folder[PATH_MAX];
    size_t length = 0;
    struct stat found;
    if (!slash)
        return 0;
    for (const char *byte = output; byte < slash && length + 1 < sizeof folder; byte++) {
        if (*byte == '%' && byte[1] != '%')
            return 0;
        byte += *byte == '%';
        folder[length++] = *byte;
    }
    folder[length] = '\0';
    if (!*folder || (!stat(folder, &found) && S_ISDIR(found.st_mode)))
        return check_output_file(output, err);
    return err_set(err, ERR_USAGE,
                   "option '--output': the folder '%.300s' does not exist; make it first, "
                   "or give another place",
                   folder);
}

/* --- the simulator --- */

/* Sets the simulated cards. If --dry-run has no SPEC, the cards are those of GPUMEMTRACE_SIM. */
static int set_simulator(const char *spec, struct err *err)
{
    struct sim_spec parsed;
    if (!spec)
        return 0;
    if (!*spec)
        spec = getenv("GPUMEMTRACE_SIM");
    if (!spec || !*spec)
        spec = SIM_SPEC_DEFAULT;
    if (run_spec_parse(spec, &parsed, err))
        return -1;
    return set_variable("GPUMEMTRACE_SIM", spec, err);
}

static int set_conv_workspace(const struct run_options *own, struct err *err)
{
    if (own->conv_workspace && !own->dry_run)
        return err_set(
            err, ERR_USAGE,
            "option '--conv-workspace' needs --dry-run: on a card cuDNN takes what it needs");
    return set_option("GPUMEMTRACE_SIM_CONV_WORKSPACE", "conv-workspace", own->conv_workspace,
                      check_SIZE, err);
}

/* Sets the rank. Call this after set_simulator, because the rank's variables depend on the number
 * of cards. */
static int set_rank(const struct run_options *own, char *const *argv, struct err *err)
{
    struct sim_spec spec;
    if (!own->rank)
        return 0;
    if (!own->dry_run)
        return err_set(err, ERR_USAGE,
                       "option '--rank' needs --dry-run: on cards every rank must run");
    return run_rank_check(argv, err) || run_spec_parse(getenv("GPUMEMTRACE_SIM"), &spec, err)
               ? -1
               : run_rank_set(own->rank, spec.device_count, err);
}

/* Takes the options of a search (--vary). In a search, --fit names the cards of the dry runs, and
 * each run writes its own trace. So this refuses --output and a SPEC for --dry-run. */
static int take_search(struct run_options *own, bool *is_search, struct err *err)
{
    const struct run_largest *largest = &own->largest;
    *is_search =
        largest->vary || largest->fit || largest->keep || largest->max_runs || largest->json;
    if (!*is_search)
        return 0;
    if (run_largest_check(largest, err))
        return -1;
    if (own->output || (own->dry_run && *own->dry_run))
        return err_set(err, ERR_USAGE, "option '--%s' cannot be given with --vary: %s",
                       own->output ? "output" : "dry-run",
                       own->output ? "each run writes a trace of its own; --keep=FOLDER keeps them"
                                   : "--fit names the cards");
    own->dry_run = largest->fit;
    return 0;
}

/* --- running --- */

static int say_and_return(const struct err *err, int status)
{
    command_say("run", err->message);
    return status;
}

/* Returns the value of a setting as the recorder saw it. */
static const char *setting(const char *environment, const char *standard)
{
    const char *value = getenv(environment);
    return value ? value : standard;
}

/* Returns the template from which the recorder made its trace names. */
static const char *output_setting(void)
{
    return setting("GPUMEMTRACE_OUTPUT", "gpumemtrace.%p.db");
}

static void say_how_it_ended(const char *program, const struct run_ended *ended, bool was_oom_kill)
{
    char path[PATH_MAX], how[128] = "ended by a raw exit_group";
    struct err said;
    if (!strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1") ||
        !run_end_left_trace(output_setting(), ended->pid, path))
        return;
    if (was_oom_kill)
        snprintf(how, sizeof how,
                 "was killed by the kernel's OOM killer: it needed more memory than its cgroup or "
                 "the host had, not the card");
    else if (ended->signal)
        snprintf(how, sizeof how, "was killed by signal %d", ended->signal);
    err_set(&said, ERR_DONE, "'%.150s' %s; %.200s has the calls up to then", program, how, path);
    command_say("run", said.message);
}

/* Says that there is no trace, so that the user need not look for one. */
static bool say_if_nothing(const char *program, const struct timespec *started)
{
    struct err said;
    if (!strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1") ||
        !run_end_left_nothing(output_setting(), started))
        return false;
    err_set(&said, ERR_DONE,
            "no CUDA call was recorded in '%.150s' or in what it started, so there is no trace",
            program);
    command_say("run", said.message);
    return true;
}

/* Says whether a dry run may have failed because of a value that it could not compute. Without this
 * line the user would look for a mistake in the program. */
static void say_if_failed(const char *program, int status, const struct run_past *run)
{
    struct err said;
    if (!status || !strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1"))
        return;
    err_set(&said, ERR_DONE, "'%.150s' failed in a dry run (exit status %d); %s", program, status,
            run_read_no_guess(run)
                ? "it read no value that the dry run could not compute, so look for the mistake in "
                  "the program, which may fail on a real card, too"
                : "if it checked a value that it read from a card, the dry run may not have "
                  "computed that value, and the check may pass on a real card");
    command_say("run", said.message);
}

/* Suggests the next command after a program failed for lack of memory. */
static bool say_if_refused(char **argv, const struct run_past *run, const char *dry_run)
{
    uint64_t card_bytes;
    struct text line;
    if (!strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1") || !run_was_refused(run, &card_bytes) ||
        (!dry_run && !card_bytes))
        return false;
    text_init(&line, LINE_BYTES_MAX);
    text_add(
        &line,
        "the program ended after memory was refused; try remedies in dry runs: gpumemtrace fix ");
    if (dry_run)
        text_addf(&line, "--gpu=%s", setting("GPUMEMTRACE_SIM", SIM_SPEC_DEFAULT));
    else
        text_addf(&line, "--limit=%" PRIu64 "MiB", card_bytes / MIB);
    text_add(&line, " --");
    for (; *argv; argv++) {
        text_add(&line, " ");
        text_add_word(&line, *argv);
    }
    if (!text_failed(&line))
        command_say("run", line.data);
    text_release(&line);
    return true;
}

/* The largest need among the traces of a run. */
struct most {
    struct need need; /* the need of the trace that needs most */
    size_t count;
};

static void look_at_need(void *self, const char *path)
{
    struct most *most = self;
    struct need need;
    struct err unread;
    if (need_of_trace(&need, path, &unread) || !need.card_bytes)
        return;
    most->count++;
    if (need.card_bytes > most->need.card_bytes)
        most->need = need;
}

/* Says how large a card the program needs, after a dry run without a limit. */
static void say_need(const struct run_past *run)
{
    struct sim_spec spec;
    struct err unread;
    struct most most = {0};
    struct text line;
    const bool is_asked =
        !run_spec_parse(setting("GPUMEMTRACE_SIM", SIM_SPEC_DEFAULT), &spec, &unread) &&
        spec.is_unlimited && strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1") != 0;
    if (is_asked)
        run_traces_each(run, look_at_need, &most);
    if (!most.count)
        return;
    text_init(&line, LINE_BYTES_MAX);
    need_write(&line, &most.need);
    if (most.count > 1)
        text_addf(&line, " (device %d of the trace with the largest need; %zu traces in all)",
                  most.need.device, most.count);
    if (!text_failed(&line))
        command_say("run", line.data);
    text_release(&line);
}

/* A larger trace takes more than a second to judge, and `run` would keep its user waiting. */
enum { JUDGED_BYTES_MAX = 8 << 20 };

/* The traces of a run. */
struct left {
    size_t count;
    char path[PATH_MAX]; /* of the last one */
};

static void count_trace(void *self, const char *path)
{
    struct left *left = self;
    left->count++;
    snprintf(left->path, sizeof left->path, "%s", path);
}

/* Returns the finding that `report` opens with, or NULL. It is valid as long as the document. */
static const char *finding_of(const struct doc *doc)
{
    const struct doc_node *node = doc_root(doc)->first_child;
    while (node && (!node->key || strcmp(node->key, "answer") != 0))
        node = node->next;
    return node && node->first_child ? node->first_child->text : NULL;
}

/* Says the finding of `report`, if the run left one trace that is small enough. */
static void say_finding(const struct run_past *run)
{
    const struct view view = {.device = -1, .layer = LAYER_none};
    struct page page = page_report;
    struct left left = {0};
    struct stat status;
    struct doc *doc = NULL;
    struct err unread;
    if (!strcmp(setting("GPUMEMTRACE_QUIET", "0"), "1"))
        return;
    run_traces_each(run, count_trace, &left);
    if (left.count != 1 || stat(left.path, &status) || status.st_size > JUDGED_BYTES_MAX)
        return;
    page.device = NULL;
    page.tail = NULL;
    const char *finding =
        page_build(&doc, DOC_SUMMARY, &page, &view, left.path, &unread) ? NULL : finding_of(doc);
    if (finding)
        command_say("run", finding);
    doc_free(doc);
}

static int start_program(const char *path, char **argv, const struct run_options *own,
                         struct err *err)
{
    struct run_past run = {.pattern = output_setting()};
    clock_gettime(CLOCK_REALTIME_COARSE, &run.started);
    const uint64_t kills_before = run_end_oom_kills("");
    struct run_ended ended;
    int status = run_child(path, argv, &ended, err);
    if (ended.start_errno == ENOENT)
        return say_and_return(err, RUN_NOT_FOUND);
    if (ended.start_errno)
        return say_and_return(err, RUN_NOT_EXECUTABLE);
    if (status < 0)
        return status;
    run.pid = ended.pid;
    say_how_it_ended(path, &ended,
                     run_end_was_oom_kill(ended.signal, kills_before, run_end_oom_kills("")));
    const bool is_nothing = say_if_nothing(path, &run.started);
    if (!own->no_resolve && !is_nothing) {
        run_names_keep(&run);
        say_finding(&run);
    }
    if (!is_nothing && status && !say_if_refused(argv, &run, own->dry_run) && own->dry_run &&
        !ended.signal)
        say_if_failed(path, status, &run);
    if (own->dry_run)
        say_need(&run);
    return status;
}

int command_run(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    struct run_options own = {0};
    struct run_places places;
    struct text output;
    char path[PATH_MAX];
    bool is_search;
    int status = -1;
    text_init(&output, 2 * PATH_MAX);
    if (options_parse_leading(&options, command, rules, &own, argc, argv, err))
        goto out;
    if (take_search(&own, &is_search, err) || make_output_absolute(&own.output, &output, err) ||
        check_output_folder(own.output, err) || set_options(&own, err) ||
        set_simulator(own.dry_run, err) || set_conv_workspace(&own, err) ||
        set_rank(&own, argv + (argc - options.operand_count), err) ||
        run_places_find(&places, own.dry_run != NULL, err))
        goto out;
    int refused = run_program_find(options.operands[0], path, err);
    if (refused) {
        status = say_and_return(err, refused);
        goto out;
    }
    if (run_program_check(path, places.library, own.dry_run != NULL, err) ||
        run_loader_set(&places, err))
        goto out;
    argv += argc - options.operand_count;
    status = is_search ? run_largest(&own.largest, &options, path, argv, err)
                       : start_program(path, argv, &own, err);
out:
    text_release(&output);
    return status;
}
