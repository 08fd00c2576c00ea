/* SPDX-License-Identifier: MIT */
/* Settings of PyTorch's allocator; see settings.h. */
#include "settings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/nearest.h"
#include "common/numbers.h"

#define MIB (UINT64_C(1) << 20)

/* The first PyTorch release that takes the block in the oldest segment if several free blocks have
 * the same size (github.com/pytorch/pytorch/pull/183591). A recording that shows another choice
 * overrides this. */
enum { OLDEST_FIRST = 213 };
/* The first release that obeys PYTORCH_ALLOC_CONF in all its words. */
enum { NEW_VARIABLE = 210 };

/* --- settings in PyTorch's form: "name:value,name:[value,value]" --- */

struct word {
    const char *text;
    size_t length;
};

static bool is_word(const struct word *word, const char *text)
{
    return word->length == strlen(text) && !strncmp(word->text, text, word->length);
}

static bool is_true(const struct word *word)
{
    return is_word(word, "True") || is_word(word, "true") || is_word(word, "1");
}

/* Splits the next setting off the text. A list in brackets is one value. False: there is none. */
static bool next_setting(const char **text, struct word *name, struct word *value)
{
    const char *at = *text + strspn(*text, ", ");
    const size_t name_length = strcspn(at, ":,");

    if (!*at)
        return false;
    *name = (struct word){at, name_length};
    at += name_length;
    at += *at == ':';
    *value = (struct word){at, *at == '[' ? strcspn(at, "]") : strcspn(at, ",")};
    *text = at + value->length + (at[value->length] == ']');
    return true;
}

static void apply_setting(struct whatif_settings *settings, const struct word *name,
                          const struct word *value)
{
    struct allocator_settings *own = &settings->allocator;

    if (is_word(name, "expandable_segments"))
        own->expandable_segments = is_true(value);
    else if (is_word(name, "max_split_size_mb"))
        own->max_split_bytes = strtoull(value->text, NULL, 10) * MIB;
    else if (is_word(name, "max_non_split_rounding_mb"))
        own->max_rest_bytes = strtoull(value->text, NULL, 10) * MIB;
    else if (is_word(name, "garbage_collection_threshold"))
        own->garbage_threshold = strtod(value->text, NULL);
    else if (is_word(name, "per_process_memory_fraction"))
        settings->fraction = strtod(value->text, NULL);
}

/* Prefers PyTorch's own report of its settings to the environment variables. Releases before 2.10
 * do not obey the newer variable; 2.9 obeys it, but not for expandable segments. */
static const char *find_setting(const struct trace *trace)
{
    const int release = trace_framework_release(trace, "torch");
    const char *reported = trace_allocator_setting(trace, "pytorch");
    const char *newer = trace_allocator_setting(trace, "PYTORCH_ALLOC_CONF");
    const char *older = trace_allocator_setting(trace, "PYTORCH_CUDA_ALLOC_CONF");

    if (reported)
        return reported;
    if (newer && (!release || release >= NEW_VARIABLE))
        return newer;
    return older ? older : "";
}

int settings_of_trace(struct whatif_settings *settings, const struct trace *trace, struct err *err)
{
    const char *text = find_setting(trace);
    struct word name, value;

    *settings = (struct whatif_settings){.allocator = allocator_default_settings()};
    settings->allocator.prefers_oldest = trace_framework_release(trace, "torch") >= OLDEST_FIRST;
    if (strstr(text, "cudaMallocAsync")) {
        err_set(
            err, ERR_USAGE,
            "%s: PyTorch ran with backend:cudaMallocAsync, whose memory the driver manages: there "
            "is no caching allocator to replay",
            trace->path);
        return -1;
    }
    while (next_setting(&text, &name, &value))
        apply_setting(settings, &name, &value);
    return 0;
}

/* --- settings in the form of --what-if --- */

static int wrong(const char *text, size_t length, struct err *err)
{
    static const char *const names[] = {"expandable_segments", "max_split_size", "no-cache",
                                        "garbage_collection", "memory_fraction"};
    char name[NEAREST_NAME_MAX], hint[NEAREST_HINT_BYTES];

    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, "=,"), text);
    err_set(err, ERR_USAGE,
            "--what-if=%.*s: it takes expandable_segments, max_split_size=SIZE, no-cache, "
            "garbage_collection=SHARE and memory_fraction=SHARE, with commas between%s",
            (int)(length < 100 ? length : 100), text,
            nearest_hint(hint, name, names, sizeof names / sizeof *names));
    return -1;
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
