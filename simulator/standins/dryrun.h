/* SPDX-License-Identifier: MIT */
/*
 * The link from dryrun.c, which sees every dlopen, to dryrun_torch.c, which handles PyTorch.
 */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_DRYRUN_H

/* Call when the calling thread is about to load PyTorch's Python extension. */
void dryrun_torch_is_loaded(void);

#endif
