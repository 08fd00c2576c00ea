/* SPDX-License-Identifier: MIT */
/*
 * Finds the libraries and functions that a file needs. See needs.h. It repeats the loader's search
 * for the libraries that a file NEEDs: in RPATH or RUNPATH of the file, in those of the libraries
 * that need it, in LD_LIBRARY_PATH, and in the loader's own folders.
 */
#include "needs.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "answers.h"
#include "common/static_runtime.h"
#include "elf_file.h"
#include "families.h"
#include "made.h"

/* --- loaded libraries --- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static const char *soname_of(const struct link_map *library)
{
    const char *strings = NULL, *soname = NULL;
    for (const ElfW(Dyn) *entry = library->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr;
    if (!strings || (uintptr_t)strings < library->l_addr) /* the kernel's vDSO is not relocated */
        return "";
    for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME)
            soname = strings + entry->d_un.d_val;
    return soname ? soname : "";
}

/* Returns whether a library is loaded. For a path, it is loaded if a library has that path. For a
 * name, it is loaded if a library has that file name. */
static bool is_loaded(const char *name)
{
    for (const struct link_map *library = _r_debug.r_map; library; library = library->l_next) {
        const char *path = library->l_name ? library->l_name : "";
        if (!strcmp(path, name) || (!strchr(name, '/') && (!strcmp(base_name(path), name) ||
                                                           !strcmp(soname_of(library), name))))
            return true;
    }
    return false;
}

/* --- the closure: a file and all libraries that it needs --- */

#define FILES_MAX 256

struct closure {
    struct elf_file files[FILES_MAX];
    char *paths[FILES_MAX];
    size_t parents[FILES_MAX]; /* index of the file that needs this file; the first has its own */
    size_t count;
    size_t first; /* index of the file to load; earlier ones are loaded */
    dlopen_function *dlopen_real;
};

static bool closure_has(const struct closure *closure, const char *name)
{
    for (size_t i = 0; i < closure->count; i++)
        if (!strcmp(base_name(closure->paths[i]), name))
            return true;
    return false;
}

/* Adds the file if it can be read. */
static bool closure_add(struct closure *closure, const char *path, size_t parent)
{
    struct elf_file *file = &closure->files[closure->count];
    if (closure->count == FILES_MAX)
        return false;
    if (elf_file_open(file, path) || !(closure->paths[closure->count] = strdup(path))) {
        elf_file_close(file);
        return false;
    }
    closure->parents[closure->count++] = parent;
    return true;
}

/* Writes folder/name to path; $ORIGIN is the folder of the library at `from`. */
static bool expand(char path[PATH_MAX], const char *folder, size_t length, const char *from,
                   const char *name)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    const char *rest = folder;
    size_t origin_length = 0;
    for (size_t i = 0; i < 2; i++)
        if (length >= strlen(origins[i]) && !strncmp(folder, origins[i], strlen(origins[i]))) {
            rest = folder + strlen(origins[i]);
            origin_length = strrchr(from, '/') ? (size_t)(strrchr(from, '/') - from) : 0;
        }
    const int written = snprintf(path, PATH_MAX, "%.*s%.*s/%s", (int)origin_length, from,
                                 (int)(length - (size_t)(rest - folder)), rest, name);
    return written > 0 && written < PATH_MAX;
}

static bool add_from_folders(struct closure *closure, const char *folders, const char *name,
                             size_t parent, const char *from)
{
    char path[PATH_MAX];
    while (folders && *folders) {
        const size_t length = strcspn(folders, ":");
        if (length && expand(path, folders, length, from, name) && !access(path, R_OK) &&
            closure_add(closure, path, parent))
            return true;
        folders += length + (folders[length] == ':');
    }
    return false;
}

static bool add_from_rpaths(struct closure *closure, const char *name, size_t parent)
{
    for (size_t i = parent;; i = closure->parents[i]) {
        size_t position = 0, run_position = 0;
        const char *rpath = elf_file_text(&closure->files[i], DT_RPATH, &position);
        const char *runpath = elf_file_text(&closure->files[i], DT_RUNPATH, &run_position);
        const char *from = closure->paths[i];
        if (add_from_folders(closure, runpath ? runpath : rpath, name, parent, from))
            return true;
        if (closure->parents[i] == i)
            return false;
    }
}

/* Searches the folders that the loader uses for this program, among them LD_LIBRARY_PATH. */
static bool add_from_loader(struct closure *closure, const char *name, size_t parent)
{
    void *program = closure->dlopen_real(NULL, RTLD_LAZY);
    Dl_serinfo size, *info = NULL;
    bool found = false;
    if (program && !dlinfo(program, RTLD_DI_SERINFOSIZE, &size) && (info = malloc(size.dls_size))) {
        *info = size;
        if (!dlinfo(program, RTLD_DI_SERINFO, info))
            for (unsigned i = 0; i < info->dls_cnt && !found; i++)
                found = add_from_folders(closure, info->dls_serpath[i].dls_name, name, parent, "");
    }
    free(info);
    return found;
}

static void make_name(const char *soname, dlopen_function *dlopen_real)
{
    const char *standin = family_standin(soname);
    if (standin && !is_loaded(soname))
        made_load(soname, standin, NULL, 0, dlopen_real);
}

static void closure_extend(struct closure *closure, size_t number)
{
    size_t position = 0;
    const char *name;
    while ((name = elf_file_text(&closure->files[number], DT_NEEDED, &position))) {
        if (family_standin(name)) {
            make_name(name, closure->dlopen_real);
            continue;
        }
        if (closure_has(closure, base_name(name)) || is_loaded(name))
            continue;
        if (strchr(name, '/'))
            closure_add(closure, name, number);
        else if (!add_from_rpaths(closure, name, number))
            add_from_loader(closure, name, number);
    }
}

static void closure_release(struct closure *closure)
{
    for (size_t i = 0; i < closure->count; i++) {
        elf_file_close(&closure->files[i]);
        free(closure->paths[i]);
    }
}

/* --- libraries with a static runtime --- */

static bool needs_runtime(const struct elf_file *file)
{
    static const char runtime[] = "libcudart";
    size_t position = 0;
    const char *name;
    while ((name = elf_file_text(file, DT_NEEDED, &position)))
        if (!strncmp(name, runtime, strlen(runtime)))
            return true;
    return false;
}

static bool carries_runtime(const struct elf_file *file)
{
    static const char error_name[] = STATIC_RUNTIME_ERROR_NAME;
    static const char driver_name[] = STATIC_RUNTIME_DRIVER_NAME;
    const struct elf_table *constants = &file->constants;
    return constants->start && !needs_runtime(file) &&
           memmem(constants->start, constants->bytes, error_name, sizeof error_name) &&
           memmem(constants->start, constants->bytes, driver_name, sizeof driver_name);
}

/* All of PyTorch's device calls go through this library. */
static bool is_device_library(const char *path)
{
    static const char name[] = "libc10_cuda.";
    return !strncmp(base_name(path), name, strlen(name));
}

/* Warns once per process, because other libraries of the framework are built the same way. If a
 * library of the framework needs a shared runtime, the framework uses that runtime. In this case,
 * another library of the framework that contains a runtime is only a side part, such as Debian's
 * tensorpipe, and causes no warning. The exception is the device library: PyTorch 1.13 has such a
 * device library and a library that needs a shared runtime. */
static void say_static_runtime(const struct closure *closure)
{
    static bool uses_shared, was_said;
    const char *carrier = NULL;
    for (size_t i = closure->first; i < closure->count; i++)
        uses_shared |= needs_runtime(&closure->files[i]);
    for (size_t i = closure->first; i < closure->count && !carrier && !was_said; i++)
        if ((!uses_shared || is_device_library(closure->paths[i])) &&
            carries_runtime(&closure->files[i]))
            carrier = closure->paths[i];
    if (!carrier)
        return;
    fprintf(stderr,
            "gpumemtrace: dry run: %s has NVIDIA's runtime linked in statically, which works on "
            "NVIDIA's driver only: its CUDA calls fail\n",
            carrier);
    was_said = true;
}

/* --- missing functions --- */

struct wish {
    const char *name, *version; /* point into a file of the closure */
    int not_supported;
    bool is_met;
};

struct wishes {
    struct wish *rows; /* sorted by name */
    size_t count, room;
};

static int compare_wishes(const void *a, const void *b)
{
    return strcmp(((const struct wish *)a)->name, ((const struct wish *)b)->name);
}

static bool wishes_add(struct wishes *wishes, const struct wish *wish)
{
    if (wishes->count == wishes->room) {
        const size_t room = wishes->room ? 2 * wishes->room : 256;
        struct wish *rows = realloc(wishes->rows, room * sizeof *rows);
        if (!rows)
            return false;
        wishes->rows = rows;
        wishes->room = room;
    }
    wishes->rows[wishes->count++] = *wish;
    return true;
}

static void wishes_of(struct wishes *wishes, const struct elf_file *file)
{
    struct elf_symbol symbol;
    size_t position = 0;
    while (elf_file_symbol(file, &position, &symbol)) {
        struct wish wish = {symbol.name, symbol.version, 0, false};
        if (symbol.is_defined || symbol.is_weak || symbol.is_data ||
            !family_has_function(symbol.name, &wish.not_supported))
            continue;
        if (!wishes_add(wishes, &wish))
            return;
    }
}

/* Marks all wishes for this name that the definition satisfies. The loader uses a definition
 * without a version for any version. */
static void meet(struct wishes *wishes, const struct elf_symbol *definition)
{
    const struct wish wanted = {.name = definition->name};
    size_t low = 0, high = wishes->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (compare_wishes(&wishes->rows[middle], &wanted) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < wishes->count && !compare_wishes(&wishes->rows[low], &wanted); low++) {
        struct wish *wish = &wishes->rows[low];
        if (!wish->version || !definition->version || !strcmp(wish->version, definition->version))
            wish->is_met = true;
    }
}

static void meet_from(struct wishes *wishes, const struct elf_file *file)
{
    struct elf_symbol symbol;
    size_t position = 0;
    while (elf_file_symbol(file, &position, &symbol))
        if (symbol.is_defined)
            meet(wishes, &symbol);
}

static void meet_from_loaded(struct wishes *wishes)
{
    for (const struct link_map *library = _r_debug.r_map; library; library = library->l_next) {
        struct elf_file file;
        const bool is_program = library == _r_debug.r_map;
        if (!elf_file_open(&file, is_program ? "/proc/self/exe" : library->l_name))
            meet_from(wishes, &file);
        elf_file_close(&file);
    }
}

/* --- generated functions --- */

/* The stand-in's function for this name, if the stand-in's library has it under another version. */
static void *modelled(const struct wish *wish, dlopen_function *dlopen_real)
{
    const char *standin = wish->version ? family_standin(wish->version) : NULL;
    void *library = standin ? dlopen_real(standin, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    void *function = library ? dlsym(library, wish->name) : NULL;
    if (library)
        dlclose(library);
    return function;
}

static void make_functions(const struct wishes *wishes, dlopen_function *dlopen_real)
{
    static unsigned made;
    char soname[64];
    size_t count = 0;
    struct made_function *functions = calloc(wishes->count + 1, sizeof *functions);
    for (size_t i = 0; functions && i < wishes->count; i++) {
        const struct wish *wish = &wishes->rows[i];
        if (wish->is_met || (count && !strcmp(functions[count - 1].name, wish->name)))
            continue;
        struct made_function function = {wish->name, modelled(wish, dlopen_real), NULL};
        if (!function.target) {
            function.argument = answer_new(wish->name, wish->not_supported);
            function.target = (const void *)(uintptr_t)answer_call;
        }
        if (function.argument || function.target != (const void *)(uintptr_t)answer_call)
            functions[count++] = function;
    }
    snprintf(soname, sizeof soname, "libgpumemtrace_made_%u.so", ++made);
    if (count)
        made_load(soname, NULL, functions, count, dlopen_real);
    free(functions);
}

/* --- both --- */

/* Held while libraries are generated, so that two threads do not generate the same one. */
static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

/* Adds the file that dlopen will find. For a path without a folder, the search starts with the
 * RPATH of the caller, whose file is added but not loaded again. */
static bool add_first(struct closure *closure, const char *path, const void *caller)
{
    Dl_info info;
    if (strchr(path, '/'))
        return closure_add(closure, path, 0);
    const bool has_caller = dladdr(caller, &info) && closure_add(closure, info.dli_fname, 0);
    const bool found =
        (has_caller && add_from_rpaths(closure, path, 0)) || add_from_loader(closure, path, 0);
    closure->first = has_caller;
    return found;
}

static void prepare_closure(struct closure *closure)
{
    struct wishes wishes = {.rows = NULL};
    for (size_t i = closure->first; i < closure->count; i++)
        closure_extend(closure, i);
    for (size_t i = closure->first; i < closure->count; i++)
        wishes_of(&wishes, &closure->files[i]);
    say_static_runtime(closure);
    if (wishes.count) {
        qsort(wishes.rows, wishes.count, sizeof *wishes.rows, compare_wishes);
        for (size_t i = closure->first; i < closure->count; i++)
            meet_from(&wishes, &closure->files[i]);
        meet_from_loaded(&wishes);
        make_functions(&wishes, closure->dlopen_real);
    }
    free(wishes.rows);
}

void needs_prepare(const char *path, const void *caller, dlopen_function *dlopen_real)
{
    struct closure *closure = NULL;
    if (is_loaded(path) || !(closure = calloc(1, sizeof *closure)))
        return;
    closure->dlopen_real = dlopen_real;
    pthread_mutex_lock(&making);
    if (add_first(closure, path, caller))
        prepare_closure(closure);
    pthread_mutex_unlock(&making);
    closure_release(closure);
    free(closure);
}

void needs_prepare_name(const char *soname, dlopen_function *dlopen_real)
{
    pthread_mutex_lock(&making);
    make_name(soname, dlopen_real);
    pthread_mutex_unlock(&making);
}
