/* SPDX-License-Identifier: MIT */
/*
 * Categories of memory, shared by traces and estimates. A recorded block gets its category from
 * its owner, if a table knows it: category_modules.def (by library, for blocks of the driver) or
 * category_functions.def (by a framework's function, for blocks of the framework's pool). Else
 * category_rules.def tells it by the phase of birth, together with the block's use: which rounds of
 * training it lives through, and what made it. Where use and birth do not agree, it is "other".
 * Some kinds of memory also explain a peak: causes.def.
 */
#pragma once

#include <stdint.h>

#include "analyzer/replay/history/history.h"
#include "analyzer/symbol/symbols.h"
#include "analyzer/util/pair_map.h"

enum category {
#define CATEGORY(name, text) CATEGORY_##name,
#include "categories.def"
    CATEGORY_COUNT
};

enum cause {
#define CAUSE(key, text, remedy) CAUSE_##key,
#include "causes.def"
    CAUSE_COUNT
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
    struct pair_map *casting_places; /* of autocast, with their enum stack_use; on demand */
    uint8_t *of_copy;  /* by stack id: 2: it copies a weight, 1: it does not; 0: not asked */
    uint8_t *of_maker; /* by stack id: enum made + 1; 0: not looked up yet */
    struct pair_map *own_weights; /* number of tensors that may be weights, by size; on demand */
};

/* Number of the rule in category_rules.def that matches a phase's name, or PATH_RULE_NONE. The
 * replay stores it with each path. */
uint8_t category_rule_of(const char *name);

/* Category of a block that outlives a phase with this rule. For PATH_RULE_NONE, the category is
 * "other". */
enum category category_of_rule(uint8_t rule);

/* history and symbols must outlive the categories. */
int categories_init(struct categories *categories, const struct history *history,
                    struct symbols *symbols, struct err *err);
void categories_release(struct categories *categories);

/*
 * The category of a block, which depends on its whole life. A driver block that is a segment of a
 * framework's pool is "other", because the blocks of the pool's account, which lie in the segment,
 * have their own categories.
 */
enum category categories_of(const struct categories *categories, const struct block *block);

/* The kind of the block's memory; CAUSE_COUNT: none. */
enum cause categories_cause_of(const struct categories *categories, const struct block *block);

/* True for memory that stays over the training steps: block_stays(), or weights and states, whose
 * call stack may allocate again when a later step trains more of them. */
bool categories_stays(const struct categories *categories, const struct block *block);

/* True if a tensor with that stack is a workspace that a framework allocated for a library. */
bool categories_is_workspace(const struct categories *categories, uint32_t stack_id);
