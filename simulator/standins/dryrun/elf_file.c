/* SPDX-License-Identifier: MIT */
/* Reading shared objects. See elf_file.h. Every offset is checked, because the file may be
 * truncated. */
#include "elf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static int map_file(struct elf_file *file, const char *path)
{
    struct stat status;
    void *bytes = MAP_FAILED;
    const int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    if (descriptor < 0)
        return -1;
    if (!fstat(descriptor, &status) && S_ISREG(status.st_mode) && status.st_size > 0)
        bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
    close(descriptor);
    if (bytes == MAP_FAILED)
        return -1;
    file->bytes = bytes;
    file->size = (size_t)status.st_size;
    return 0;
}

/* The address of `count` items of `bytes` bytes at this offset; NULL: they are not all in the
 * file. */
static const void *part_of(const struct elf_file *file, uint64_t offset, uint64_t count,
                           uint64_t bytes)
{
    uint64_t all;
    if (__builtin_mul_overflow(count, bytes, &all) || offset > file->size ||
        all > file->size - offset || offset % 2)
        return NULL;
    return file->bytes + offset;
}

static void take_section(struct elf_file *file, const ElfW(Shdr) * sections, size_t count,
                         const ElfW(Shdr) * section, struct elf_table *table)
{
    const ElfW(Shdr) *names = section->sh_link < count ? &sections[section->sh_link] : NULL;
    const void *start = part_of(file, section->sh_offset, section->sh_size, 1);
    const char *strings = NULL;
    if (names && names->sh_offset <= file->size && names->sh_size <= file->size - names->sh_offset)
        strings = (const char *)file->bytes + names->sh_offset;
    if (start && strings && names->sh_size && !strings[names->sh_size - 1])
        *table = (struct elf_table){start, section->sh_size, strings, names->sh_size};
    else if (start && section->sh_type == SHT_GNU_versym)
        *table = (struct elf_table){start, section->sh_size, "", 1};
}

/* Sets the section named .rodata. It has no table of names. */
static void take_constants(struct elf_file *file, const ElfW(Shdr) * section,
                           const ElfW(Shdr) * names)
{
    static const char wanted[] = ".rodata";
    const void *start = part_of(file, section->sh_offset, section->sh_size, 1);
    const char *name = NULL;
    if (names->sh_offset <= file->size && names->sh_size <= file->size - names->sh_offset &&
        section->sh_name <= names->sh_size && names->sh_size - section->sh_name >= sizeof wanted)
        name = (const char *)file->bytes + names->sh_offset + section->sh_name;
    if (start && name && !memcmp(name, wanted, sizeof wanted))
        file->constants = (struct elf_table){start, section->sh_size, "", 1};
}

static void read_sections(struct elf_file *file, const ElfW(Ehdr) * header)
{
    const ElfW(Shdr) *sections =
        part_of(file, header->e_shoff, header->e_shnum, sizeof(ElfW(Shdr)));
    for (size_t i = 0; sections && i < header->e_shnum; i++) {
        struct elf_table *table = NULL;
        if (header->e_shstrndx < header->e_shnum)
            take_constants(file, &sections[i], &sections[header->e_shstrndx]);
        switch (sections[i].sh_type) {
        case SHT_DYNAMIC:
            table = &file->dynamic;
            break;
        case SHT_DYNSYM:
            table = &file->symbols;
            break;
        case SHT_GNU_versym:
            table = &file->versions;
            break;
        case SHT_GNU_verneed:
            table = &file->needed_versions;
            break;
        case SHT_GNU_verdef:
            table = &file->own_versions;
            break;
        }
        if (table)
            take_section(file, sections, header->e_shnum, &sections[i], table);
    }
}

int elf_file_open(struct elf_file *file, const char *path)
{
    *file = (struct elf_file){.bytes = NULL};
    if (map_file(file, path))
        return -1;
    const ElfW(Ehdr) *header = part_of(file, 0, 1, sizeof *header);
    if (!header || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
        header->e_shentsize != sizeof(ElfW(Shdr)))
        return -1;
    read_sections(file, header);
    return 0;
}

void elf_file_close(struct elf_file *file)
{
    if (file->bytes)
        munmap((void *)(uintptr_t)file->bytes, file->size);
    file->bytes = NULL;
}

static const char *text_at(const struct elf_table *table, uint64_t offset)
{
    return offset < table->string_bytes ? table->strings + offset : "";
}

const char *elf_file_text(const struct elf_file *file, ElfW(Sxword) tag, size_t *position)
{
    const ElfW(Dyn) *entries = file->dynamic.start;
    const size_t count = file->dynamic.bytes / sizeof *entries;
    while (*position < count && entries[*position].d_tag != DT_NULL) {
        const ElfW(Dyn) *entry = &entries[(*position)++];
        if (entry->d_tag == tag)
            return text_at(&file->dynamic, entry->d_un.d_val);
    }
    return NULL;
}

/* --- versions --- */

/* The entry of this size at an offset of a version table, whose entries are linked lists. */
static const void *version_entry(const struct elf_table *table, size_t offset, size_t bytes)
{
    if (offset > table->bytes || bytes > table->bytes - offset)
        return NULL;
    return (const char *)table->start + offset;
}

static const char *needed_version(const struct elf_file *file, unsigned index)
{
    const struct elf_table *table = &file->needed_versions;
    const ElfW(Verneed) * need;
    for (size_t at = 0; (need = version_entry(table, at, sizeof *need)); at += need->vn_next) {
        const ElfW(Vernaux) * one;
        size_t inner = at + need->vn_aux;
        for (unsigned i = 0; i < need->vn_cnt; i++, inner += one->vna_next) {
            if (!(one = version_entry(table, inner, sizeof *one)))
                return NULL;
            if (one->vna_other == index)
                return text_at(table, one->vna_name);
        }
        if (!need->vn_next)
            break;
    }
    return NULL;
}

static const char *own_version(const struct elf_file *file, unsigned index)
{
    const struct elf_table *table = &file->own_versions;
    const ElfW(Verdef) * own;
    for (size_t at = 0; (own = version_entry(table, at, sizeof *own)); at += own->vd_next) {
        const ElfW(Verdaux) *name = version_entry(table, at + own->vd_aux, sizeof *name);
        if (own->vd_ndx == index)
            return name ? text_at(table, name->vda_name) : NULL;
        if (!own->vd_next)
            break;
    }
    return NULL;
}

static const char *version_of(const struct elf_file *file, size_t number, bool is_defined)
{
    const ElfW(Half) *versions = file->versions.start;
    if (number >= file->versions.bytes / sizeof *versions)
        return NULL;
    const unsigned index = versions[number] & 0x7fff;
    if (index <= VER_NDX_GLOBAL)
        return NULL;
    return is_defined ? own_version(file, index) : needed_version(file, index);
}

/* --- symbols --- */

bool elf_file_symbol(const struct elf_file *file, size_t *position, struct elf_symbol *symbol)
{
    const ElfW(Sym) *symbols = file->symbols.start;
    const size_t count = file->symbols.bytes / sizeof *symbols;
    while (*position < count) {
        const size_t number = (*position)++;
        const ElfW(Sym) *one = &symbols[number];
        const char *name = text_at(&file->symbols, one->st_name);
        /* Skip mangled C++ names: a large library has mostly those, and none is looked up. */
        if (!*name || ELF64_ST_BIND(one->st_info) == STB_LOCAL ||
            (name[0] == '_' && name[1] == 'Z'))
            continue;
        const bool is_defined = one->st_shndx != SHN_UNDEF;
        *symbol = (struct elf_symbol){name, version_of(file, number, is_defined), is_defined,
                                      ELF64_ST_BIND(one->st_info) == STB_WEAK,
                                      ELF64_ST_TYPE(one->st_info) == STT_OBJECT};
        return true;
    }
    return false;
}
