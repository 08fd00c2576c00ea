/* SPDX-License-Identifier: MIT */
/*
 * See sim_spec.h.
 */
#include "sim_spec.h"

#include <inttypes.h>
#include <string.h>

#include "numbers.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)
#define CONTEXT_DEFAULT_BYTES (300 * MIB)
#define TEXT_LIMIT 64

struct preset {
    const char *name, *device_name;
    uint64_t mib, context_mib, l2_mib;
    int major, minor, processor_count;
};

static const struct preset presets[] = {
#define PRESET(name, device_name, mib, context_mib, major, minor, processor_count, l2_mib, source) \
    {name, device_name, mib, context_mib, l2_mib, major, minor, processor_count},
#include "sim_presets.def"
};

static int complain(struct err *err, const char *part, const char *reason)
{
    return err_set(
        err, ERR_USAGE,
        "'%s' is not a simulated device: %s; use for example 16GiB, 2x80GiB, h100,others=3GiB "
        "or any",
        part, reason);
}

/* Reads the "2x" of "2x80GiB" and returns the rest. NULL: not a valid number of devices. */
static const char *read_count(const char *text, int *count)
{
    uint64_t value;
    const char *end = digits_read(text, &value);
    *count = 1;
    if (end == text || *end != 'x')
        return text;
    if (value < 1 || value > SIM_DEVICE_LIMIT)
        return NULL;
    *count = (int)value;
    return end + 1;
}

/* rtx3090 is the same as rtx-3090. */
static bool is_same_but_for_hyphens(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-");
        b += strspn(b, "-");
        if (*a != *b)
            return false;
        if (!*a)
            return true;
    }
}

static const struct preset *preset_find(const char *name)
{
    for (size_t i = 0; i < sizeof presets / sizeof presets[0]; i++)
        if (is_same_but_for_hyphens(presets[i].name, name))
            return &presets[i];
    return NULL;
}

static void apply_preset(const struct preset *preset, struct sim_spec *spec)
{
    snprintf(spec->device_name, sizeof spec->device_name, "%s", preset->device_name);
    spec->total_bytes = preset->mib * MIB;
    spec->context_bytes = preset->context_mib * MIB;
    spec->l2_bytes = preset->l2_mib * MIB;
    spec->capability_major = preset->major;
    spec->capability_minor = preset->minor;
    spec->processor_count = preset->processor_count;
}

static void name_size(struct sim_spec *spec)
{
    const bool is_whole = spec->total_bytes % GIB == 0;
    snprintf(spec->device_name, sizeof spec->device_name, "Simulated GPU (%" PRIu64 " %s)",
             spec->total_bytes / (is_whole ? GIB : MIB), is_whole ? "GiB" : "MiB");
    if (spec->is_unlimited)
        snprintf(spec->device_name, sizeof spec->device_name, "Simulated GPU (no limit)");
}

/* A bare size does not tell the architecture, so compute capability 8.0 is assumed, which is the
 * most common. */
static int apply_size(const char *text, struct sim_spec *spec)
{
    spec->is_unlimited = !strcmp(text, SIM_SPEC_ANY);
    spec->total_bytes = SIM_ANY_BYTES;
    if (!spec->is_unlimited && size_parse(text, &spec->total_bytes, NULL))
        return -1;
    name_size(spec);
    spec->capability_major = 8;
    spec->capability_minor = 0;
    spec->processor_count = 108;
    spec->l2_bytes = 40 * MIB;
    return 0;
}

static int read_device(const char *text, struct sim_spec *spec, struct err *err)
{
    const char *kind = read_count(text, &spec->device_count);
    if (!kind)
        return complain(err, text, "1 to 64 devices can be simulated");
    const struct preset *preset = preset_find(kind);
    if (preset)
        apply_preset(preset, spec);
    else if (apply_size(kind, spec))
        return complain(err, text, "neither a size nor a card known by name");
    return 0;
}

/* Reads the size after "memory=", which gives the same card less memory. */
static int read_memory(const char *text, const char *value, struct sim_spec *spec, struct err *err)
{
    uint64_t bytes;
    if (size_parse(value, &bytes, NULL))
        return complain(err, text, "its value is not a size");
    if (spec->is_unlimited)
        return complain(err, text, "any has no limit; give the size instead");
    if (bytes > spec->total_bytes)
        return complain(err, text, "the card has less than that");
    spec->total_bytes = bytes;
    return 0;
}

static int read_option(const char *text, struct sim_spec *spec, struct err *err)
{
    static const char others[] = "others=", context[] = "context=", memory[] = "memory=";
    const char *value = strchr(text, '=');
    uint64_t *bytes = NULL;
    if (!strncmp(text, memory, sizeof memory - 1))
        return read_memory(text, value + 1, spec, err);
    if (!strncmp(text, others, sizeof others - 1))
        bytes = &spec->others_bytes;
    else if (!strncmp(text, context, sizeof context - 1))
        bytes = &spec->context_bytes;
    else
        return complain(err, text, "the options are others=SIZE, context=SIZE and memory=SIZE");
    if (size_parse(value + 1, bytes, NULL))
        return complain(err, text, "its value is not a size");
    return 0;
}

/* Compares each size with the memory that is left, because a sum could overflow. */
static int check_sizes(const char *text, const struct sim_spec *spec, struct err *err)
{
    if (spec->others_bytes >= spec->total_bytes ||
        spec->context_bytes >= spec->total_bytes - spec->others_bytes)
        return complain(err, text,
                        "others and context leave no memory (a size without a unit is in bytes)");
    return 0;
}

int sim_spec_parse(const char *text, struct sim_spec *spec, struct err *err)
{
    struct sim_spec result = {.context_bytes = CONTEXT_DEFAULT_BYTES};
    char copy[4 * TEXT_LIMIT], *rest = copy, *part;
    if (strlen(text) >= sizeof copy)
        return complain(err, "…", "the text is too long");
    snprintf(copy, sizeof copy, "%s", text);
    part = strsep(&rest, ",");
    if (read_device(part, &result, err))
        return -1;
    while ((part = strsep(&rest, ",")))
        if (read_option(part, &result, err))
            return -1;
    if (check_sizes(text, &result, err))
        return -1;
    *spec = result;
    return 0;
}
