/* SPDX-License-Identifier: MIT */
/* Reads model descriptions; see model_file.h. */
#include "model_file.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/estimate/weights/snapshot.h"
#include "analyzer/util/json_field.h"
#include "analyzer/util/json_read.h"
#include "config.h"
#include "families.h"
#include "layer_list.h"
#include "like.h"
#include "stored.h"

static int check_file(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status))
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
    if (S_ISREG(status.st_mode) && status.st_size > MODEL_FILE_MOST_BYTES)
        return err_set(err, ERR_INPUT, "%s: is larger than any model description (%d MiB)", path,
                       MODEL_FILE_MOST_BYTES >> 20);
    return 0;
}

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static const char *file_name(const char *path)
{
    return is_stdin(path) ? "standard input" : path;
}

/* Reads standard input, up to the largest size of a description. `left` has the bytes that may
 * still be read. */
static size_t read_some(void *buffer, size_t bytes, void *left)
{
    size_t *rest = left;
    const size_t got = fread(buffer, 1, bytes < *rest ? bytes : *rest, stdin);
    *rest -= got;
    return got;
}

static json_t *load_json(const char *path, struct err *err)
{
    json_error_t problem;
    size_t left = MODEL_FILE_MOST_BYTES;
    if (!is_stdin(path) && check_file(path, err))
        return NULL;
    json_t *root = is_stdin(path) ? json_read_callback(read_some, &left, &problem)
                                  : json_read_file(path, &problem);
    if (!root && problem.line > 0)
        err_set(err, ERR_INPUT, "%s: not a model description: line %d: %s", file_name(path),
                problem.line, problem.text);
    else if (!root)
        err_set(err, ERR_INPUT, "%s: %s", file_name(path), problem.text);
    return root;
}

/* The keys of a description decide which reader reads it. */
static int read_any(struct model *model, json_t *root, struct given given, struct err *err)
{
    if (json_object_get(root, "model_type") && !json_object_get(root, "schema"))
        return config_read(model, root, given, err);
    if (like_complete(root, err))
        return -1;
    return layer_list_read(model, root, &given, err);
}

/* --- a name --- */

/* Returns whether a path may be a name: it is no file, and has no slash and no ending of a file. */
static bool may_be_name(const char *path)
{
    return !is_stdin(path) && !strchr(path, '/') && !strstr(path, ".json") &&
           !strstr(path, ".safetensors") && !strstr(path, ".gguf") && access(path, F_OK);
}

#define NAMES_MOST 400

static int fail_name(const char *name, struct err *err)
{
    json_t *families = family_names(), *names;
    const char *listed[NAMES_MOST], *family;
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES];
    size_t count = 0;
    json_object_foreach(families, family, names)
    {
        for (size_t i = 0; i < json_array_size(names) && count < NAMES_MOST; i++)
            listed[count++] = json_string_value(json_array_get(names, i));
    }
    err_set(
        err, ERR_INPUT,
        "%s: there is no such file, and no model of that name%s ('gpumemtrace help models' lists "
        "the names)",
        json_shown_text(name, shown), nearest_hint(hint, name, listed, count));
    json_decref(families);
    return -1;
}

static int open_name(struct model_source *source, const char *name, struct err *err)
{
    source->family = family_named(name, &source->root, err);
    return source->family ? 0 : fail_name(name, err);
}

/* --- files of weights --- */

/* If no family can read the config, only the weights are used, and the source keeps the reason. */
static int take_config(struct model_source *source, const char *path, struct err *err)
{
    struct err reason = {0};
    if (!(source->root = load_json(path, err)))
        return -1;
    if (!config_check(source->root, &reason))
        return 0;
    json_decref(source->root);
    source->root = NULL;
    source->why_no_model = strdup(reason.message);
    if (source->why_no_model && reason.code == ERR_INPUT)
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for the config");
}

static int open_snapshot(struct model_source *source, const char *path, struct err *err)
{
    struct snapshot snapshot = {0};
    int result = -1;
    if (snapshot_find(&snapshot, path, err) || snapshot_read(&snapshot, &source->weights, err))
        goto out;
    if (!snapshot.path)
        result = (source->root = load_json(snapshot.config, err)) ? 0 : -1;
    else
        result = snapshot.kind != SNAPSHOT_GGUF && snapshot.config
                     ? take_config(source, snapshot.config, err)
                     : 0;
out:
    snapshot_release(&snapshot);
    return result;
}

/* --- the source --- */

static int read_source(struct model *model, const struct model_source *source, struct given given,
                       struct err *err)
{
    if (!source->family)
        return read_any(model, source->root, given, err);
    return config_read_named(model, source->family, source->root, source->name, given, err);
}

int model_source_open(struct model_source *source, const char *path, struct err *err)
{
    *source = (struct model_source){.name = file_name(path)};
    if (may_be_name(path))
        return open_name(source, path, err);
    if (!is_stdin(path) && snapshot_is(path))
        return open_snapshot(source, path, err);
    source->root = load_json(path, err);
    return source->root ? 0 : -1;
}

void model_source_release(struct model_source *source)
{
    json_decref(source->root);
    json_decref(source->family);
    weights_release(&source->weights);
    free(source->why_no_model);
    *source = (struct model_source){0};
}

int model_make(struct model *model, const struct model_source *source,
               const struct model_request *request, struct err *err)
{
    struct given given = {.inference = request->inference, .tuning = request->tuning};
    struct err inner = {0};
    int result = -1;
    *model = (struct model){.settings = settings_standard()};
    if (!source->root) {
        err_set(
            err, ERR_INPUT,
            "%s: weights alone do not say which layers they are of: put the model's config.json "
            "of Hugging Face beside them%s%s",
            source->name, source->why_no_model ? "; the one there: " : "",
            source->why_no_model ? source->why_no_model : "");
        goto out;
    }
    given.options = request->set ? given_parse(request->set, err) : json_object();
    if (!given.options || tuning_dimensions(&request->tuning, given.options, err))
        goto out;
    if (read_source(model, source, given, &inner) || model_edit(model, request->edits, &inner) ||
        model_resolve(model, &inner) ||
        (source->weights.format && stored_apply(model, &source->weights, &inner))) {
        err_set(err, inner.code, "%s: %s", source->name, inner.message);
        goto out;
    }
    result = 0;
out:
    json_decref(given.options);
    if (result)
        model_release(model);
    return result;
}
