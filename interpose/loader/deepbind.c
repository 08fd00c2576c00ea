/* SPDX-License-Identifier: MIT */
/*
 * Looks at a library's file before it is opened. See deepbind.h.
 *
 * The flag must be removed before the library is opened, because opening also binds the library's
 * calls, and no code of ours runs in between. But some libraries need the flag: a plugin may define
 * symbols of its own under names that the program also defines. So the flag is removed only if the
 * library brings in CUDA: if its file, or a file that it needs and that is not loaded yet,
 *
 *     needs one of NVIDIA's libraries, or
 *     holds kernels, or the driver's name, as the static runtime does.
 *
 * libcuda keeps the flag, because it calls nothing that we hook. A file that cannot be read also
 * keeps it.
 */
#include "deepbind.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/image/image_list.h"

#define FILE_LIMIT 64

/* The files to look at: first the file that is opened, then the files that it needs. */
struct queue {
    size_t count;
    char paths[FILE_LIMIT][PATH_MAX];
};

/* A file in memory, and its sections. The contents of the file are not trusted. */
struct elf_file {
    const char *bytes;
    size_t size_bytes;
    const ElfW(Shdr) * sections;
    size_t section_count;
};

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool is_nvidias(const char *name)
{
    static const char *const beginnings[] = {
        "libcuda",     "libcublas",   "libcudnn",  "libcufft", "libcurand",  "libcusolver",
        "libcusparse", "libcutensor", "libnvjpeg", "libnccl",  "libnvinfer", "libnpp",
    };
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++)
        if (strncmp(name, beginnings[i], strlen(beginnings[i])) == 0)
            return true;
    return false;
}

/* --- reading a file --- */

static bool elf_file_open(struct elf_file *file, const char *path)
{
    struct stat status;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    void *bytes = MAP_FAILED;
    if (fd >= 0 && fstat(fd, &status) == 0 && status.st_size >= (off_t)sizeof(ElfW(Ehdr)))
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes == MAP_FAILED)
        return false;
    *file = (struct elf_file){.bytes = bytes, .size_bytes = (size_t)status.st_size};
    const ElfW(Ehdr) *header = bytes;
    const size_t room_bytes =
        header->e_shoff <= file->size_bytes ? file->size_bytes - header->e_shoff : 0;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 && header->e_ident[EI_CLASS] == ELFCLASS64 &&
        header->e_shoff % sizeof(uint64_t) == 0 &&
        room_bytes / sizeof(ElfW(Shdr)) >= header->e_shnum) {
        file->sections = (const ElfW(Shdr) *)(const void *)(file->bytes + header->e_shoff);
        file->section_count = header->e_shnum;
    }
    return true;
}

static void elf_file_close(struct elf_file *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size_bytes);
}

/* Returns the contents of a section; NULL: the section is not inside the file. */
static const char *elf_file_section(const struct elf_file *file, size_t index, size_t *size_bytes)
{
    const ElfW(Shdr) *section = &file->sections[index];
    if (index >= file->section_count || section->sh_type == SHT_NOBITS ||
        (section->sh_type == SHT_DYNAMIC && section->sh_offset % sizeof(uint64_t)) ||
        section->sh_offset > file->size_bytes ||
        section->sh_size > file->size_bytes - section->sh_offset)
        return NULL;
    *size_bytes = section->sh_size;
    return file->bytes + section->sh_offset;
}

/* Returns a text of the section; "" if the text or its final 0 lies outside the section. */
static const char *elf_file_text(const struct elf_file *file, size_t section, size_t offset)
{
    size_t size_bytes;
    const char *texts = elf_file_section(file, section, &size_bytes);
    return texts && offset < size_bytes && memchr(texts + offset, '\0', size_bytes - offset)
               ? texts + offset
               : "";
}

/* --- needed libraries --- */

static bool add_if_there(struct queue *queue, const char *folder, size_t folder_length,
                         const char *name)
{
    char *path = queue->paths[queue->count];
    const int length = snprintf(path, PATH_MAX, "%.*s/%s", (int)folder_length, folder, name);
    if (length < 0 || length >= PATH_MAX || access(path, R_OK) != 0)
        return false;
    for (size_t i = 0; i < queue->count; i++)
        if (strcmp(queue->paths[i], path) == 0)
            return true;
    queue->count++;
    return true;
}

/* Tries each folder of a list separated by colons. $ORIGIN is the folder of the file `origin`, to
 * which the list belongs. */
static bool add_from_list(struct queue *queue, const char *list, const char *origin,
                          const char *name)
{
    static const char *const origins[] = {"$ORIGIN", "${ORIGIN}"};
    for (const char *folder = list; folder && *folder;) {
        const size_t length = strcspn(folder, ":");
        char expanded[PATH_MAX];
        size_t skipped = 0;
        for (size_t i = 0; i < 2 && !skipped; i++)
            if (strncmp(folder, origins[i], strlen(origins[i])) == 0)
                skipped = strlen(origins[i]);
        const int expanded_length = snprintf(
            expanded, sizeof expanded, "%.*s%.*s", skipped ? (int)(base_name(origin) - origin) : 0,
            skipped ? origin : "", (int)(length - skipped), folder + skipped);
        if (expanded_length > 0 && expanded_length < PATH_MAX &&
            add_if_there(queue, expanded, (size_t)expanded_length, name))
            return true;
        folder += length + (folder[length] == ':');
    }
    return false;
}

/* Searches where the loader would search for a library, except in the loader's cache. */
static void add_needed(struct queue *queue, const char *name, const char *origin,
                       const char *folders)
{
    const struct link_map *libc = image_list_find("libc.so.6", NULL);
    if (queue->count == FILE_LIMIT || image_list_find_anywhere(name))
        return;
    if (strchr(name, '/')) {
        const size_t folder_length = (size_t)(base_name(name) - name) - 1;
        add_if_there(queue, name, folder_length, base_name(name));
    } else if (!add_from_list(queue, folders, origin, name) &&
               !add_from_list(queue, getenv("LD_LIBRARY_PATH"), "", name) && libc)
        add_if_there(queue, libc->l_name, (size_t)(base_name(libc->l_name) - libc->l_name), name);
}

struct dynamic {
    const ElfW(Dyn) * entries;
    size_t count;
    size_t texts; /* index of the section with the names */
};

static const char *dynamic_entry_text(const struct elf_file *file, const struct dynamic *dynamic,
                                      size_t index)
{
    return elf_file_text(file, dynamic->texts, dynamic->entries[index].d_un.d_val);
}

/* Returns true if the file needs one of NVIDIA's libraries. If not, adds the libraries that the
 * file needs to the queue. */
static bool needs_cuda(const struct elf_file *file, const struct dynamic *dynamic,
                       struct queue *queue, const char *path)
{
    const char *folders = NULL;
    for (size_t i = 0; i < dynamic->count; i++) {
        const ElfW(Sxword) tag = dynamic->entries[i].d_tag;
        if (tag == DT_RUNPATH || tag == DT_RPATH)
            folders = dynamic_entry_text(file, dynamic, i);
        if (tag == DT_NEEDED && is_nvidias(dynamic_entry_text(file, dynamic, i)))
            return true;
    }
    for (size_t i = 0; i < dynamic->count; i++)
        if (dynamic->entries[i].d_tag == DT_NEEDED)
            add_needed(queue, dynamic_entry_text(file, dynamic, i), path, folders);
    return false;
}

/* --- deciding --- */

static bool section_tells(const struct elf_file *file, size_t index, struct queue *queue,
                          const char *path)
{
    static const char driver[] = "libcuda.so";
    const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)(const void *)file->bytes;
    const ElfW(Shdr) *section = &file->sections[index];
    const char *name = elf_file_text(file, header->e_shstrndx, section->sh_name);
    size_t size_bytes;
    const char *bytes = elf_file_section(file, index, &size_bytes);
    if (strncmp(name, ".nv", 3) == 0) /* .nv_fatbin: kernels */
        return true;
    if (!bytes)
        return false;
    if (section->sh_type == SHT_DYNAMIC) {
        const struct dynamic dynamic = {(const ElfW(Dyn) *)(const void *)bytes,
                                        size_bytes / sizeof(ElfW(Dyn)), section->sh_link};
        return needs_cuda(file, &dynamic, queue, path);
    }
    return strncmp(name, ".rodata", 7) == 0 &&
           memmem(bytes, size_bytes, driver, sizeof driver - 1) != NULL;
}

static bool file_tells(const char *path, struct queue *queue)
{
    struct elf_file file;
    bool tells = is_nvidias(base_name(path));
    if (tells || !elf_file_open(&file, path))
        return tells;
    for (size_t i = 0; i < file.section_count && !tells; i++)
        tells = section_tells(&file, i, queue, path);
    elf_file_close(&file);
    return tells;
}

static bool needs_cuda_somewhere(const char *path, struct queue *queue)
{
    add_needed(queue, path, "", NULL);
    for (size_t i = 0; i < queue->count; i++)
        if (file_tells(queue->paths[i], queue))
            return true;
    return false;
}

bool deepbind_hides_cuda(const char *path)
{
    const int saved_errno = errno;
    const char *name = base_name(path);
    bool hides = false;
    /* The queue does not lie on the stack, because a thread's stack may be small. */
    struct queue *queue = mmap(NULL, sizeof *queue, PROT_READ | PROT_WRITE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (queue != MAP_FAILED) {
        hides = strncmp(name, "libcuda.so", 10) != 0 &&
                (is_nvidias(name) || needs_cuda_somewhere(path, queue));
        munmap(queue, sizeof *queue);
    }
    errno = saved_errno;
    return hides;
}
