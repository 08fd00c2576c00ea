/* SPDX-License-Identifier: MIT */
/*
 * How to switch on expandable segments in the PyTorch that ran: by the variable that its release
 * obeys, beside what that already says. It must not know whether that would help.
 *
 *   before 2.10   PYTORCH_CUDA_ALLOC_CONF; 2.9 knows PYTORCH_ALLOC_CONF, but not for this setting
 *                 (github.com/pytorch/pytorch/issues/183387)
 *   from 2.10 on  PYTORCH_ALLOC_CONF; the other name is deprecated
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_TORCH_SETTING_H
#define GPUMEMTRACE_ANALYZER_REMEDY_TORCH_SETTING_H

#include "remedies.h"

/* "PYTORCH_ALLOC_CONF=expandable_segments:True". False: the account is none of PyTorch's native
 * allocator, the setting is on already, or the release does not have it. */
bool torch_setting(char setting[REMEDY_SETTING_BYTES], const struct study *study, uint32_t account,
                   uint64_t index);

/* The same of any setting, "name:value", that releases since then obey (206 is 2.6), in a trace of PyTorch's. */
bool torch_setting_of(char setting[REMEDY_SETTING_BYTES], const struct trace *trace,
                      const char *words, int since);

#endif
