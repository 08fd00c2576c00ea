/* SPDX-License-Identifier: MIT */
/* Writes the setting of expandable segments; see torch_setting.h. */
#include "torch_setting.h"

#include "analyzer/replay/history/live_walk.h"
#include "analyzer/torch/frames.h"
#include "analyzer/torch/settings.h"

/* True if the account has segments that consist of mappings. Only expandable segments do. */
static bool has_mapped_segments(const struct history *history, uint32_t account, uint64_t index)
{
    struct live_walk walk = live_walk_begin(history, account, index);
    const struct segment *segment;
    while ((segment = live_walk_next_segment(&walk)))
        if (segment->mapped)
            return true;
    return false;
}

bool torch_setting(char setting[REMEDY_SETTING_BYTES], const struct study *study, uint32_t account,
                   uint64_t index)
{
    const struct torch_setup setup = trace_torch_setup(&study->trace);
    return torch_is_pool(study_pool(study, &study->history.accounts[account])) &&
           !has_mapped_segments(&study->history, account, index) &&
           torch_setting_write(setting, REMEDY_SETTING_BYTES, &setup, TORCH_EXPANDABLE,
                               TORCH_RELEASE_expandable);
}
