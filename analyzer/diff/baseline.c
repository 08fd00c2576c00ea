/* SPDX-License-Identifier: MIT */
/* Reads a committed baseline; see baseline.h. */
#include "baseline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/json_field.h"
#include "analyzer/util/json_read.h"
#include "gpumemtrace/limits.h"

static const char schema[] = "gpumemtrace.baseline/1";

static int refuse(const char *path, const char *where, const char *what, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%.300s: %s %s; write it again: gpumemtrace check --write-baseline=FILE TRACE",
                   path, where, what);
}

/* --- reading a file --- */

static int read_account(const struct baseline *baseline, const json_t *from,
                        struct baseline_account *account, struct err *err)
{
    const json_t *device = json_object_get(from, "device"), *site;
    size_t number;
    *account = (struct baseline_account){
        .device = json_is_integer(device) ? (int)json_integer_value(device) : DEVICE_UNKNOWN,
        .layer = json_string_value(json_object_get(from, "layer")),
        .pool = json_string_value(json_object_get(from, "pool")),
        .is_in_backward = json_is_true(json_object_get(from, "in_backward")),
        .sites = json_object_get(from, "sites")};
    if (!account->layer || !json_is_array(account->sites))
        return refuse(baseline->path, "an account", "has no layer or no sites", err);
    json_array_foreach(account->sites, number, site)
    {
        uint64_t bytes = 0;

        if (json_is_null(site))
            continue;
        if (json_take_integer(json_object_get(site, "bytes"), 0, INT64_MAX, &bytes, err) ||
            account->bytes + bytes > INT64_MAX)
            return refuse(baseline->path, "a site", "has no such number of bytes", err);
        account->bytes += bytes;
    }
    return 0;
}

static int read_accounts(struct baseline *baseline, struct err *err)
{
    const json_t *accounts = json_object_get(baseline->root, "accounts"), *account;
    size_t number;
    if (!json_is_array(accounts))
        return refuse(baseline->path, "the file", "has no list of accounts", err);
    baseline->accounts = array_new(json_array_size(accounts), sizeof *baseline->accounts, err);
    if (!baseline->accounts)
        return -1;
    json_array_foreach(accounts, number, account)
    {
        if (!json_is_null(account) &&
            read_account(baseline, account, &baseline->accounts[baseline->count++], err))
            return -1;
    }
    return 0;
}

/* Returns 1 if the file begins like a baseline, and 0 if not. A trace begins with "SQLite format
 * 3". */
static int begins_like_json(const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    int byte = file ? getc(file) : 0;
    if (!file)
        return err_set(err, ERR_INPUT, "cannot read the baseline %.300s: %s", path,
                       strerror(errno));
    fclose(file);
    return byte == '{';
}

int baseline_load(struct baseline *baseline, const char *path, struct err *err)
{
    const int is_json = begins_like_json(path, err);
    json_error_t error;
    *baseline = (struct baseline){0};
    if (is_json <= 0)
        return is_json;
    baseline->root = json_read_file(path, &error);
    baseline->path = strdup(path);
    const char *found = json_string_value(json_object_get(baseline->root, "schema"));
    int status = -1;
    if (!baseline->path)
        err_set(err, ERR_SYSTEM, "out of memory for the baseline");
    else if (!baseline->root && error.line > 0)
        err_set(err, ERR_INPUT, "%.300s:%d: %s: does it have merge conflicts?", path, error.line,
                error.text);
    else if (!baseline->root)
        err_set(err, ERR_INPUT, "%.300s: %s", path, error.text);
    else if (!found || strcmp(found, schema) != 0)
        status = refuse(path, "the file", "is not a baseline of this release", err);
    else
        status = read_accounts(baseline, err);
    if (status)
        baseline_release(baseline);
    return status ? -1 : 1;
}

void baseline_release(struct baseline *baseline)
{
    json_decref(baseline->root);
    free(baseline->path);
    free(baseline->accounts);
    *baseline = (struct baseline){0};
}

const struct baseline_account *baseline_find(const struct baseline *baseline,
                                             const struct study *study, uint32_t number)
{
    const struct account *wanted = &study->history.accounts[number];
    const char *pool = study_pool(study, wanted);
    for (size_t i = 0; i < baseline->count; i++) {
        const struct baseline_account *account = &baseline->accounts[i];

        if (account->device == wanted->device && !strcmp(account->layer, study_layer(wanted)) &&
            !account->pool == !pool && (!pool || !strcmp(pool, account->pool)))
            return account;
    }
    return NULL;
}

/* --- an account, with names instead of ids --- */

static int read_call_line(struct call_line *call_line, struct text_set *names, const json_t *from,
                          struct err *err)
{
    const char *file = json_string_value(json_array_get(from, 0));
    const char *function = json_string_value(json_array_get(from, 2));
    const json_int_t line = json_integer_value(json_array_get(from, 1));
    if (!file || !function || line < 0 || line > UINT32_MAX)
        return err_set(err, ERR_INPUT, "a step of a call path must be [file, line, function]");
    return call_line_set(call_line, names, file, function, (uint32_t)line, err);
}

static int read_call_path(struct holding *holding, struct held_site *site, const json_t *call_path,
                          struct err *err)
{
    const size_t depth = json_array_size(call_path);
    struct call_line *call_lines;
    if (!depth)
        return 0;
    if (depth > LIMIT_stack_frames)
        return err_set(err, ERR_INPUT, "a call path has %zu steps", depth);
    call_lines = arena_take(&holding->call_lines, depth * sizeof *call_lines);
    if (!call_lines)
        return err_set(err, ERR_SYSTEM, "out of memory for the baseline");
    for (size_t i = 0; i < depth; i++)
        if (read_call_line(&call_lines[i], holding->names, json_array_get(call_path, i), err))
            return -1;
    site->call_path = call_lines;
    site->depth = depth;
    return 0;
}

static enum category category_named(const char *name)
{
    for (int i = 0; name && i < CATEGORY_COUNT; i++)
        if (!strcmp(category_key((enum category)i), name))
            return (enum category)i;
    return CATEGORY_other;
}

/* Returns "each", or "bytes" in a baseline without "each". It serves to tell lines apart. */
static uint64_t each_of(const json_t *site)
{
    const json_t *each = json_object_get(site, "each");
    const json_int_t bytes = json_integer_value(each ? each : json_object_get(site, "bytes"));
    return bytes > 0 ? (uint64_t)bytes : 0;
}

static int read_site(struct holding *holding, const json_t *from, struct err *err)
{
    const char *called = json_string_value(json_object_get(from, "called"));
    const char *phase = json_string_value(json_object_get(from, "phase"));
    if (ARRAY_GROW(holding->items, holding->capacity, holding->count, err))
        return -1;
    struct held_site *added = &holding->items[holding->count];
    *added = (struct held_site){
        .leaf = text_set_add(holding->names, called ? called : "", err),
        .phase = phase ? text_set_add(holding->names, phase, err) : TEXT_SET_NONE,
        .category = category_named(json_string_value(json_object_get(from, "category"))),
        .is_of_backward = json_is_true(json_object_get(from, "backward")),
        .is_left = json_is_true(json_object_get(from, "left")),
        .is_left_graph = json_is_true(json_object_get(from, "left_graph")),
        .bytes = (uint64_t)json_integer_value(json_object_get(from, "bytes")),
        .count = (uint64_t)json_integer_value(json_object_get(from, "count")),
        .each_bytes = each_of(from)};
    if (added->leaf == TEXT_SET_NONE || (phase && added->phase == TEXT_SET_NONE) ||
        read_call_path(holding, added, json_object_get(from, "call_path"), err))
        return -1;
    holding_count(holding);
    return 0;
}

int baseline_holding(struct holding *holding, struct text_set *names,
                     const struct baseline_account *account, struct err *err)
{
    const json_t *site;
    size_t number;
    *holding =
        (struct holding){.names = names, .folder = "", .is_in_backward = account->is_in_backward};
    json_array_foreach(account->sites, number, site)
    {
        if (!json_is_null(site) && read_site(holding, site, err)) {
            holding_release(holding);
            return -1;
        }
    }
    return 0;
}
