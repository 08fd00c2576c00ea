/* SPDX-License-Identifier: MIT */
/*
 * Writes the environment variable that switches on expandable segments in the PyTorch of the
 * recorded run. Uses the name that this release of PyTorch obeys, and keeps the words that the
 * variable already has.
 *
 *   before 2.10   PYTORCH_CUDA_ALLOC_CONF; 2.9 knows PYTORCH_ALLOC_CONF, but not for this setting
 *                 (github.com/pytorch/pytorch/issues/183387)
 *   from 2.10 on  PYTORCH_ALLOC_CONF; the other name is deprecated
 */
#ifndef GPUMEMTRACE_ANALYZER_REMEDY_TORCH_SETTING_H
#define GPUMEMTRACE_ANALYZER_REMEDY_TORCH_SETTING_H

#include "remedies.h"

/* Writes "PYTORCH_ALLOC_CONF=expandable_segments:True". Returns false if the account does not
 * belong to PyTorch's native allocator, if the setting is already on, or if the release lacks
 * it. */
bool torch_setting(char setting[REMEDY_SETTING_BYTES], const struct study *study, uint32_t account,
                   uint64_t index);

/* Writes any setting "name:value" that releases from `since` on obey (206 is 2.6). Returns false in
 * the same cases, and also if the trace is not PyTorch's. */
bool torch_setting_of(char setting[REMEDY_SETTING_BYTES], const struct trace *trace,
                      const char *words, int since);

#endif
