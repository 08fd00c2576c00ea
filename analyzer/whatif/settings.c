/* SPDX-License-Identifier: MIT */
/* Settings of PyTorch's allocator; see settings.h. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/torch/settings.h"
#include "analyzer/util/nearest.h"
#include "common/numbers.h"

#define MIB (UINT64_C(1) << 20)

static void apply_setting(struct whatif_settings *settings, const struct torch_value *value)
{
    struct allocator_settings *own = &settings->allocator;
    switch (value->word) {
    case TORCH_WORD_expandable_segments:
        own->expandable_segments = torch_is_true(value);
        break;
    case TORCH_WORD_max_split_size_mb:
        own->max_split_bytes = strtoull(value->text, NULL, 10) * MIB;
        break;
    case TORCH_WORD_max_non_split_rounding_mb:
        own->max_rest_bytes = strtoull(value->text, NULL, 10) * MIB;
        break;
    case TORCH_WORD_garbage_collection_threshold:
        own->garbage_threshold = strtod(value->text, NULL);
        break;
    case TORCH_WORD_per_process_memory_fraction:
        settings->fraction = strtod(value->text, NULL);
        break;
    case TORCH_WORDS:
        break;
    }
}

int settings_of_trace(struct whatif_settings *settings, const struct trace *trace, struct err *err)
{
    const struct torch_setup setup = trace_torch_setup(trace);
    const char *text = torch_settings(&setup);
    struct torch_value value;
    *settings = (struct whatif_settings){.allocator = allocator_default_settings()};
    settings->allocator.prefers_oldest = setup.release >= TORCH_RELEASE_oldest_first;
    if (torch_caches_in_driver(text))
        return err_set(
            err, ERR_USAGE,
            "%s: PyTorch ran with backend:cudaMallocAsync, whose memory the driver manages: there "
            "is no caching allocator to replay",
            trace->path);
    while (torch_next_setting(&text, &value))
        apply_setting(settings, &value);
    return 0;
}

/* --- settings in the form of --what-if --- */

static int wrong(const char *text, size_t length, struct err *err)
{
    static const char *const names[] = {"expandable_segments", "max_split_size", "no-cache",
                                        "garbage_collection", "memory_fraction"};
    char name[NEAREST_NAME_MAX], hint[NEAREST_HINT_BYTES];
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "=,"), text);
    return err_set(err, ERR_USAGE,
                   "--what-if=%.*s: it takes expandable_segments, max_split_size=SIZE, no-cache, "
                   "garbage_collection=SHARE and memory_fraction=SHARE, with commas between%s",
                   (int)(length < 100 ? length : 100), text,
                   nearest_hint(hint, name, names, sizeof names / sizeof *names));
}

static bool read_share(const char *text, double *share)
{
    char *end;
    *share = strtod(text, &end);
    return end != text && !*end && *share > 0 && *share <= 1;
}

static bool change_one(struct whatif_settings *settings, const char *text)
{
    static const char split[] = "max_split_size=", garbage[] = "garbage_collection=",
                      fraction[] = "memory_fraction=";
    struct allocator_settings *own = &settings->allocator;
    struct err ignored = {0}; /* the caller names all valid settings */

    if (!strcmp(text, "expandable_segments"))
        return own->expandable_segments = true;
    if (!strcmp(text, "no-cache")) {
        *own = allocator_default_settings();
        return own->no_caching = true;
    }
    if (!strncmp(text, split, sizeof split - 1))
        return !size_parse(text + sizeof split - 1, &own->max_split_bytes, &ignored) &&
               own->max_split_bytes >= ALLOCATOR_LARGE_SEGMENT_BYTES;
    if (!strncmp(text, garbage, sizeof garbage - 1))
        return read_share(text + sizeof garbage - 1, &own->garbage_threshold);
    if (!strncmp(text, fraction, sizeof fraction - 1))
        return read_share(text + sizeof fraction - 1, &settings->fraction);
    return false;
}

int settings_change(struct whatif_settings *settings, const char *text, struct err *err)
{
    char one[64];
    while (*text) {
        const size_t length = strcspn(text, ",");

        snprintf(one, sizeof one, "%.*s", (int)length, text);
        if (length >= sizeof one || !change_one(settings, one))
            return wrong(text, length, err);
        text += length + (text[length] == ',');
    }
    return 0;
}
