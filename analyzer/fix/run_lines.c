/* SPDX-License-Identifier: MIT */
/* Writes lines about runs; see run_lines.h. */
#include "run_lines.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/render/units.h"
#include "analyzer/util/say.h"

enum { LINE_BYTES = 1024, LOG_LINES_SHOWN = 12 };

/* --- a line for each run --- */

static void add_what(struct text *text, const struct fix *fix, const struct fix_change *change,
                     size_t number)
{
    text_addf(text, "run %zu of at most %zu, ", number, fix->max_runs);
    const size_t before = text->length;
    fix_change_text(text, fix, change);
    if (text->length == before)
        text_add(text, "as it is");
}

void run_lines_begin(const struct fix *fix, const struct fix_change *change)
{
    struct text text;
    if (isatty(STDERR_FILENO) != 1)
        return;
    text_init(&text, LINE_BYTES);
    add_what(&text, fix, change, fix->count + 1);
    if (!text_failed(&text))
        fprintf(stderr, "\rgpumemtrace: %s: %s …\033[K", fix->command, text.data);
    fflush(stderr);
    text_release(&text);
}

static void add_how_it_ended(struct text *text, const struct trial *trial)
{
    switch (trial->end) {
    case TRIAL_FITS:
        text_add(text, "fits");
        if (trial->is_known)
            text_addf(text, ", peak %s, %s spare", BYTES_TEXT(trial->peak_bytes),
                      BYTES_TEXT(trial->spare_bytes));
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

void run_lines_end(const struct fix *fix)
{
    const struct fix_run *run = &fix->runs[fix->count - 1];
    struct text text;
    text_init(&text, LINE_BYTES);
    add_what(&text, fix, &run->change, fix->count);
    text_add(&text, ": ");
    add_how_it_ended(&text, &run->trial);
    text_addf(&text, " (%s)", DURATION_TEXT((int64_t)run->trial.duration_ns));
    if (isatty(STDERR_FILENO) == 1)
        fputs("\r\033[K", stderr);
    if (!text_failed(&text))
        command_say(fix->command, text.data);
    text_release(&text);
}

/* --- a run that says nothing about memory --- */

/* Shows the end of the program's output. */
static void show_log(const struct fix *fix, const char *path)
{
    char lines[LOG_LINES_SHOWN][LINE_BYTES];
    size_t count = 0;
    FILE *log = fopen(path, "re");
    if (!log)
        return;
    while (fgets(lines[count % LOG_LINES_SHOWN], LINE_BYTES, log))
        count++;
    fclose(log);
    const size_t first = count > LOG_LINES_SHOWN ? count - LOG_LINES_SHOWN : 0;
    for (size_t i = first; i < count; i++) {
        struct text text;
        char *line = lines[i % LOG_LINES_SHOWN];
        line[strcspn(line, "\n")] = '\0';
        text_init(&text, 2 * LINE_BYTES);
        text_addf(&text, "it printed: %s", line);
        command_say(fix->command, text_failed(&text) ? line : text.data);
        text_release(&text);
    }
}

void run_lines_refuse(const struct fix *fix, const struct trial *trial, const char *what,
                      struct err *err)
{
    if (trial->end == TRIAL_NO_GPU) {
        err_set(err, ERR_INPUT, "no CUDA call was recorded in '%.150s' or in what it started; %s",
                fix->path, what);
        return;
    }
    show_log(fix, trial->log);
    if (trial->was_oom_kill)
        err_set(err, ERR_INPUT,
                "'%.150s' was killed by the kernel's OOM killer: it needed more memory than its "
                "cgroup or the host had, not the card; %s",
                fix->path, what);
    else if (trial->signal)
        err_set(err, ERR_INPUT,
                "'%.150s' was killed by signal %d in a dry run, but no allocation had failed, so "
                "the card's memory was not the reason; %s",
                fix->path, trial->signal, what);
    else
        err_set(err, ERR_INPUT,
                "'%.150s' failed in a dry run with status %d, but no allocation had failed, so the "
                "card's memory was not the reason; %s",
                fix->path, trial->status, what);
}
