/* SPDX-License-Identifier: MIT */
/*
 * Executable graphs. They outlive the graphs they were made from. Not thread-safe: the simulator's
 * lock covers them.
 */
#ifndef GPUMEMTRACE_SIMULATOR_GRAPH_EXEC_H
#define GPUMEMTRACE_SIMULATOR_GRAPH_EXEC_H

struct graph;

/* The graph goes: its executable one stays and must not look for it. */
void graph_exec_forget(struct graph *graph);

#endif
