/* SPDX-License-Identifier: MIT */
/* Makes runs with changes, and writes a change as text; see fix.h. */
#include "fix.h"

#include <stdlib.h>
#include <string.h>

#include "analyzer/run/run_group.h"
#include "analyzer/util/array.h"

enum { LINE_BYTES_MAX = 1 << 20 };

static size_t runs_left(const struct fix *fix)
{
    return fix->max_runs > fix->count ? fix->max_runs - fix->count : 0;
}

/* --- a change as text --- */

void fix_change_text(struct text *text, const struct fix *fix, const struct fix_change *change)
{
    const bool has_setting = change->setting != SETTING_NONE;
    if (has_setting)
        text_add(text, fix->settings[change->setting].text);
    if (change->value)
        text_addf(text, "%s%s %ld", has_setting ? " and " : "", fix->varies[change->number].name,
                  change->value);
}

/* True if the changed number is a variable of the environment. */
static bool changes_variable(const struct fix *fix, const struct fix_change *change)
{
    return change->value && !fix->varies[change->number].argument;
}

/* Adds argument i with the changed number in it. */
static void write_argument(struct text *text, const struct fix *fix,
                           const struct fix_change *change, int i)
{
    const struct vary *vary = &fix->varies[change->number];
    if (change->value && i && vary->argument == i)
        vary_write(text, vary, fix->argv, change->value);
    else
        text_add(text, fix->argv[i]);
}

/* Adds "NAME=VALUE ", with the value quoted for a shell. */
static void add_variable(struct text *text, const char *variable)
{
    const size_t length = strcspn(variable, "=") + 1;
    text_add_bytes(text, variable, length);
    text_add_word(text, variable + length);
    text_add(text, " ");
}

void fix_change_line(struct text *text, const struct fix *fix, const struct fix_change *change)
{
    struct text word;
    text_init(&word, LINE_BYTES_MAX);
    if (change->setting != SETTING_NONE)
        add_variable(text, fix->settings[change->setting].text);
    if (changes_variable(fix, change)) {
        vary_write(text, &fix->varies[change->number], fix->argv, change->value);
        text_add(text, " ");
    }
    for (int i = 0; i < fix->argc; i++) {
        text_clear(&word);
        write_argument(&word, fix, change, i);
        text_add(text, i ? " " : "");
        text_add_word(text, word.data);
    }
    text_release(&word);
}

/* --- one run --- */

/* The words of one run. The caller must free all of them. */
struct words {
    char **argv, **variables;
};

static char *keep_word(struct text *word)
{
    char *kept = text_failed(word) ? NULL : strdup(word->data);
    text_clear(word);
    return kept;
}

static void words_release(struct words *words)
{
    for (char **word = words->argv; word && *word; word++)
        free(*word);
    for (char **word = words->variables; word && *word; word++)
        free(*word);
    free(words->argv);
    free(words->variables);
}

static int words_write(struct words *words, const struct fix *fix, const struct fix_change *change,
                       struct err *err)
{
    struct text word;
    size_t count = 0;
    bool failed = false;
    words->argv = calloc((size_t)fix->argc + 1, sizeof *words->argv);
    words->variables = calloc(3, sizeof *words->variables);
    text_init(&word, LINE_BYTES_MAX);
    for (int i = 0; i < fix->argc && words->argv && !failed; i++) {
        write_argument(&word, fix, change, i);
        failed = !(words->argv[i] = keep_word(&word));
    }
    if (change->setting != SETTING_NONE && words->variables)
        failed |= !(words->variables[count++] = strdup(fix->settings[change->setting].text));
    if (changes_variable(fix, change) && words->variables && !failed) {
        vary_write(&word, &fix->varies[change->number], fix->argv, change->value);
        failed = !(words->variables[count] = keep_word(&word));
    }
    text_release(&word);
    if (words->argv && words->variables && !failed)
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for a run's words");
}

static int make_run(struct fix *fix, const struct fix_change *change, struct err *err)
{
    struct words words;
    if (ARRAY_GROW(fix->runs, fix->capacity, fix->count, err))
        return -1;
    int status = words_write(&words, fix, change, err);
    const struct trial_ask ask = {.path = fix->path,
                                  .folder = fix->folder,
                                  .argv = words.argv,
                                  .variables = words.variables,
                                  .card = &fix->card,
                                  .number = (int)fix->count + 1};
    struct fix_run *run = &fix->runs[fix->count];
    run->change = *change;
    if (!status)
        status = trial_run(&run->trial, &ask, err);
    words_release(&words);
    if (!status)
        fix->count++;
    return status;
}

/*
 * True if a signal ended the run. A signal says nothing about memory. It may come from a race, so a
 * second run may not crash.
 */
static bool has_crashed(const struct trial *trial)
{
    return trial->end == TRIAL_FAILED && trial_was_killed(trial);
}

static int try_once(struct fix *fix, const struct fix_change *change, struct err *err)
{
    if (fix->on_begin)
        fix->on_begin(fix, change);
    if (make_run(fix, change, err))
        return -1;
    if (fix->on_end)
        fix->on_end(fix);
    return 0;
}

int fix_try(struct fix *fix, const struct fix_change *change, struct err *err)
{
    if (run_group_stopped_by())
        return 0;
    if (!runs_left(fix)) {
        fix->is_out_of_runs = true;
        return 0;
    }
    if (try_once(fix, change, err))
        return -1;
    if (has_crashed(&fix->runs[fix->count - 1].trial) && runs_left(fix) &&
        try_once(fix, change, err))
        return -1;
    return fix->runs[fix->count - 1].trial.end == TRIAL_FITS;
}

void fix_release(struct fix *fix)
{
    free(fix->runs);
}
