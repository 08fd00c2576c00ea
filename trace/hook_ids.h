/* SPDX-License-Identifier: MIT */
/*
 * Number (hook_id in the trace), name and API of each hook, expanded from hooks.def. Needs no CUDA
 * types, because the analyzer includes it too.
 */
#pragma once

enum hook {
#define HOOK(api, name, parameters, arguments, kind, memory, device, address, size, object,        \
             stream)                                                                               \
    HOOK_##name,
#define SEEN(api, name) HOOK_##name,
#include "gpumemtrace/hooks.def"
    HOOK_COUNT
};

enum hook_api { API_driver, API_runtime, API_gpumemtrace };

struct hook_row {
    const char *name;
    enum hook_api api;
};

static const struct hook_row hook_rows[HOOK_COUNT] = {
#define HOOK(api, name, parameters, arguments, kind, memory, device, address, size, object,        \
             stream)                                                                               \
    [HOOK_##name] = {#name, API_##api},
#define SEEN(api, name) [HOOK_##name] = {#name, API_##api},
#include "gpumemtrace/hooks.def"
};

static inline const char *hook_name(enum hook hook)
{
    return hook_rows[hook].name;
}

static inline const char *hook_api(enum hook hook)
{
    static const char *const names[] = {"driver", "runtime", "gpumemtrace"};
    return names[hook_rows[hook].api];
}
