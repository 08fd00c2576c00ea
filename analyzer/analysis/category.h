/* SPDX-License-Identifier: MIT */
/*
 * Categories of memory, shared by traces and estimates. Measured blocks get theirs from three
 * tables of rules: category_rules.def (phases), category_modules.def (libraries, of the driver's
 * blocks) and category_functions.def (functions of frameworks, of their pools' blocks). It must not
 * know how either side prints them.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_CATEGORY_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_CATEGORY_H

#include <stdint.h>

#include "analyzer/replay/history/history.h"
#include "analyzer/symbol/symbols.h"

enum category {
#define CATEGORY(name, text) CATEGORY_##name,
#include "categories.def"
    CATEGORY_COUNT
};

/* JSON key ("kv_cache") and name for people ("KV cache"). */
const char *category_key(enum category category);
const char *category_title(enum category category);

/* The rules, applied to one trace. Functions are looked up when they are first asked for. */
struct categories {
    const struct history *history;
    struct symbols *symbols;
    uint8_t *of_stack;    /* by stack id: category of the library, or CATEGORY_COUNT */
    uint8_t *of_function; /* by stack id: category + 1 of the function; 0: not looked up yet */
    uint8_t *of_location; /* by Python location: category of the function, or CATEGORY_COUNT */
};

/* The number of the rule in category_rules.def that a phase's name matches, or PATH_RULE_NONE: what
 * the replay has to know of a phase. */
uint8_t category_rule_of(const char *name);

/* What such a rule says of a block that outlives its phase; PATH_RULE_NONE: other. */
enum category category_of_rule(uint8_t rule);

/* history and symbols must outlive the categories. */
int categories_init(struct categories *categories, const struct history *history,
                    struct symbols *symbols, struct err *err);
void categories_release(struct categories *categories);

/*
 * What the block is for, in the light of its whole life. A driver block that a framework pool cuts
 * into pieces is "other": its bytes have a category as pieces, in the pool's layer.
 */
enum category categories_of(const struct categories *categories, const struct block *block);

/* Whether a framework took a tensor of that stack for a library's workspace. */
bool categories_is_workspace(const struct categories *categories, uint32_t stack_id);

#endif
