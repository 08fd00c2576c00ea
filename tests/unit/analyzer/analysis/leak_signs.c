/* SPDX-License-Identifier: MIT */
/* Facts about a leak, and the sign that they are. */
#include <string.h>

#include "analyzer/analysis/leak_signs.h"
#include "tests/unit/unit_test.h"

#define PYTORCH                                                                                    \
    .is_pytorch = true, .is_python = true, .has_python = true, .tells_graphs = true, .slope = 100

static const struct {
    const char *expected; /* NULL: none */
    struct leak_evidence evidence;
} cases[] = {
    {"function_context", {PYTORCH, .in_function = true, .has_backward = true, .collapses = 1}},
    {"kept_without_graph", {PYTORCH, .in_function = true}},
    {"gradient_graph",
     {PYTORCH, .graph_slope = 90, .gradient_slope = 30, .keeps_all = true, .stacks = 9}},
    {"no_backward",
     {PYTORCH, .graph_slope = 70, .keeps_all = true, .stacks = 3, .graph_stacks = 2}},
    {"no_backward",
     {PYTORCH, .graph_slope = 70, .keeps_all = true, .stacks = 2, .graph_stacks = 1}},
    {"kept_result",
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .stacks = 1, .graph_stacks = 1}},
    {"graph_chain",
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .has_rounds = true, .graph_stacks = 3}},
    {"graph_chain",
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .has_rounds = true, .went_back = true,
      .graph_stacks = 3}},
    {"kept_result",
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .has_rounds = true, .went_back = true,
      .graph_stacks = 2}},
    {"kept_result", /* copies by hooks: a backward runs in each step, through other tensors */
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .goes_back = true, .stacks = 2,
      .graph_stacks = 2}},
    {NULL, /* the same by many lines */
     {PYTORCH, .graph_slope = 100, .keeps_all = true, .goes_back = true, .stacks = 3,
      .graph_stacks = 3}},
    {NULL,
     {PYTORCH, .graph_slope = 100, .has_rounds = true, .graph_stacks = 3}}, /* half is freed */
    {NULL,
     {PYTORCH, .graph_slope = 70, .keeps_all = true, .stacks = 3, .graph_stacks = 2,
      .may_go_back = true}},
    /* a walk found the holder: a sign that supposes another one does not hold */
    {NULL, {PYTORCH, .holder = "list", .stacks = 1}},
    {NULL, {PYTORCH, .holder = "cache", .live_bytes = 100, .parameter_bytes = 60}},
    {NULL,
     {PYTORCH, .holder = "exception", .has_backward = true, .graph_slope = 100, .keeps_all = true,
      .stacks = 1, .graph_stacks = 1}},
    {NULL, {PYTORCH, .holder = "list", .in_function = true, .has_backward = true, .collapses = 1}},
    {"function_context",
     {PYTORCH, .holder = "cycle", .in_function = true, .has_backward = true, .collapses = 1}},
    {"graph_chain",
     {PYTORCH, .holder = "graph", .has_backward = true, .graph_slope = 100, .keeps_all = true,
      .has_rounds = true, .graph_stacks = 3}},
    {"graph_chain", /* a dict of four means that go on from step to step */
     {PYTORCH, .holder = "graph", .has_backward = true, .graph_slope = 100, .keeps_all = true,
      .has_rounds = true, .goes_back = true, .stacks = 3, .graph_stacks = 3, .most_live_count = 60,
      .held.items_count = 4}},
    {NULL, /* a list of all outputs */
     {PYTORCH, .holder = "graph", .has_backward = true, .graph_slope = 100, .keeps_all = true,
      .has_rounds = true, .goes_back = true, .stacks = 3, .graph_stacks = 3, .most_live_count = 60,
      .held.items_count = 20}},
    {NULL,
     {PYTORCH, .holder = "dict", .has_backward = true, .graph_slope = 100, .keeps_all = true,
      .has_rounds = true, .graph_stacks = 3}},
    {"graph_without_backward", {PYTORCH, .holder = "graph", .stacks = 1}},
    {NULL, {PYTORCH, .holder = "graph", .has_backward = true, .stacks = 1}},
    {NULL, {PYTORCH, .is_of_backward = true}},
    {NULL, {PYTORCH, .graph_slope = 5, .graph_stacks = 1}}, /* it may keep the rest as its input */
    {NULL, {.is_pytorch = true, .tells_graphs = true}},     /* no call stack grows by itself */
    {"freed_at_last", {.slope = 100, .births_count = 20, .frees_count = 20, .most_live_count = 20}},
    {NULL, /* some were freed before the last was made */
     {.slope = 100, .births_count = 20, .frees_count = 20, .most_live_count = 15}},
    {"kept_models", {PYTORCH, .live_bytes = 100, .parameter_bytes = 60}},
    {"kept_without_graph", {PYTORCH, .live_bytes = 100, .parameter_bytes = 40}},
    {"reference_cycle", {PYTORCH, .collapses = 2, .are_anywhere = true}},
    {NULL, {PYTORCH, .collapses = 2}}, /* always at one place: the program does it */
    {NULL, {PYTORCH, .graph_slope = 40, .keeps_all = true, .graph_stacks = 3}},
    {NULL, {.is_pytorch = true, .has_python = true, .slope = 100}}, /* graphs are not known */
    {"missing_free", {.slope = 100, .births_count = 20}},
    {"failed_free", {.slope = 100, .births_count = 20, .live_bytes = 100, .unfreed_bytes = 60}},
    {"missing_free", {.slope = 100, .births_count = 20, .live_bytes = 100, .unfreed_bytes = 40}},
    {"outgrown_block", {.slope = 100, .births_count = 20, .frees_count = 1, .outgrows = true}},
    {NULL, {.slope = 100, .has_python = true, .births_count = 20, .outgrows = true}},
    {"some_freed", {.slope = 100, .births_count = 20, .frees_count = 10}},
    {NULL, /* gradients that the program keeps; autograd's threads have no Python frames */
     {.is_pytorch = true,
      .is_python = true,
      .tells_graphs = true,
      .is_of_backward = true,
      .slope = 100,
      .births_count = 20,
      .frees_count = 10}},
    {NULL,
     {.is_pytorch = true,
      .is_python = true,
      .tells_graphs = true,
      .is_of_backward = true,
      .slope = 100,
      .births_count = 20}},
    {"missing_free", {.is_beside = true, .slope = 100, .births_count = 20}},
    {NULL, /* the signs of tensors say nothing of pinned memory */
     {.is_beside = true,
      .has_python = true,
      .slope = 100,
      .in_function = true,
      .has_backward = true}},
    {NULL, {.slope = 100, .has_python = true, .births_count = 20}}, /* a driver's block in Python */
};

TEST(the_first_sign_that_holds_is_the_cause)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct leak_sign *sign = leak_sign_of(&cases[i].evidence);
        if (!sign != !cases[i].expected || (sign && strcmp(sign->name, cases[i].expected)))
            fail_msg("case %zu: %s instead of %s", i, sign ? sign->name : "none",
                     cases[i].expected ? cases[i].expected : "none");
    }
}

UNIT_MAIN(NULL, NULL)
