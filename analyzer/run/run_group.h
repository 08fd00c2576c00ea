/* SPDX-License-Identifier: MIT */
/* Starts a program in a process group of its own, without a terminal, and waits for it. This serves
 * a command that starts programs again and again and that a user may stop. */
#pragma once

#include "run_child.h"

/* From now on SIGINT, SIGTERM and SIGHUP stop the running program instead of this process: the
 * program's group gets SIGTERM. Five seconds later, or at the next such signal, the group gets
 * SIGKILL. An ignored signal (nohup) stays ignored. Call once per process. */
void run_group_watch(void);
/* Returns the first such signal since run_group_watch; 0: none. */
int run_group_stopped_by(void);

/* Runs path with argv and the current environment plus the variables ("NAME=VALUE", ended
 * by NULL). stdin is empty; stdout and stderr go to the file log_path. Returns the same value as
 * run_child, and fills *ended in the same way. */
int run_group(const char *path, char **argv, char *const *variables, const char *log_path,
              struct run_ended *ended, struct err *err);
