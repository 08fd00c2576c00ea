/* SPDX-License-Identifier: MIT */
/* See snapshot.h. */
#include "snapshot.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONFIG_NAME "config.json"
#define USUAL_NAME "model.safetensors"

static bool ends(const char *text, const char *end)
{
    const size_t length = strlen(text), last = strlen(end);
    return length > last && strcmp(text + length - last, end) == 0;
}

static bool begins_as_gguf(const char *path)
{
    struct stat status;
    char magic[4];
    FILE *file = stat(path, &status) || !S_ISREG(status.st_mode) ? NULL : fopen(path, "rb");
    if (!file)
        return false;
    const bool is = fread(magic, 1, sizeof magic, file) == sizeof magic &&
                    memcmp(magic, "GGUF", sizeof magic) == 0;
    fclose(file);
    return is;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISDIR(status.st_mode);
}

static enum snapshot_kind kind_of_name(const char *name)
{
    if (ends(name, ".safetensors"))
        return SNAPSHOT_SAFETENSORS;
    if (ends(name, ".safetensors.index.json"))
        return SNAPSHOT_INDEX;
    return ends(name, ".gguf") ? SNAPSHOT_GGUF : SNAPSHOT_NONE;
}

static enum snapshot_kind kind_of(const char *path)
{
    const enum snapshot_kind kind = kind_of_name(path);
    return kind == SNAPSHOT_NONE && begins_as_gguf(path) ? SNAPSHOT_GGUF : kind;
}

bool snapshot_is(const char *path)
{
    return is_folder(path) || kind_of(path) != SNAPSHOT_NONE;
}

static int fail_memory(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "out of memory for the path of the weights");
}

/* --- a folder --- */

/* The files of each kind in a folder. If there are several of one kind, none of them is used. */
struct found {
    size_t count[SNAPSHOT_GGUF + 1];
    char *name[SNAPSHOT_GGUF + 1];
    bool has_usual;
};

static int note_file(struct found *found, const char *name)
{
    const enum snapshot_kind kind = kind_of_name(name);
    found->has_usual |= strcmp(name, USUAL_NAME) == 0;
    if (kind == SNAPSHOT_NONE || found->count[kind]++ > 0)
        return 0;
    return (found->name[kind] = strdup(name)) ? 0 : -1;
}

static int look(struct found *found, const char *folder, struct err *err)
{
    DIR *opened = opendir(folder);
    const struct dirent *entry;
    int result = 0;
    if (!opened)
        return err_set(err, ERR_INPUT, "%s: %s", folder, strerror(errno));
    errno = 0;
    while (!result && (entry = readdir(opened)))
        result = note_file(found, entry->d_name) ? fail_memory(err) : 0;
    if (!result && errno) {
        err_set(err, ERR_INPUT, "%s: %s", folder, strerror(errno));
        result = -1;
    }
    closedir(opened);
    return result;
}

/* Chooses the model's file. An index comes first, because it names its parts. */
static const char *choose(const struct found *found, enum snapshot_kind *kind)
{
    static const enum snapshot_kind order[] = {SNAPSHOT_INDEX, SNAPSHOT_SAFETENSORS, SNAPSHOT_GGUF};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        *kind = order[i];
        if (found->count[order[i]] == 1)
            return found->name[order[i]];
        if (order[i] == SNAPSHOT_SAFETENSORS && found->has_usual)
            return USUAL_NAME;
    }
    *kind = SNAPSHOT_NONE;
    return NULL;
}

static int find_in_folder(struct snapshot *snapshot, const char *folder, struct err *err)
{
    struct found found = {0};
    int result = look(&found, folder, err);
    if (!result) {
        const char *name = choose(&found, &snapshot->kind);
        if (name && asprintf(&snapshot->path, "%s/%s", folder, name) < 0) {
            snapshot->path = NULL;
            result = fail_memory(err);
        }
    }
    for (size_t i = 0; i < sizeof found.name / sizeof *found.name; i++)
        free(found.name[i]);
    return result;
}

/* --- the whole --- */

/* Finds config.json: in the folder if the path is a folder, or beside the file. */
static int find_config(struct snapshot *snapshot, const char *path, bool folder, struct err *err)
{
    const char *slash = strrchr(path, '/');
    const int before = slash ? (int)(slash - path + 1) : 0;
    const int length = folder ? asprintf(&snapshot->config, "%s/" CONFIG_NAME, path)
                              : asprintf(&snapshot->config, "%.*s" CONFIG_NAME, before, path);
    if (length < 0) {
        snapshot->config = NULL;
        return fail_memory(err);
    }
    if (!access(snapshot->config, F_OK))
        return 0;
    const int why = errno;
    if (why != ENOENT)
        err_set(err, ERR_INPUT, "%s: %s", snapshot->config, strerror(why));
    free(snapshot->config);
    snapshot->config = NULL;
    return why == ENOENT ? 0 : -1;
}

int snapshot_find(struct snapshot *snapshot, const char *path, struct err *err)
{
    const bool folder = is_folder(path);
    *snapshot = (struct snapshot){.kind = folder ? SNAPSHOT_NONE : kind_of(path)};
    if (folder ? find_in_folder(snapshot, path, err)
               : !(snapshot->path = strdup(path)) && fail_memory(err))
        return -1;
    if (find_config(snapshot, path, folder, err))
        return -1;
    if (snapshot->path || snapshot->config)
        return 0;
    return err_set(
        err, ERR_INPUT,
        "%s: the folder has neither config.json nor one file of weights (an index, " USUAL_NAME
        ", or a single safetensors or GGUF): name a file of it",
        path);
}

int snapshot_read(const struct snapshot *snapshot, struct weights *weights, struct err *err)
{
    switch (snapshot->kind) {
    case SNAPSHOT_SAFETENSORS:
        return weights_read_safetensors(weights, snapshot->path, err);
    case SNAPSHOT_INDEX:
        return weights_read_index(weights, snapshot->path, err);
    case SNAPSHOT_GGUF:
        return weights_read_gguf(weights, snapshot->path, err);
    default:
        return 0;
    }
}

void snapshot_release(struct snapshot *snapshot)
{
    free(snapshot->path);
    free(snapshot->config);
    *snapshot = (struct snapshot){0};
}
