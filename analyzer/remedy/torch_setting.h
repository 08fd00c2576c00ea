/* SPDX-License-Identifier: MIT */
/*
 * Writes the environment variable that switches on expandable segments in the PyTorch of the
 * recorded run.
 */
#pragma once

#include "remedies.h"

/* Writes "PYTORCH_ALLOC_CONF=expandable_segments:True". Returns false if the account does not
 * belong to PyTorch's native allocator, if the setting is already on, or if the release lacks
 * it. */
bool torch_setting(char setting[REMEDY_SETTING_BYTES], const struct study *study, uint32_t account,
                   uint64_t index);
