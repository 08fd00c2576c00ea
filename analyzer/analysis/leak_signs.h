/* SPDX-License-Identifier: MIT */
/*
 * Finds the cause of a leak by signs in the trace. Rows that rise in the same steps, and whose
 * blocks die together, have one cause. leak_signs.def lists the signs.
 */
#pragma once

#include "analyzer/analysis/holders/held_sums.h"
#include "leaks.h"

/* The facts that the conditions of leak_signs.def use, for the call stacks with one cause. */
struct leak_evidence {
    bool is_pytorch;   /* the account is PyTorch's pool */
    bool is_beside;    /* the memory is not the card's: managed, or pinned memory of the host */
    bool has_python;   /* the steepest call stack has Python frames */
    bool is_python;    /* the program has Python frames */
    bool tells_graphs; /* the trace tells which tensors autograd keeps */
    bool has_backward; /* the trace has a backward */
    bool in_function;  /* the steepest call stack is in the forward of a torch.autograd.Function */
    bool has_rounds;   /* backwards ran between most births of the stack that is born seldomest */
    bool goes_back;    /* backwards ran in most steps in which this stack grew */
    bool went_back;    /* backwards went through most of the graph */
    bool keeps_all;    /* three quarters of the graph's blocks were live at once */
    bool are_anywhere; /* the collapses came at different places of the program */
    bool outgrows;     /* the steepest call stack keeps each block beside a larger one */
    bool may_go_back;  /* memory was refused before any backward, so one may have been to come */
    bool is_of_backward;     /* a backward made some of the blocks */
    enum memory_kind memory; /* of a block that was live at the account's peak */
    double slope, graph_slope;
    double gradient_slope; /* of blocks that are made in a backward that records itself */
    size_t stacks, graph_stacks;
    size_t collapses;                     /* of the steepest call stack */
    uint64_t live_bytes, parameter_bytes; /* at the account's peak */
    uint64_t unfreed_bytes;               /* of these, blocks whose free failed */
    uint64_t births_count, frees_count;
    uint64_t most_live_count;       /* sum of what each call stack had live at once */
    const char *holder;             /* kind of the holder that keeps most of it; NULL: not known */
    struct held_sum held;           /* that holder; empty if it is not known */
    struct held_sum attribute;      /* of its items (held_sums_attribute) */
    struct held_sum second;         /* beside it (held_sums_second) */
    uint64_t walked_bytes;          /* of the call stacks, live at the walk that found the holder */
    const struct walk_blocks *walk; /* that walk */
};

struct leak_sign {
    const char *name, *why, *action;
};

/* NULL: no sign holds. */
const struct leak_sign *leak_sign_of(const struct leak_evidence *evidence);

/* Collects the facts about the rows of found->growing with the cluster number `cluster`. */
int leak_evidence_find(struct leak_evidence *evidence, const struct study *study, uint32_t account,
                       const struct account_leak *found, struct err *err);
