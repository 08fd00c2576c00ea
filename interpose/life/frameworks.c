/* SPDX-License-Identifier: MIT */
/*
 * See frameworks.h. Rows go through the ring, like everything that becomes known after the start.
 */
#include "frameworks.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/own_fd.h"
#include "interpose/image/image_list.h"

_Atomic uint64_t frameworks_generation;

static void define(struct thread *thread, enum record_variable table, const char *name,
                   const char *value, size_t value_bytes)
{
    char text[RECORD_TEXT_MAX];
    const struct ring_slot slot = {.memory = (uint8_t)table};
    const size_t name_bytes = strlen(name) + 1;
    if (value_bytes > sizeof text - name_bytes)
        value_bytes = sizeof text - name_bytes;
    memcpy(text, name, name_bytes);
    memcpy(text + name_bytes, value, value_bytes);
    thread_define(thread, SLOT_VARIABLE, &slot, text, name_bytes + value_bytes);
}

/* --- versions --- */

struct framework {
    const char *name, *library, *folder, *file, *key;
};

struct search {
    const struct framework *framework;
    char path[PATH_MAX]; /* path of the file that states the version */
    bool found;
};

static int search_library(struct dl_phdr_info *info, size_t size, void *argument)
{
    struct search *search = argument;
    const struct framework *framework = search->framework;
    const struct link_map *image = NULL;
    (void)info, (void)size;
    while (!search->found && (image = image_list_find(framework->library, image))) {
        const char *name = strrchr(image->l_name, '/');
        const size_t folder_bytes = strlen(framework->folder);
        const size_t bytes = name ? (size_t)(name + 1 - image->l_name) : 0;
        if (bytes < folder_bytes || bytes > INT_MAX ||
            memcmp(name + 1 - folder_bytes, framework->folder, folder_bytes) != 0)
            continue;
        search->found = snprintf(search->path, sizeof search->path, "%.*s%s", (int)bytes,
                                 image->l_name, framework->file) < (int)sizeof search->path;
    }
    return 1;
}

static size_t read_file(const char *path, char *text, size_t text_bytes)
{
    struct own_file file;
    const int fd = own_fd_open(path, O_RDONLY, 0, &file);
    const ssize_t length = fd < 0 ? 0 : read(fd, text, text_bytes - 1);
    if (fd >= 0)
        close(fd);
    text[length < 0 ? 0 : length] = '\0';
    return length < 0 ? 0 : (size_t)length;
}

/* Returns the rest of the line that begins with the key, or NULL if there is no such line. */
static const char *find_line(const char *text, const char *key)
{
    const size_t key_bytes = strlen(key);
    while (text && strncmp(text, key, key_bytes) != 0)
        if ((text = strchr(text, '\n')))
            text++;
    return text ? text + key_bytes : NULL;
}

/* Returns the version in the text of the file. It is the quoted text after the key, or the first
 * line if the key is empty. */
static const char *find_version(const char *text, const char *key, size_t *version_bytes)
{
    const char *version = find_line(text, key);
    const char *end = "\r\n";
    if (version && *key) {
        version += strcspn(version, "'\"\n");
        end = "'\"\n";
        version += *version == '\'' || *version == '"';
    }
    *version_bytes = version ? strcspn(version, end) : 0;
    return version;
}

static bool define_version(struct thread *thread, const struct framework *framework)
{
    struct search search = {.framework = framework};
    char text[1024];
    size_t bytes = 0;
    image_list_iterate(search_library, &search);
    if (!search.found || !read_file(search.path, text, sizeof text))
        return false;
    const char *version = find_version(text, framework->key, &bytes);
    if (bytes)
        define(thread, VARIABLE_framework, framework->name, version, bytes);
    return bytes != 0;
}

static void define_versions(struct thread *thread)
{
    static const struct framework frameworks[] = {
#define FRAMEWORK(name, library, folder, file, key) {#name, library, folder, file, key},
#include "gpumemtrace/schema/frameworks.def"
    };
    const char *last = NULL;
    for (size_t i = 0; i < sizeof frameworks / sizeof *frameworks; i++)
        if ((!last || strcmp(last, frameworks[i].name) != 0) &&
            define_version(thread, &frameworks[i]))
            last = frameworks[i].name;
}

/* --- settings --- */

/* Stores these variables again, because a program may have set them after the recording began and
 * before its framework read them. */
static void define_environment(struct thread *thread)
{
#define WHEN_job_variable(name)
#define WHEN_allocator_setting(name)                                                               \
    {                                                                                              \
        const char *const value = getenv(#name);                                                   \
        if (value)                                                                                 \
            define(thread, VARIABLE_allocator_setting, #name, value, strlen(value));               \
    }
#define ENVIRONMENT(table, name) WHEN_##table(name)
#include "gpumemtrace/schema/environment.def"
}

/* The last settings that PyTorch's allocator took. `taken` is a lock that no thread waits for: a
 * thread that finds it taken skips its work. Acquire and release order the accesses to the other
 * members. */
static struct {
    _Atomic bool taken;
    bool known;
    size_t bytes;
    char text[RECORD_TEXT_MAX];
} settings;

static bool take_settings(void)
{
    return !atomic_exchange_explicit(&settings.taken, true, memory_order_acquire);
}

static void leave_settings(void)
{
    atomic_store_explicit(&settings.taken, false, memory_order_release);
}

static void define_settings(struct thread *thread)
{
    if (!take_settings())
        return;
    if (settings.known)
        define(thread, VARIABLE_allocator_setting, "pytorch", settings.text, settings.bytes);
    leave_settings();
}

void frameworks_note_settings(const char *text, size_t text_bytes)
{
    const int saved_errno = errno;
    if (text && take_settings()) {
        settings.bytes = text_bytes < sizeof settings.text ? text_bytes : sizeof settings.text;
        memcpy(settings.text, text, settings.bytes);
        settings.known = true;
        leave_settings();
        struct thread *thread = thread_current();
        if (thread)
            define_settings(thread);
    }
    errno = saved_errno;
}

void frameworks_look_once(struct thread *thread)
{
    const int saved_errno = errno;
    uint64_t before = atomic_load_explicit(&frameworks_generation, memory_order_relaxed);
    if (before != thread->generation &&
        atomic_compare_exchange_strong_explicit(&frameworks_generation, &before, thread->generation,
                                                memory_order_relaxed, memory_order_relaxed)) {
        define_versions(thread);
        define_environment(thread);
        define_settings(thread);
    }
    errno = saved_errno;
}
