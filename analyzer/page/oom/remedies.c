/* SPDX-License-Identifier: MIT */
/* The remedies of a failure, as `oom` and `report` word them. */
#include "analyzer/page/parts.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/blame/blame.h"
#include "analyzer/remedy/remedies.h"
#include "analyzer/render/units.h"
#include "analyzer/torch/frames.h"
#include "analyzer/util/text.h"
#include "told.h"

enum { BEST = 2, TEXT_MAX = 2048 };

/* --- the words of one remedy --- */

struct words {
    char label[BLAME_TEXT_BYTES];           /* "train.py:61 forward" */
    char callee[STACK_FUNCTION_BYTES + 16]; /* "each Layer called by" */
    uint64_t count;
    bool may_have_graph, has_trained, zeroes;
    const char *setting;
};

static void name_line(struct words *words, const struct study *study, const struct remedy *remedy)
{
    const struct trace *trace = &study->trace;
    const struct trace_location *line = &trace->locations[remedy->line];
    snprintf(words->label, sizeof words->label, "%.200s:%" PRIu32,
             path_name(trace_string(trace, line->file_id)), line->line);
    if (!remedy->callee)
        return;
    const char *function = trace_string(trace, trace->locations[remedy->callee].function_id);
    const struct torch_name module = torch_module_name(function);
    if (module.text)
        snprintf(words->callee, sizeof words->callee, "each %.*s called by", module.length,
                 module.text);
}

static int find_words(struct words *words, const struct study *study, const struct remedy *remedy,
                      struct err *err)
{
    *words = (struct words){.callee = "the calls of",
                            .label = "the program",
                            .count = remedy->count,
                            .may_have_graph = remedy->may_have_graph,
                            .has_trained = remedy->has_trained,
                            .zeroes = remedy->zeroes,
                            .setting = study->remedies->setting};
    if (remedy->line) {
        name_line(words, study, remedy);
        return 0;
    }
    return site_stack(remedy->site_id) &&
                   blame_alone(words->label, study->symbols, remedy->site_id, err) < 0
               ? -1
               : 0;
}

/* Adds the pattern and replaces {callee}, {label}, {count}, {setting}, {graph:…}, {unseen:…} and
 * {zeroed:…}. */
static void add_filled(struct text *text, const char *pattern, const struct words *words)
{
    while (*pattern) {
        const char *brace = strchr(pattern, '{');
        const char *end = brace ? strchr(brace, '}') : NULL;
        if (!end) {
            text_addf(text, "%s", pattern);
            return;
        }
        text_addf(text, "%.*s", (int)(brace - pattern), pattern);
        if (!strncmp(brace, "{label}", 7))
            text_addf(text, "%s", words->label);
        else if (!strncmp(brace, "{setting}", 9))
            text_addf(text, "%s", words->setting);
        else if (!strncmp(brace, "{graph:", 7))
            text_addf(text, "%.*s", words->may_have_graph ? (int)(end - brace - 7) : 0, brace + 7);
        else if (!strncmp(brace, "{unseen:", 8))
            text_addf(text, "%.*s", words->has_trained ? 0 : (int)(end - brace - 8), brace + 8);
        else if (!strncmp(brace, "{zeroed:", 8))
            text_addf(text, "%.*s", words->zeroes ? (int)(end - brace - 8) : 0, brace + 8);
        else if (!strncmp(brace, "{callee}", 8))
            text_addf(text, "%s", words->callee);
        else
            text_addf(text, "%" PRIu64, words->count);
        pattern = end + 1;
    }
}

/* --- the list --- */

static int add_remedy(struct doc *doc, const struct study *study, const struct remedy *remedy,
                      struct err *err)
{
    const char *supposes = remedy_words(remedy->key)->supposes;
    struct words words;
    struct text text, how;
    if (find_words(&words, study, remedy, err))
        return -1;
    text_init(&text, TEXT_MAX);
    text_init(&how, TEXT_MAX);
    add_filled(&text, remedy_words(remedy->key)->text, &words);
    add_filled(&how, remedy_words(remedy->key)->how, &words);
    doc_text(doc_detail(doc), "remedy", "Remedy", remedy_words(remedy->key)->key);
    doc_known_bytes(doc, "gain_bytes", "Gain", remedy->gain_known, remedy->gain_bytes);
    doc_bytes(doc_detail(doc), "need_bytes", "Of", study->remedies->need_bytes);
    doc_text(doc, "advice", "Advice", text_failed(&text) ? NULL : text.data);
    doc_text(doc_detail(doc), "how", "How", text_failed(&how) ? NULL : how.data);
    doc_text(doc_detail(doc), "sign", "Sign", remedy_words(remedy->key)->sign);
    doc_text(doc_detail(doc), "supposes", "Supposes", supposes);
    doc_bool(doc_detail(doc), "before_peak", "Before the peak", remedy->is_early);
    doc_note(doc, "%s%s%s%s", text_failed(&how) ? "" : how.data, supposes ? "; assumes " : "",
             supposes ? supposes : "",
             remedy->is_early
                 ? "; no earlier step was as long, and the rest of this one may need more"
                 : "");
    text_release(&text);
    text_release(&how);
    return 0;
}

int page_remedies_by(struct doc *doc, const struct study *study, unsigned ways, const char *key,
                     const char *heading, struct err *err)
{
    const struct remedies *remedies = study->remedies;
    doc_list_begin(doc, key, heading);
    for (size_t i = 0; remedies && i < remedies->count; i++) {
        if (!(ways & 1U << remedy_words(remedies->items[i].key)->way))
            continue;
        doc_row_begin(doc);
        if (add_remedy(doc, study, &remedies->items[i], err))
            return -1;
        doc_row_end(doc);
    }
    doc_list_end(doc);
    return 0;
}

int page_remedies(struct doc *doc, const struct study *study, const struct view *view,
                  struct err *err)
{
    (void)view;
    return page_remedies_by(doc, study, ~0U, "remedies", "What would have helped", err);
}

/* --- the sentence --- */

/* True if it frees tensors that are held longer than needed, so that it ends a leak. */
static bool frees_earlier(const struct remedy *remedy)
{
    return remedy->key == REMEDY_held_over || remedy->key == REMEDY_no_grad ||
           remedy->key == REMEDY_caught || remedy->key == REMEDY_data_on_cpu;
}

/* True if the answer names the remedy. No use of idle memory serves a step that needs more. */
static bool is_said(const struct opening *opening, const struct remedy *remedy, unsigned ways)
{
    return ways & 1U << remedy_words(remedy->key)->way &&
           (!opening->failure_is_of_leak || frees_earlier(remedy)) &&
           (!opening->failure_needs_more || !remedy_is_of_allocator(remedy));
}

int page_remedies_say(struct opening *opening, const struct study *study, unsigned ways,
                      const char *lead, struct err *err)
{
    const struct remedies *remedies = study->remedies;
    struct words words;
    struct text text;
    bool is_compared = false, is_early = false;
    size_t said = 0;
    int status = 0;
    text_init(&text, TEXT_MAX);
    for (size_t i = 0; remedies && i < remedies->count && said < BEST; i++) {
        const struct remedy *remedy = &remedies->items[i];
        if (!is_said(opening, remedy, ways))
            continue;
        if (find_words(&words, study, remedy, err)) {
            text_release(&text);
            return -1;
        }
        text_add(&text, said ? "; " : "");
        add_filled(&text, remedy_words(remedy->key)->text, &words);
        said++;
        if (!remedy->gain_known) {
            text_add(&text, " (gain not known)");
            continue;
        }
        text_addf(&text, ": %s", BYTES_TEXT(remedy->gain_bytes));
        if (!remedy_is_of_allocator(remedy) && !is_compared)
            text_addf(&text, " of %s", BYTES_TEXT(remedies->need_bytes));
        is_compared |= !remedy_is_of_allocator(remedy);
        text_addf(&text, " less%s", remedy_is_of_allocator(remedy) ? " reserved" : "");
        is_early |= remedy->is_early || opening->failed_step_bytes > (double)remedies->need_bytes;
    }
    text_add(&text, is_early ? "; the rest of this step is still to come" : "");
    if (said && !text_failed(&text) && opening->failure_is_of_leak)
        status = page_join(opening, VERDICT_do, "%s", text.data);
    else if (said && !text_failed(&text))
        status = page_say(opening, VERDICT_do, "%s%c%s.", lead,
                          *lead ? *text.data : toupper((unsigned char)*text.data), text.data + 1);
    text_release(&text);
    return status;
}

int page_say_loaded(struct opening *opening, const struct study *study, uint32_t account,
                    const struct moment *moment, struct err *err)
{
    const struct remedies *remedies = study->remedies;
    const struct remedy *remedy = NULL;
    struct words words;
    struct text text;
    if (!remedies || remedies->has_failed || remedies->account != account ||
        remedies->moment.index != moment->index)
        return 1;
    for (size_t i = 0; i < remedies->count; i++)
        if (remedies->items[i].key == REMEDY_load_on_cpu)
            remedy = &remedies->items[i];
    if (!remedy)
        return 1;
    if (find_words(&words, study, remedy, err))
        return -1;
    const uint64_t rest_bytes = remedies->need_bytes - remedy->gain_bytes;
    const uint64_t reserved_bytes = study->history.accounts[account].reserved_bytes;
    if (reserved_bytes > rest_bytes + remedy->gain_bytes / 2)
        page_say(opening, VERDICT_why,
                 "Without the checkpoint that %s loads, at most %s would be live, but %s stays "
                 "reserved to the end.",
                 words.label, BYTES_TEXT(rest_bytes), BYTES_TEXT(reserved_bytes));
    text_init(&text, TEXT_MAX);
    add_filled(&text, remedy_words(remedy->key)->text, &words);
    const int status = text_failed(&text) ? 1
                                          : page_say(opening, VERDICT_do, "%c%s: %s of %s less.",
                                                     toupper((unsigned char)*text.data),
                                                     text.data + 1, BYTES_TEXT(remedy->gain_bytes),
                                                     BYTES_TEXT(remedies->need_bytes));
    text_release(&text);
    return status;
}

/* --- the command to run next --- */

#define MIB (UINT64_C(1) << 20)

/* True if the command can be pasted into a shell. A trace joins the arguments by spaces. So this
 * refuses a command that a shell would read differently, and a command with -c, because the program
 * after -c cannot be told from its arguments. */
static bool is_pasted_as_it_was(const char *command)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_-./+:@%,= ";
    return *command && command[strspn(command, plain)] == '\0' && !strstr(command, " -c ");
}

/* True if the command can be run alone. The command of one rank cannot, because a launcher sets its
 * environment. */
static bool has_whole_command(const struct study *study)
{
    const struct trace_meta *meta = &study->trace.meta;
    return meta->command.value && is_pasted_as_it_was(meta->command.value) && !meta->rank.known;
}

void page_oom_offer(struct opening *opening, const struct study *study,
                    const struct failure *failure)
{
    const struct trace_meta *meta = &study->trace.meta;
    const uint64_t card_bytes =
        study_card_bytes(study, study->history.accounts[failure->account].device);
    struct text line;
    if (oom_kind_of(&study->history, failure) != OOM_KIND_FATAL || !has_whole_command(study) ||
        study_has_no_limit(study) || (!meta->dry_run.value && !card_bytes))
        return;
    text_init(&line, OPENING_NEXT_BYTES);
    if (meta->dry_run.value)
        text_addf(&line, "fix --gpu=%s -- %s", meta->dry_run.value, meta->command.value);
    else
        text_addf(&line, "fix --limit=%" PRIu64 "MiB -- %s", card_bytes / MIB, meta->command.value);
    if (!text_failed(&line))
        page_next_whole(opening, line.data);
    text_release(&line);
}
