/* SPDX-License-Identifier: MIT */
/*
 * Starts a program in a process group of its own, without a terminal, and waits for it: for a command
 * that starts it again and again, and that a person may stop. It must not know what is loaded into it.
 */
#ifndef GPUMEMTRACE_ANALYZER_RUN_RUN_GROUP_H
#define GPUMEMTRACE_ANALYZER_RUN_RUN_GROUP_H

#include "run_child.h"

/*
 * From here on SIGINT, SIGTERM and SIGHUP stop the program that runs and not this process: its group
 * gets SIGTERM, and SIGKILL five seconds later or with the next such signal. One that was ignored
 * (nohup) stays ignored. Call once per process.
 */
void run_group_watch(void);
/* The first such signal since then; 0: none. */
int run_group_stopped_by(void);

/*
 * Runs path with argv, and the current environment with the variables ("NAME=VALUE", NULL ends them) in
 * it. stdin is empty; stdout and stderr go to the file log_path. Returns and fills as run_child does.
 */
int run_group(const char *path, char **argv, char *const *variables, const char *log_path,
              struct run_ended *ended, struct err *err);

#endif
