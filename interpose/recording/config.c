/* SPDX-License-Identifier: MIT */
/*
 * Reads GPUMEMTRACE_* as options.def says. See config.h.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/numbers.h"
#include "gpumemtrace/err.h"
#include "log.h"

static bool read_TEXT(char *field, const char *value)
{
    return (size_t)snprintf(field, CONFIG_TEXT_BYTES, "%s", value) < CONFIG_TEXT_BYTES;
}

/* Accepts any text here. The code that uses the setting checks whether the text is one of the
 * choices. */
static bool read_CHOICE(char *field, const char *value)
{
    return read_TEXT(field, value);
}

static bool read_FLAG(bool *field, const char *value)
{
    const bool on = strcmp(value, "1") == 0, off = strcmp(value, "0") == 0 || !*value;
    if (on || off)
        *field = on;
    return on || off;
}

static bool read_SIZE(uint64_t *field, const char *value)
{
    return size_parse(value, field, NULL) == 0;
}

static bool read_COUNT(uint64_t *field, const char *value)
{
    uint64_t number;
    const char *end = digits_read(value, &number);
    if (end == value || *end)
        return false;
    *field = number;
    return true;
}

#define FIELD_TEXT(member) (member)
#define FIELD_CHOICE(member) (member)
#define FIELD_FLAG(member) (&(member))
#define FIELD_SIZE(member) (&(member))
#define FIELD_COUNT(member) (&(member))

#define KIND_TEXT "a text of less than 4096 bytes"
#define KIND_CHOICE KIND_TEXT
#define KIND_FLAG "0 or 1"
#define KIND_SIZE "a size, as 512MiB or 4GB"
#define KIND_COUNT "a count"

void config_read(struct config *config)
{
    const char *value;
    memset(config, 0, sizeof *config);
#define OPTION(field, type, environment, flag, argument, standard, text)                           \
    value = getenv(environment);                                                                   \
    if (!value || !read_##type(FIELD_##type(config->field), value)) {                              \
        if (value)                                                                                 \
            log_line("%s=%s is not %s; using %s", environment, value, KIND_##type, standard);      \
        read_##type(FIELD_##type(config->field), standard);                                        \
    }
#include "gpumemtrace/options.def"
}
