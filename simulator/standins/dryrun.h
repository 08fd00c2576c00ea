/* SPDX-License-Identifier: MIT */
/*
 * The link from dryrun.c, which sees every dlopen, to dryrun_torch.c, which handles PyTorch.
 */
#pragma once

/* Call when the calling thread is about to load PyTorch's Python extension. */
void dryrun_torch_is_loaded(void);
