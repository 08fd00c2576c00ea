/* SPDX-License-Identifier: MIT */
/* Writes a baseline; see baseline.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "baseline.h"

/* One site, as a line of text. Sites with equal text share a line, and their bytes and blocks are
 * added up. */
struct line {
    char *text; /* allocated by jansson */
    uint64_t bytes, count, each_bytes;
};

static json_t *call_path_of(const struct holding *holding, const struct held_site *site)
{
    json_t *call_path = json_array();
    for (size_t i = 0; i < site->depth; i++) {
        const struct call_line *call_line = &site->call_path[i];

        json_array_append_new(call_path,
                              json_pack("[s, I, s]", holding->names->texts[call_line->file],
                                        (json_int_t)call_line->line,
                                        holding->names->texts[call_line->function]));
    }
    return call_path;
}

static char *text_of(const struct holding *holding, const struct held_site *site)
{
    const char *phase = site->phase == TEXT_SET_NONE ? NULL : holding->names->texts[site->phase];
    json_t *object =
        json_pack("{s:o, s:s, s:b}", "call_path", call_path_of(holding, site), "called",
                  holding->names->texts[site->leaf], "backward", (int)site->is_of_backward);
    if (site->count) {
        json_object_set_new(object, "phase", phase ? json_string(phase) : json_null());
        json_object_set_new(object, "category", json_string(category_key(site->category)));
    }
    if (site->is_left)
        json_object_set_new(object, "left", json_true());
    if (site->is_left_graph)
        json_object_set_new(object, "left_graph", json_true());
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;

    json_decref(object);
    return text;
}

ORDER_BY(compare_lines, struct line, strcmp(a->text, b->text));

static void write_lines(FILE *file, const struct line *lines, size_t count)
{
    for (size_t i = 0, end; i < count; i = end) {
        uint64_t bytes = 0, blocks = 0, each = 0;

        for (end = i; end < count && !strcmp(lines[end].text, lines[i].text); end++) {
            bytes += lines[end].bytes;
            blocks += lines[end].count;
            each += lines[end].each_bytes;
        }
        fprintf(file, "%.*s,\"each\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"count\":%" PRIu64 "},\n",
                (int)strlen(lines[i].text) - 1, lines[i].text, each, bytes, blocks);
    }
}

static int write_sites(FILE *file, const struct holding *holding, struct err *err)
{
    struct line *lines = array_new(holding->count, sizeof *lines, err);
    size_t count = 0;
    int status = -1;
    if (!lines)
        return -1;
    for (; count < holding->count; count++) {
        const struct held_site *site = &holding->items[count];

        lines[count] =
            (struct line){text_of(holding, site), site->bytes, site->count, site->each_bytes};
        if (!lines[count].text) {
            err_set(err, ERR_SYSTEM, "out of memory for the baseline, or a name is not UTF-8");
            goto out;
        }
    }
    SORT(lines, count, compare_lines);
    write_lines(file, lines, count);
    status = 0;
out:
    for (size_t i = 0; i < count; i++)
        free(lines[i].text);
    free(lines);
    return status;
}

void baseline_write_head(FILE *file)
{
    fputs("{\"schema\": \"gpumemtrace.baseline/1\", \"accounts\": [\n", file);
}

void baseline_write_end(FILE *file)
{
    fputs("null]}\n", file);
}

int baseline_write_account(FILE *file, const struct study *study, uint32_t number, struct err *err)
{
    const struct account *account = &study->history.accounts[number];
    const char *pool = study_pool(study, account);
    struct text_set names = {0};
    struct holding holding;
    int status = -1;
    if (!holding_of(&holding, &names, study, number, &account->peak, 0, err)) {
        json_t *quoted = json_stringn(pool ? pool : "", pool ? strlen(pool) : 0);
        char *text = quoted ? json_dumps(quoted, JSON_ENCODE_ANY) : NULL;

        fprintf(file, account->device == DEVICE_UNKNOWN ? "{\"device\": null" : "{\"device\": %d",
                account->device);
        fprintf(file, ", \"layer\": \"%s\", \"pool\": %s, \"in_backward\": %s, \"sites\": [\n",
                study_layer(account), pool && text ? text : "null",
                holding.is_in_backward ? "true" : "false");
        status = write_sites(file, &holding, err);
        fputs("null]},\n", file);
        free(text);
        json_decref(quoted);
        holding_release(&holding);
    }
    text_set_release(&names);
    return status;
}
