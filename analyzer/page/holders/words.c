/* SPDX-License-Identifier: MIT */
/* Holders and walks in words; see words.h. */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/render/units.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"

static const struct holder_words {
    const char *kind, *container, *verb, *action;
    bool is_garbage;
} kinds[] = {
#define HOLDER(kind, container, verb, is_garbage, action)                                          \
    {kind, container, verb, action, is_garbage},
#include "holder_words.def"
};

/* Returns the words of a kind; those of a kind that a newer recorder stored are general. */
static const struct holder_words *words_of(const struct held_sum *sum)
{
    static const struct holder_words unknown = {"", NULL, "made", NULL, false};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kinds[i].kind, sum->holder->kind))
            return &kinds[i];
    return &unknown;
}

static bool is_of_kind(const struct held_sum *sum, const char *kind)
{
    return !strcmp(sum->holder->kind, kind);
}

/* Returns the length of a chain without this ending. */
static size_t without(const char *chain, size_t length, const char *ending)
{
    const size_t cut = strlen(ending);
    return length >= cut && !strncmp(chain + length - cut, ending, cut) ? length - cut : length;
}

static const char *name_of_nothing(const struct held_sum *sum)
{
    return !sum->holder               ? "no object of Python's"
           : is_of_kind(sum, "cycle") ? "a reference cycle that no variable leads to"
                                      : "no variable that the walk found";
}

#define ARROW " -> "

/* Returns the function whose variables a frame, or the traceback of an exception, keeps, if a
 * variable of the program keeps it: "run" of "main: errors[*] -> run". Else returns NULL. */
static const char *function_of_frame(const struct held_sum *sum, const char *chain)
{
    const bool is_kept = is_of_kind(sum, "exception") || is_of_kind(sum, "frame");
    const char *arrow = is_kept ? strstr(chain, ARROW) : NULL;
    return arrow && strncmp(chain, "sys.", 4) && !strpbrk(arrow + strlen(ARROW), ":[")
               ? arrow + strlen(ARROW)
               : NULL;
}

/* A longer chain is cut. */
enum { CHAIN_MOST_BYTES = 240 };

const char *holder_name(char out[HOLDER_TEXT_BYTES], const struct trace *trace,
                        const struct held_sum *sum)
{
    const char *chain = sum->holder ? trace_string(trace, sum->holder->chain_id) : "";
    struct text text;
    if (!*chain)
        return name_of_nothing(sum);
    const bool is_graph = is_of_kind(sum, "graph");
    const char *function = function_of_frame(sum, chain);
    const size_t bare = sum->chain_bytes ? sum->chain_bytes
                        : function       ? (size_t)(function - chain) - strlen(ARROW)
                                   : without(chain, strlen(chain), is_graph ? ARROW "graph" : "");
    const char *container = words_of(sum)->container;
    text_init_in(&text, out, HOLDER_TEXT_BYTES);
    text_clear(&text);
    const size_t length = without(chain, bare, "[*]");
    if (length > CHAIN_MOST_BYTES)
        text_addf(&text, "%.*s…", (int)utf8_cut_length(chain, CHAIN_MOST_BYTES), chain);
    else
        text_addf(&text, "%.*s", (int)length, chain);
    /* The number is that of the container at the end, or of the only one. */
    const char *first = strstr(chain, "[*]");
    const bool has_count = sum->items_count && (!first || length < bare);
    if (has_count && container)
        text_addf(&text, " (%s of %" PRIu64 ")", container, sum->items_count);
    else if (has_count)
        text_addf(&text, " (%" PRIu64 " item%s)", sum->items_count,
                  sum->items_count == 1 ? "" : "s");
    text_add(&text, is_graph ? ", through autograd's graph" : "");
    if (function)
        text_addf(&text, ", %s keeps the variables of %s",
                  is_of_kind(sum, "frame") ? "a frame that" : "an exception whose traceback",
                  function);
    return out;
}

const char *holder_place(char out[HOLDER_TEXT_BYTES], const struct trace *trace,
                         const struct held_sum *sum)
{
    const uint32_t id = sum->holder && !sum->chain_bytes ? sum->holder->location_id : 0;
    *out = 0;
    if (id && id < trace->location_limit && trace->locations[id].line)
        snprintf(out, HOLDER_TEXT_BYTES, ", %s at %s:%" PRIu32, words_of(sum)->verb,
                 path_name(trace_string(trace, trace->locations[id].file_id)),
                 trace->locations[id].line);
    return out;
}

const char *holder_action(const struct held_sum *sum)
{
    return sum->holder ? words_of(sum)->action : NULL;
}

bool holder_is_garbage(const struct held_sum *sum)
{
    return sum->holder && words_of(sum)->is_garbage;
}

const char *walk_words(char out[WALK_TEXT_BYTES], const struct walk_blocks *walk)
{
    if (!strcmp(walk->walk->reason, "end"))
        return "at the end";
    if (!strcmp(walk->walk->reason, "oom"))
        return "at the failed allocation";
    snprintf(out, WALK_TEXT_BYTES, "at %s after the start",
             DURATION_TEXT((int64_t)walk->at.time_ns));
    return out;
}

const char *walk_limit(char out[WALK_TEXT_BYTES], const struct walk_blocks *walk)
{
    const char *stopped = walk->walk->stopped;
    const bool is_limit = stopped && (!strcmp(stopped, "time") || !strcmp(stopped, "objects") ||
                                      !strcmp(stopped, "memory"));
    *out = 0;
    if (stopped)
        snprintf(out, WALK_TEXT_BYTES,
                 " The walk stopped early (%s%s), so other holders may be missing.",
                 is_limit ? "at its limit of " : "", is_limit ? stopped : "an error");
    return out;
}
