/* SPDX-License-Identifier: MIT */
/* Finds the traces in folders; see trace_files.h. */
#include "trace_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct adding {
    struct trace_files *files;
    size_t path_capacity, owned_capacity;
    struct err *err;
};

static int refuse_memory(struct err *err)
{
    return err_set(err, ERR_SYSTEM, "out of memory for the names of the traces");
}

static int add_path(struct adding *adding, const char *path)
{
    struct trace_files *files = adding->files;
    if ((size_t)files->count == adding->path_capacity) {
        const size_t capacity = adding->path_capacity ? 2 * adding->path_capacity : 16;
        const char **grown = realloc(files->paths, capacity * sizeof *grown);

        if (!grown)
            return refuse_memory(adding->err);
        files->paths = grown;
        adding->path_capacity = capacity;
    }
    files->paths[files->count++] = path;
    return 0;
}

static int add_owned(struct adding *adding, const char *folder, const char *name)
{
    struct trace_files *files = adding->files;
    const size_t length = strlen(folder);
    const bool has_slash = length && folder[length - 1] == '/';
    char *path = NULL;
    if ((size_t)files->owned_count == adding->owned_capacity) {
        const size_t capacity = adding->owned_capacity ? 2 * adding->owned_capacity : 16;
        char **grown = realloc(files->owned, capacity * sizeof *grown);

        if (!grown)
            return refuse_memory(adding->err);
        files->owned = grown;
        adding->owned_capacity = capacity;
    }
    if (asprintf(&path, "%s%s%s", folder, has_slash ? "" : "/", name) < 0)
        return refuse_memory(adding->err);
    files->owned[files->owned_count++] = path;
    return add_path(adding, path);
}

static int is_trace(const struct dirent *entry)
{
    const size_t length = strlen(entry->d_name);
    return length > 3 && *entry->d_name != '.' && !strcmp(entry->d_name + length - 3, ".db");
}

static int add_folder(struct adding *adding, const char *folder)
{
    struct dirent **entries;
    const int count = scandir(folder, &entries, is_trace, versionsort);
    int status = 0;
    if (count < 0)
        return err_set(adding->err, ERR_INPUT, "cannot read the folder %.300s: %s", folder,
                       strerror(errno));
    for (int i = 0; i < count; i++) {
        if (!status)
            status = add_owned(adding, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    if (!count)
        err_set(adding->err, ERR_INPUT, "the folder %.300s has no trace (*.db)", folder);
    return count ? status : -1;
}

int trace_files_find(struct trace_files *files, const char *const *operands, int count,
                     struct err *err)
{
    struct adding adding = {.files = files, .err = err};
    int status = 0;
    *files = (struct trace_files){0};
    for (int i = 0; i < count && !status; i++) {
        struct stat about;

        status = !stat(operands[i], &about) && S_ISDIR(about.st_mode)
                     ? add_folder(&adding, operands[i])
                     : add_path(&adding, operands[i]);
    }
    if (status)
        trace_files_release(files);
    return status;
}

void trace_files_release(struct trace_files *files)
{
    for (int i = 0; i < files->owned_count; i++)
        free(files->owned[i]);
    free(files->owned);
    free(files->paths);
    *files = (struct trace_files){0};
}
