/* SPDX-License-Identifier: MIT */
/* Finds and checks the program to record; see run_program.h. */
#include "run_program.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/static_runtime.h"

/* --- finding --- */

/* Returns 0, or the errno with which execve would fail. */
static int why_not(const char *path)
{
    struct stat status;
    if (stat(path, &status))
        return errno;
    if (S_ISDIR(status.st_mode))
        return EISDIR;
    return access(path, X_OK) ? errno : 0;
}

static int say_refused(const char *name, int reason, struct err *err)
{
    bool missing = reason == ENOENT || reason == ENOTDIR;
    if (missing && !strchr(name, '/'))
        err_set(err, ERR_USAGE, "'%.200s' is not in PATH", name);
    else
        err_set(err, ERR_USAGE, "cannot start '%.200s': %s", name, strerror(reason));
    return missing ? RUN_NOT_FOUND : RUN_NOT_EXECUTABLE;
}

static bool path_exists(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0;
}

/* Searches PATH like a shell. A file that may not be executed is skipped, but it is reported if no
 * other file is found. A folder that may not be searched is skipped. */
static int search_path(const char *name, char path[PATH_MAX])
{
    const char *folders = getenv("PATH");
    char refused_path[PATH_MAX] = "";
    int reason = ENOENT;
    if (!folders)
        folders = "/bin:/usr/bin";
    for (;;) {
        size_t length = strcspn(folders, ":");
        int written = snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1,
                               length ? folders : ".", name);
        int refused = written < PATH_MAX ? why_not(path) : ENAMETOOLONG;
        if (!refused)
            return 0;
        if ((refused == EACCES || refused == EISDIR) && path_exists(path)) {
            reason = EACCES;
            snprintf(refused_path, PATH_MAX, "%s", path);
        }
        if (!folders[length]) {
            snprintf(path, PATH_MAX, "%s", refused_path);
            return reason;
        }
        folders += length + 1;
    }
}

int run_program_find(const char *name, char path[PATH_MAX], struct err *err)
{
    int reason = ENOENT;
    if (strchr(name, '/'))
        reason = snprintf(path, PATH_MAX, "%s", name) < PATH_MAX ? why_not(path) : ENAMETOOLONG;
    else if (*name)
        reason = search_path(name, path);
    return reason ? say_refused(name, reason, err) : 0;
}

/* --- judging --- */

struct image {
    int fd;
    Elf *elf; /* NULL: not an ELF file */
    GElf_Ehdr header;
    bool is_cut; /* the ELF file ends before a part that its headers name */
    bool has_interpreter;
    char interpreter[PATH_MAX];
    bool has_soname;    /* a library, or the loader itself, used as a program */
    bool needs_runtime; /* the program links a shared libcudart */
    bool has_kernels;
    bool imports_registration; /* __cudaRegisterFatBinary comes from another file */
    bool holds_runtime_texts;
};

static const char runtime_error_name[] = STATIC_RUNTIME_ERROR_NAME;
static const char driver_name[] = STATIC_RUNTIME_DRIVER_NAME;

static void image_release(struct image *image)
{
    if (image->elf)
        elf_end(image->elf);
    if (image->fd >= 0)
        close(image->fd);
}

static void read_interpreter(struct image *image, const GElf_Phdr *segment)
{
    const size_t most = sizeof image->interpreter - 1;
    const size_t bytes = segment->p_filesz < most ? segment->p_filesz : most;
    image->has_interpreter = true;
    if (pread(image->fd, image->interpreter, bytes, (off_t)segment->p_offset) != (ssize_t)bytes)
        image->interpreter[0] = '\0';
}

static void read_segments(struct image *image)
{
    const GElf_Ehdr *header = &image->header;
    size_t count = 0;
    GElf_Phdr segment;
    struct stat status;
    const uint64_t file_bytes = fstat(image->fd, &status) ? UINT64_MAX : (uint64_t)status.st_size;
    image->is_cut = header->e_phoff > file_bytes ||
                    (uint64_t)header->e_phnum * header->e_phentsize > file_bytes - header->e_phoff;
    if (image->is_cut)
        return;
    elf_getphdrnum(image->elf, &count);
    for (size_t i = 0; i < count; i++) {
        if (!gelf_getphdr(image->elf, (int)i, &segment))
            continue;
        if (segment.p_type == PT_LOAD &&
            (segment.p_offset > file_bytes || segment.p_filesz > file_bytes - segment.p_offset))
            image->is_cut = true;
        if (segment.p_type == PT_INTERP)
            read_interpreter(image, &segment);
    }
}

static void read_dynamic(struct image *image, const GElf_Shdr *section, Elf_Data *data)
{
    GElf_Dyn entry;
    for (int i = 0; gelf_getdyn(data, i, &entry) && entry.d_tag != DT_NULL; i++) {
        const char *name = elf_strptr(image->elf, section->sh_link, entry.d_un.d_val);
        if (entry.d_tag == DT_SONAME)
            image->has_soname = true;
        if (entry.d_tag == DT_NEEDED && name && !strncmp(name, "libcudart.so", 12))
            image->needs_runtime = true;
    }
}

static void read_imports(struct image *image, const GElf_Shdr *section, Elf_Data *data)
{
    GElf_Sym symbol;
    for (int i = 0; gelf_getsym(data, i, &symbol); i++) {
        const char *name = elf_strptr(image->elf, section->sh_link, symbol.st_name);
        if (symbol.st_shndx == SHN_UNDEF && name && !strcmp(name, "__cudaRegisterFatBinary"))
            image->imports_registration = true;
    }
}

static void read_constants(struct image *image, const Elf_Data *data)
{
    if (data->d_buf && memmem(data->d_buf, data->d_size, driver_name, sizeof driver_name) &&
        memmem(data->d_buf, data->d_size, runtime_error_name, sizeof runtime_error_name))
        image->holds_runtime_texts = true;
}

static void read_sections(struct image *image)
{
    size_t names = 0;
    Elf_Scn *at = NULL;
    GElf_Shdr section;
    elf_getshdrstrndx(image->elf, &names);
    while ((at = elf_nextscn(image->elf, at))) {
        if (!gelf_getshdr(at, &section))
            continue;
        const char *name = elf_strptr(image->elf, names, section.sh_name);
        Elf_Data *data = section.sh_type == SHT_NOBITS ? NULL : elf_getdata(at, NULL);
        if (name && !strcmp(name, ".nv_fatbin"))
            image->has_kernels = true;
        if (data && section.sh_type == SHT_DYNAMIC)
            read_dynamic(image, &section, data);
        if (data && section.sh_type == SHT_DYNSYM)
            read_imports(image, &section, data);
        if (data && name && !strcmp(name, ".rodata"))
            read_constants(image, data);
    }
}

static bool has_magic(int fd)
{
    char magic[SELFMAG];
    return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

/* Reads the facts about a program. A file that cannot be read may still be executable;
 * in that case nothing is known about it. */
static void image_open(struct image *image, const char *path)
{
    *image = (struct image){.fd = open(path, O_RDONLY | O_CLOEXEC)};
    elf_version(EV_CURRENT);
    if (image->fd >= 0)
        image->elf = elf_begin(image->fd, ELF_C_READ_MMAP, NULL);
    if (!image->elf || elf_kind(image->elf) != ELF_K_ELF ||
        !gelf_getehdr(image->elf, &image->header)) {
        image->is_cut = has_magic(image->fd);
        elf_end(image->elf);
        image->elf = NULL;
        return;
    }
    read_segments(image);
    if (!image->is_cut)
        read_sections(image);
}

static bool carries_runtime(const struct image *image)
{
    if (image->needs_runtime)
        return false;
    return image->holds_runtime_texts || (image->has_kernels && !image->imports_registration);
}

/* The loader ignores LD_PRELOAD if execution raises privileges (ld.so(8), secure execution). */
static bool raises_privileges(const struct image *image)
{
    struct stat status;
    if (fstat(image->fd, &status))
        return false;
    return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
           ((status.st_mode & S_ISGID) && status.st_gid != getgid());
}

static bool same_machine(const struct image *a, const struct image *b)
{
    return a->header.e_machine == b->header.e_machine &&
           a->header.e_ident[EI_CLASS] == b->header.e_ident[EI_CLASS];
}

int run_program_check(const char *path, const char *library, bool dry_run, struct err *err)
{
    struct image program, recorder;
    const char *reason = NULL;
    image_open(&program, path);
    image_open(&recorder, library);
    if (program.is_cut)
        reason = "is cut short: its headers name more than the file has; build or copy it again";
    else if (!program.elf)
        reason = NULL;
    else if (recorder.elf && !same_machine(&program, &recorder))
        reason = "is built for another machine than the recorder, which cannot be loaded into it";
    else if (!program.has_interpreter && !program.has_soname)
        reason = "is linked statically; nothing can be loaded into it, so it cannot be recorded";
    else if (raises_privileges(&program))
        reason = "runs with another user's rights, so the loader ignores LD_PRELOAD; start it as "
                 "that user";
    else if (dry_run && carries_runtime(&program))
        reason = "has NVIDIA's runtime linked in statically, which works on a real driver only; "
                 "for a dry run link it with nvcc --cudart=shared";
    image_release(&program);
    image_release(&recorder);
    if (!reason)
        return 0;
    return err_set(err, ERR_USAGE, "'%.200s' %s", path, reason);
}

/* --- what starts it --- */

/* Returns the next word of a script's first line. *rest becomes the text behind that word. */
static char *next_word(char **rest)
{
    char *word = *rest + strspn(*rest, " \t");
    char *end = word + strcspn(word, " \t");
    *rest = *end ? end + 1 : end;
    *end = '\0';
    return word;
}

/* Returns the program that env starts: the first word that is neither an option nor sets
 * a variable. */
static const char *word_of_env(char *rest)
{
    const char *word = next_word(&rest);
    while (*word && (*word == '-' || strchr(word, '=')))
        word = next_word(&rest);
    return word;
}

/* Reads a script's first line "#!INTERPRETER WORDS" as the kernel does. line becomes "" if the file
 * has no such line. */
static void read_first_line(int fd, char line[PATH_MAX])
{
    char start[PATH_MAX];
    const ssize_t length = pread(fd, start, sizeof start - 1, 0);
    line[0] = '\0';
    if (length < 2 || memcmp(start, "#!", 2) != 0)
        return;
    start[length] = '\0';
    start[strcspn(start, "\n")] = '\0';
    snprintf(line, PATH_MAX, "%s", start + 2);
}

int run_program_find_interpreter(const char *path, char missing[PATH_MAX])
{
    struct image image;
    char line[PATH_MAX] = "", *rest = line, found[PATH_MAX];
    struct err err;
    image_open(&image, path);
    if (image.elf)
        snprintf(missing, PATH_MAX, "%s", image.interpreter);
    else if (image.fd >= 0)
        read_first_line(image.fd, line);
    if (!image.elf)
        snprintf(missing, PATH_MAX, "%s", next_word(&rest));
    image_release(&image);
    if (!*missing)
        return 0;
    if (!path_exists(missing))
        return -1;
    const char *slash = strrchr(missing, '/'), *word = NULL;
    if (slash && !strcmp(slash, "/env") && *(word = word_of_env(rest)) &&
        run_program_find(word, found, &err)) {
        snprintf(missing, PATH_MAX, "%s", word);
        return -1;
    }
    return 0;
}
