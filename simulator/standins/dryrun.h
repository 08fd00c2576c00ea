/* SPDX-License-Identifier: MIT */
/*
 * What dryrun.c, which sees what is opened, tells the part that knows PyTorch.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_H

/* PyTorch's Python extension is about to be loaded by the calling thread. */
void dryrun_torch_is_loaded(void);

#endif
