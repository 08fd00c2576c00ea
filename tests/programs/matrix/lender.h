/* SPDX-License-Identifier: MIT */
/*
 * A second process that lends its memory: `matrix lend`. It prints the memory's handles to stdout
 * and keeps the memory until its stdin ends.
 */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "gpumemtrace/cuda/abi.h"

#define LENT_BYTES ((size_t)4 << 20)

struct lender {
    pid_t process;
    int stop; /* closing it ends the process */
};

/* Returns false if processes of this machine cannot lend memory. */
bool lender_start(struct lender *lender, CUipcMemHandle *handle);
void lender_stop(struct lender *lender);

/* The main function of the second process; returns its exit status. */
int lender_main(const struct driver_api *api);
