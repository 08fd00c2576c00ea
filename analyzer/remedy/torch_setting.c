/* SPDX-License-Identifier: MIT */
/* Writes the setting of expandable segments; see torch_setting.h. */
#include "torch_setting.h"

#include <stdio.h>
#include <string.h>

#include "analyzer/replay/history/live_walk.h"

/* Releases of PyTorch. FIRST is the first that has the setting. DEAF reads the new name of the
 * variable but ignores this setting in it. NEW_NAME is the first that obeys the new name. */
enum { FIRST = 201, DEAF = 209, NEW_NAME = 210 };

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

/* Writes the setting. Keeps the other words of the variable, and replaces its old word for this
 * setting. */
static void write_setting(char *setting, const char *variable, const char *value, const char *words)
{
    char name[64];
    snprintf(name, sizeof name, "%.*s:", (int)strcspn(words, ":"), words);
    const char *old = value ? strstr(value, name) : NULL;
    const char *rest = old ? strchr(old, ',') : NULL;
    const int before = old ? (int)(old - value) : value ? (int)strlen(value) : 0;
    const bool is_closed = !before || value[before - 1] == ',';
    snprintf(setting, REMEDY_SETTING_BYTES, "%s=%.*s%s%s%s", variable, before, value ? value : "",
             is_closed ? "" : ",", words, rest ? rest : "");
}

bool torch_setting_of(char setting[REMEDY_SETTING_BYTES], const struct trace *trace,
                      const char *words, int since)
{
    const int release = trace_framework_release(trace, "torch");
    const char *variable = release >= NEW_NAME ? "PYTORCH_ALLOC_CONF" : "PYTORCH_CUDA_ALLOC_CONF";
    const char *value = trace_allocator_setting(trace, variable);
    if (!value && release >= NEW_NAME) /* the old name is an alias of the new one */
        value = trace_allocator_setting(trace, "PYTORCH_CUDA_ALLOC_CONF");
    const char *taken = release == DEAF ? NULL : trace_allocator_setting(trace, "pytorch");
    if ((release && release < since) || (value && strstr(value, words)) ||
        (taken && strstr(taken, words)))
        return false;
    write_setting(setting, variable, value, words);
    return true;
}

bool torch_setting(char setting[REMEDY_SETTING_BYTES], const struct study *study, uint32_t account,
                   uint64_t index)
{
    const char *pool = study_pool(study, &study->history.accounts[account]);
    return pool && !strcmp(pool, "pytorch") &&
           !has_mapped_segments(&study->history, account, index) &&
           torch_setting_of(setting, &study->trace, "expandable_segments:True", FIRST);
}
