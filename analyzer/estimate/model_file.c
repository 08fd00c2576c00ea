/* SPDX-License-Identifier: MIT */
/* Reading model descriptions; see model_file.h. */
#include "model_file.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>
#include <sys/stat.h>

#include "layer_list.h"

static int check_file(const char *path, struct err *err)
{
    struct stat status;
    if (stat(path, &status)) {
        err_set(err, ERR_INPUT, "%s: %s", path, strerror(errno));
        return -1;
    }
    if (S_ISDIR(status.st_mode)) {
        err_set(err, ERR_INPUT, "%s: is a directory, not a model description", path);
        return -1;
    }
    if (S_ISREG(status.st_mode) && status.st_size > MODEL_FILE_MOST_BYTES) {
        err_set(err, ERR_INPUT, "%s: is larger than any model description (%d MiB)", path,
                MODEL_FILE_MOST_BYTES >> 20);
        return -1;
    }
    return 0;
}

static json_t *load_json(const char *path, struct err *err)
{
    json_error_t problem;
    if (check_file(path, err))
        return NULL;
    json_t *root = json_load_file(path, JSON_REJECT_DUPLICATES, &problem);
    if (!root && problem.line > 0)
        err_set(err, ERR_INPUT, "%s: not a model description: line %d: %s", path, problem.line,
                problem.text);
    else if (!root)
        err_set(err, ERR_INPUT, "%s: %s", path, problem.text);
    return root;
}

/* The keys of a description say which reader it is for. */
static int read_any(struct model *model, json_t *root, struct err *err)
{
    if (json_is_object(root) && json_object_get(root, "model_type")) {
        err_set(err, ERR_INPUT,
                "is a Hugging Face config.json, which this version does not read; "
                "describe the model as a list of layers");
        return -1;
    }
    return layer_list_read(model, root, err);
}

int model_open(struct model *model, const char *path, struct err *err)
{
    struct err inner = {0};
    int result = -1;
    *model = (struct model){.settings = settings_standard()};
    json_t *root = load_json(path, err);
    if (!root)
        return -1;
    if (read_any(model, root, &inner) || model_resolve(model, &inner)) {
        err_set(err, inner.code, "%s: %s", path, inner.message);
        goto out;
    }
    result = 0;
out:
    json_decref(root);
    if (result)
        model_release(model);
    return result;
}
