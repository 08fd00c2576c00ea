/* SPDX-License-Identifier: MIT */
/* Files by build-id; see elf_files.h. */
#include "elf_files.h"

#include <ctype.h>
#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <gelf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "debuginfod.h"
#include "owned_texts.h"
#include "analyzer/util/array.h"

#define SYSTEM_DEBUG_DIR "/usr/lib/debug"

enum { BUILD_ID_MAX = 128, DEPTH_MAX = 32 };

/* Build-id of an ELF file, and whether it has debug information. */
struct identity {
    char build_id[BUILD_ID_MAX + 1]; /* "": none */
    bool has_debug_info;
};

struct indexed_file {
    struct identity identity;
    const char *path;
};

struct elf_files {
    const struct symbol_sources *sources;
    struct debuginfod *debuginfod; /* NULL: without --debuginfod */
    struct owned_texts paths;
    struct indexed_file *indexed; /* all files below the --debug-dir folders */
    size_t indexed_count, indexed_capacity;
    bool is_indexed;
};

static int check_debug_dirs(const struct symbol_sources *sources, struct err *err)
{
    for (int i = 0; i < sources->debug_dir_count; i++) {
        const char *dir = sources->debug_dirs[i];
        if (access(dir, R_OK))
            return err_set(err, ERR_USAGE, "--debug-dir: cannot read '%.200s': %s", dir,
                           strerror(errno));
    }
    return 0;
}

struct elf_files *elf_files_new(const struct symbol_sources *sources, struct err *err)
{
    if (check_debug_dirs(sources, err))
        return NULL;
    struct elf_files *files = array_new(1, sizeof *files, err);
    if (!files)
        return NULL;
    elf_version(EV_CURRENT);
    files->sources = sources;
    if (sources->debuginfod)
        files->debuginfod = debuginfod_new(err);
    else
        debuginfod_forbid();
    if (files->debuginfod || !sources->debuginfod)
        return files;
    elf_files_free(files);
    return NULL;
}

void elf_files_free(struct elf_files *files)
{
    if (!files)
        return;
    debuginfod_free(files->debuginfod);
    owned_texts_release(&files->paths);
    free(files->indexed);
    free(files);
}

/* --- the identity of a file --- */

static void read_build_id(Elf *elf, char *hex)
{
    const void *note;
    ssize_t length = dwelf_elf_gnu_build_id(elf, &note);
    const unsigned char *bytes = note;
    for (ssize_t i = 0; i < length && 2 * i < BUILD_ID_MAX; i++)
        snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static bool has_debug_info(Elf *elf)
{
    Elf_Scn *section = NULL;
    size_t names;
    if (elf_getshdrstrndx(elf, &names))
        return false;
    while ((section = elf_nextscn(elf, section))) {
        GElf_Shdr header;
        const char *name = NULL;
        if (gelf_getshdr(section, &header) && header.sh_type != SHT_NOBITS)
            name = elf_strptr(elf, names, header.sh_name);
        if (name && (!strcmp(name, ".debug_info") || !strcmp(name, ".zdebug_info")))
            return true;
    }
    return false;
}

/*
 * Reads the identity of a file. -1: the file does not exist or is no ELF file. Only regular files
 * are opened, because a trace may name a device, and opening a device may have effects.
 */
static int identify(const char *path, struct identity *identity)
{
    struct stat about;
    const bool is_file = stat(path, &about) == 0 && S_ISREG(about.st_mode);
    int file = is_file ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
    Elf *elf = file < 0 ? NULL : elf_begin(file, ELF_C_READ_MMAP, NULL);
    int status = -1;
    *identity = (struct identity){0};
    if (elf && elf_kind(elf) == ELF_K_ELF) {
        read_build_id(elf, identity->build_id);
        identity->has_debug_info = has_debug_info(elf);
        status = 0;
    }
    elf_end(elf);
    if (file >= 0)
        close(file);
    return status;
}

/* --- by build-id --- */

static bool is_build_id(const char *text)
{
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (!isxdigit((unsigned char)text[i]))
            return false;
    return length > 2 && length <= BUILD_ID_MAX;
}

/* Takes ownership of the path. Returns the path if the file is of that build, else NULL. */
static const char *accept_build(struct elf_files *files, char *path, const char *build_id)
{
    struct identity identity;
    if (path && !identify(path, &identity) && !strcmp(identity.build_id, build_id))
        return owned_texts_take(&files->paths, path, NULL);
    free(path);
    return NULL;
}

static const char *find_in_build_ids(struct elf_files *files, const char *dir, const char *build_id)
{
    static const char *const endings[] = {".debug", ""};
    const char *found = NULL;
    for (size_t i = 0; i < 2 && !found; i++) {
        char *path;
        if (asprintf(&path, "%s/.build-id/%.2s/%s%s", dir, build_id, build_id + 2, endings[i]) >= 0)
            found = accept_build(files, path, build_id);
    }
    return found;
}

static int index_file(struct elf_files *files, const char *path)
{
    struct identity identity;
    if (identify(path, &identity) || !*identity.build_id)
        return 0;
    if (ARRAY_GROW(files->indexed, files->indexed_capacity, files->indexed_count, NULL))
        return -1;
    files->indexed[files->indexed_count] = (struct indexed_file){
        .identity = identity, .path = owned_texts_take(&files->paths, strdup(path), NULL)};
    if (!files->indexed[files->indexed_count].path)
        return -1;
    files->indexed_count++;
    return 0;
}

/* Indexes all files below the folder in one pass; unreadable files are left out. */
static void index_dir(struct elf_files *files, const char *dir)
{
    char *path = strdup(dir), *paths[] = {path, NULL};
    FTS *tree = path ? fts_open(paths, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, NULL) : NULL;
    FTSENT *entry;
    while (tree && (entry = fts_read(tree))) {
        if (entry->fts_level > DEPTH_MAX)
            fts_set(tree, entry, FTS_SKIP);
        if (entry->fts_info == FTS_F && index_file(files, entry->fts_path))
            break;
    }
    if (tree)
        fts_close(tree);
    free(path);
}

static const char *find_in_index(struct elf_files *files, const char *build_id)
{
    const struct indexed_file *best = NULL;
    for (int i = 0; !files->is_indexed && i < files->sources->debug_dir_count; i++)
        index_dir(files, files->sources->debug_dirs[i]);
    files->is_indexed = true;
    for (size_t i = 0; i < files->indexed_count; i++) {
        const struct indexed_file *file = &files->indexed[i];
        if (!strcmp(file->identity.build_id, build_id) &&
            (!best || (file->identity.has_debug_info && !best->identity.has_debug_info)))
            best = file;
    }
    return best ? best->path : NULL;
}

const char *elf_files_find_debug(struct elf_files *files, const char *build_id)
{
    const char *found = NULL;
    if (!build_id || !is_build_id(build_id))
        return NULL;
    for (int i = 0; i < files->sources->debug_dir_count && !found; i++)
        found = find_in_build_ids(files, files->sources->debug_dirs[i], build_id);
    return found ? found : find_in_index(files, build_id);
}

/* --- by module --- */

static const char *find_by_build_id(struct elf_files *files, const char *build_id)
{
    const char *found = elf_files_find_debug(files, build_id);
    if (!found && build_id && is_build_id(build_id))
        found = find_in_build_ids(files, SYSTEM_DEBUG_DIR, build_id);
    if (!found && build_id && is_build_id(build_id) && files->debuginfod)
        found = accept_build(files, debuginfod_fetch(files->debuginfod, build_id), build_id);
    return found;
}

enum elf_state elf_files_find(struct elf_files *files, const struct trace_module *module,
                              const char **path)
{
    struct identity identity;
    bool is_here = module->path[0] == '/' && !identify(module->path, &identity);
    *path = NULL;
    if (is_here && (!module->build_id || !strcmp(identity.build_id, module->build_id)))
        *path = module->path;
    else
        *path = find_by_build_id(files, module->build_id);
    if (*path)
        return ELF_FOUND;
    return is_here ? ELF_OTHER_BUILD : ELF_MISSING;
}
