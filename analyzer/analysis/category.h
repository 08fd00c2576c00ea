/* SPDX-License-Identifier: MIT */
/*
 * Categories of memory, shared by traces and estimates. Recorded blocks get theirs from three
 * tables of rules: category_rules.def (phases), category_modules.def (libraries, for blocks of the
 * driver) and category_functions.def (functions of frameworks, for blocks of their pools).
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

/* The rules applied to one trace. The category of a function is looked up when first needed. */
struct categories {
    const struct history *history;
    struct symbols *symbols;
    uint8_t *of_stack;    /* by stack id: category of the library, or CATEGORY_COUNT */
    uint8_t *of_function; /* by stack id: category of the function + 1; 0: not looked up yet */
    uint8_t *of_location; /* by Python location: category of the function, or CATEGORY_COUNT */
};

/* Number of the rule in category_rules.def that matches a phase's name, or PATH_RULE_NONE. The
 * replay stores it with each path. */
uint8_t category_rule_of(const char *name);

/* Category of a block that outlives a phase with this rule; PATH_RULE_NONE: other. */
enum category category_of_rule(uint8_t rule);

/* history and symbols must outlive the categories. */
int categories_init(struct categories *categories, const struct history *history,
                    struct symbols *symbols, struct err *err);
void categories_release(struct categories *categories);

/*
 * The category of a block, in the light of its whole life. A driver block that is a segment of a
 * framework's pool is "other", because the pool's account gives its blocks their own categories.
 */
enum category categories_of(const struct categories *categories, const struct block *block);

/* True if a framework allocated the tensor of that stack as a library's workspace. */
bool categories_is_workspace(const struct categories *categories, uint32_t stack_id);

#endif
