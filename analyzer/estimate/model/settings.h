/* SPDX-License-Identifier: MIT */
/* The settings of a model's run, from settings.def. The model file may set them, and options
 * override the file. */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "analyzer/estimate/layer/dtype.h"
#include "analyzer/estimate/layer/layer_workspace.h"
#include "optimizer.h"
#include "analyzer/estimate/parallel/parallel.h"
#include "gpumemtrace/err.h"

#define SETTING_MEMBER_COUNT(name) uint64_t name;
#define SETTING_MEMBER_DTYPE(name) enum dtype name;
#define SETTING_MEMBER_AUTOCAST(name) enum dtype name; /* float32: none */
#define SETTING_MEMBER_OPTIMIZER(name) enum optimizer name;
#define SETTING_MEMBER_CHECKPOINTS(name) struct checkpointing name;
#define SETTING_MEMBER_OTHER_DTYPE(name) enum dtype name; /* DTYPE_COUNT: not given */
#define SETTING_MEMBER_PARALLEL(name) enum parallel name;
#define SETTING_MEMBER_RESHARD(name) enum reshard name;
#define SETTING_MEMBER_LOGITS(name) enum logits name;
#define SETTING_MEMBER_RELEASE(name) uint64_t name; /* 113 for 1.13.1; 0: the newest */

/* Whether the loop holds the model's output (logits) while backward runs. */
enum logits {
    LOGITS_kept,
    LOGITS_dropped,
    LOGITS_chunked /* there is no whole output: head and loss are one operation on pieces */
};

const char *logits_name(enum logits logits);

/* Releases of PyTorch since which memory differs: 200 for 2.0. */
enum release {
    TORCH_softmax = 111, /* softmax saves only its result */
    TORCH_foreach = 200  /* optimizers are foreach, and zero_grad frees the gradients */
};

/* The blocks that backward runs again. */
struct checkpointing {
    uint64_t together; /* number of blocks in a segment; 0: none */
    uint64_t every;    /* only every `every`th block; below 2: every block */
    bool selective;    /* results of attention and of every second product are kept */
};

enum serve_pass { SERVE_none, SERVE_prefill, SERVE_decode };

/* A run with a cache of keys and values. The cache exists before the run. */
struct serve {
    enum serve_pass pass;
    uint64_t tokens;                   /* in a sequence at its end */
    const struct cache_growth *growth; /* one pass for each token; NULL: for the last token */
    uint64_t pool_bytes;  /* pool made before the run for all sequences; 0: caches grow by copies */
    uint64_t pool_pieces; /* number of tensors that the pool has */
};

struct settings {
#define SETTING(name, option, type, value, argument, standard, unit, effect)                       \
    SETTING_MEMBER_##type(name)
#include "settings.def"
    bool training;
    uint64_t stages;     /* of a pipeline; this run is its first stage; below 2: no pipeline */
    uint64_t nccl_bytes; /* held by NCCL beside the framework's segments; 0: not counted */
    struct serve serve;
    /* held by libraries from the first training step on; 0: not counted */
    uint64_t workspace_bytes;
    struct layer_cores cores; /* of the card; they decide the workspaces of convolutions */
};

/* The default settings: training, batch 1, float32, AdamW … */
struct settings settings_standard(void);

/* Checks that the settings fit each other. -1: ERR_USAGE. */
int settings_check(const struct settings *settings, struct err *err);

/* Reads a type that autocast can use. -1: ERR_USAGE. */
int settings_parse_autocast(const char *text, enum dtype *dtype, struct err *err);
/* Parses "2", "selective" or "every-2". -1: ERR_USAGE. */
int settings_parse_checkpoints(const char *text, struct checkpointing *checkpointing,
                               struct err *err);
/* Parses "1.13" or "2.0.1". -1: ERR_USAGE. */
int settings_parse_release(const char *text, uint64_t *release, struct err *err);
/* Returns whether the settings' PyTorch is older than the release. */
bool settings_before(const struct settings *settings, enum release release);
/* Returns the form that the optimizer has in the settings' release of PyTorch. */
enum optimizer settings_optimizer(const struct settings *settings);
int settings_parse_logits(const char *text, enum logits *logits, struct err *err);
/* Takes a key of a model file and its value. 1: the key is no setting; -1: *err says what the value
 * must be. */
int settings_take(struct settings *settings, const char *key, const json_t *value, struct err *err);
