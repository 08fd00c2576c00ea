/* SPDX-License-Identifier: MIT */
/*
 * A second process that has memory and lends it: `matrix lend`. It says what it lends on its stdout
 * and keeps it until its stdin ends.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_MATRIX_LENDER_H
#define GPUMEMTRACE_TESTS_PROGRAMS_MATRIX_LENDER_H

#include <stdbool.h>
#include <sys/types.h>

#include "gpumemtrace/cuda/abi.h"

#define LENT_BYTES ((size_t)4 << 20)

struct lender {
    pid_t process;
    int stop; /* closed: it ends */
};

/* false: this machine's processes cannot lend. */
bool lender_start(struct lender *lender, CUipcMemHandle *handle);
void lender_stop(struct lender *lender);

/* The second process itself; its exit status. */
int lender_main(const struct driver_api *api);

#endif
