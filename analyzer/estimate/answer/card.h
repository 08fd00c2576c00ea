/* SPDX-License-Identifier: MIT */
/* The card on which an estimate is to fit: a card's name or a size, as `run --dry-run` takes it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyzer/estimate/layer/layer_workspace.h"
#include "common/sim_spec.h"
#include "gpumemtrace/err.h"

#define CARD_NAME_BYTES 96

struct card {
    char name[CARD_NAME_BYTES]; /* "a 24 GiB card", "card h100 (79.11 GiB)" */
    uint64_t total_bytes, others_bytes;
    uint64_t context_bytes;   /* assumed */
    uint64_t nccl_bytes;      /* as the user says */
    uint64_t workspace_bytes; /* workspace that PyTorch holds for cuBLAS on such a card */
    struct layer_cores cores;
};

/* Makes the card of a spec, which `text` names. -1: it is not one card with a size (ERR_USAGE). */
int card_make(struct card *card, const struct sim_spec *spec, const char *text, struct err *err);
/* Returns the bytes that a framework may hold on the card. */
uint64_t card_free_bytes(const struct card *card);
