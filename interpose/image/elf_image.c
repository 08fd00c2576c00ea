/* SPDX-License-Identifier: MIT */
/*
 * Reads ELF's dynamic section and hash tables. See elf_image.h.
 *
 * Calls no string function of libc: other preloaded libraries look up libc's functions by our dlsym
 * while they start, and a string function may be one that they replace and cannot serve yet.
 */
#include "elf_image.h"

#include <elf.h>
#include <link.h>

static bool same_text(const char *a, const char *b)
{
    while (*a && *a == *b) {
        a++;
        b++;
    }
    return *a == *b;
}

static bool starts_with(const char *text, const char *prefix)
{
    while (*prefix && *text == *prefix) {
        text++;
        prefix++;
    }
    return !*prefix;
}

static const char *base_name(const char *path)
{
    const char *base = path;
    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

struct image_tables {
    const ElfW(Sym) * symbols;
    const char *strings;
    const ElfW(Half) * versions;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};

/* ld.so has already relocated most of these addresses, but not the addresses in the vDSO, nor any
 * address on some architectures. */
static const void *relocated(const struct link_map *image, ElfW(Addr) value)
{
    return (const void *)(value < image->l_addr ? value + image->l_addr : value);
}

static void read_tables(const struct link_map *image, struct image_tables *tables)
{
    *tables = (struct image_tables){0};
    for (const ElfW(Dyn) *entry = image->l_ld; entry && entry->d_tag != DT_NULL; entry++) {
        const void *table = relocated(image, entry->d_un.d_ptr);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            tables->symbols = table;
            break;
        case DT_STRTAB:
            tables->strings = table;
            break;
        case DT_VERSYM:
            tables->versions = table;
            break;
        case DT_GNU_HASH:
            tables->gnu_hash = table;
            break;
        case DT_HASH:
            tables->sysv_hash = table;
            break;
        }
    }
}

/* Does this symbol define the name, in the version that a lookup without a version finds? */
static bool is_default_definition(const struct image_tables *tables, uint32_t index,
                                  const char *name)
{
    const ElfW(Sym) *symbol = &tables->symbols[index];
    const unsigned hidden_bit = 0x8000;
    return symbol->st_shndx != SHN_UNDEF && symbol->st_value != 0 &&
           same_text(tables->strings + symbol->st_name, name) &&
           !(tables->versions && (tables->versions[index] & hidden_bit));
}

/*
 * DT_GNU_HASH:  | buckets n | first symbol | bloom words m | shift | bloom[m] | buckets[n] | chain…
 *
 * A bucket has the index of the first symbol of its chain; the last link of a chain has bit 0 set.
 * The object lacks a name unless both of the name's bits are set in its bloom word.
 */
static bool may_be_there(const uint32_t *gnu_hash, const ElfW(Addr) * bloom, uint32_t hash)
{
    const unsigned bits = 8 * sizeof *bloom;
    const ElfW(Addr) word = bloom[(hash / bits) & (gnu_hash[2] - 1)];
    return word >> (hash % bits) & word >> ((hash >> gnu_hash[3]) % bits) & 1;
}

static uint32_t find_gnu(const struct image_tables *tables, const char *name)
{
    const uint32_t bucket_count = tables->gnu_hash[0], first = tables->gnu_hash[1];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(tables->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(bloom + tables->gnu_hash[2]);
    const uint32_t *chain = buckets + bucket_count;
    uint32_t hash = 5381;
    for (const char *c = name; *c; c++)
        hash = hash * 33 + (unsigned char)*c;
    if (!may_be_there(tables->gnu_hash, bloom, hash))
        return 0;
    uint32_t index = bucket_count ? buckets[hash % bucket_count] : 0;
    if (index < first)
        return 0;
    for (;; index++) {
        const uint32_t link = chain[index - first];
        if ((link | 1) == (hash | 1) && is_default_definition(tables, index, name))
            return index;
        if (link & 1)
            return 0;
    }
}

/* DT_HASH:  | buckets n | symbols m | buckets[n] | chain[m] | */
static uint32_t find_sysv(const struct image_tables *tables, const char *name)
{
    const uint32_t bucket_count = tables->sysv_hash[0];
    const uint32_t *buckets = tables->sysv_hash + 2, *chain = buckets + bucket_count;
    uint32_t hash = 0;
    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (unsigned char)*c;
        hash = (hash ^ ((hash >> 24) & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = bucket_count ? buckets[hash % bucket_count] : 0; i; i = chain[i])
        if (is_default_definition(tables, i, name))
            return i;
    return 0;
}

static const ElfW(Sym) * find_symbol(const struct link_map *image, const char *name)
{
    struct image_tables tables;
    read_tables(image, &tables);
    if (!tables.symbols || !tables.strings || !(tables.gnu_hash || tables.sysv_hash))
        return NULL;
    const uint32_t index = tables.gnu_hash ? find_gnu(&tables, name) : find_sysv(&tables, name);
    return index ? &tables.symbols[index] : NULL;
}

void *elf_image_symbol(const struct link_map *image, const char *name)
{
    const ElfW(Sym) *symbol = find_symbol(image, name);
    if (!symbol)
        return NULL;
    void *address = (void *)(image->l_addr + symbol->st_value);
    if (ELF64_ST_TYPE(symbol->st_info) != STT_GNU_IFUNC)
        return address;
    typedef void *resolver(void);
    return ((resolver *)(uintptr_t)address)();
}

bool elf_image_extent(const struct link_map *image, const char *name, uintptr_t *start,
                      uintptr_t *end)
{
    const ElfW(Sym) *symbol = find_symbol(image, name);
    if (!symbol || !symbol->st_size)
        return false;
    *start = image->l_addr + symbol->st_value;
    *end = *start + symbol->st_size;
    return true;
}

static ElfW(Addr) dynamic_value(const struct link_map *image, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *entry = image->l_ld; entry && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag)
            return entry->d_un.d_val;
    return 0;
}

void elf_image_weak_references(const struct link_map *image, elf_image_visit *visit, void *argument)
{
    static const ElfW(Sxword) relocations[][2] = {{DT_RELA, DT_RELASZ}, {DT_JMPREL, DT_PLTRELSZ}};
    struct image_tables tables;
    read_tables(image, &tables);
    for (int i = 0; i < 2 && tables.symbols && tables.strings; i++) {
        const ElfW(Rela) *entry = relocated(image, dynamic_value(image, relocations[i][0]));
        size_t left = dynamic_value(image, relocations[i][1]) / sizeof *entry;
        for (; left > 0; left--, entry++) {
            const ElfW(Sym) *symbol = &tables.symbols[ELF64_R_SYM(entry->r_info)];
            if (ELF64_R_SYM(entry->r_info) && ELF64_ST_BIND(symbol->st_info) == STB_WEAK &&
                symbol->st_shndx == SHN_UNDEF)
                visit(tables.strings + symbol->st_name, (void **)(image->l_addr + entry->r_offset),
                      argument);
        }
    }
}

bool elf_image_from(const struct dl_phdr_info *info, struct link_map *image)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type != PT_DYNAMIC)
            continue;
        *image = (struct link_map){.l_addr = info->dlpi_addr,
                                   .l_ld = (ElfW(Dyn) *)(info->dlpi_addr + part->p_vaddr)};
        return true;
    }
    return false;
}

static const char *dynamic_text(const struct link_map *image, ElfW(Sxword) tag, const char *prefix)
{
    struct image_tables tables;
    read_tables(image, &tables);
    for (const ElfW(Dyn) *entry = image->l_ld; tables.strings && entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == tag && starts_with(tables.strings + entry->d_un.d_val, prefix))
            return tables.strings + entry->d_un.d_val;
    return NULL;
}

const char *elf_image_needs(const struct link_map *image, const char *prefix)
{
    return dynamic_text(image, DT_NEEDED, prefix);
}

/* Returns the length of a hash such as "-e409450e", which some tools put before the ".so" when they
 * bundle a library; 0: there is no hash. */
static size_t hash_letters(const char *name)
{
    size_t letters = 1;
    while ((name[letters] >= '0' && name[letters] <= '9') ||
           (name[letters] >= 'a' && name[letters] <= 'f'))
        letters++;
    return letters == 9 && name[letters] == '.' ? letters : 0;
}

static bool is_library(const char *name, const char *prefix)
{
    for (;; name++, prefix++) {
        name += *name == '-' ? hash_letters(name) : 0;
        prefix += *prefix == '-' ? hash_letters(prefix) : 0;
        if (*name != *prefix || !*prefix)
            return !*prefix;
    }
}

bool elf_image_is(const struct link_map *image, const char *prefix)
{
    const char *soname = dynamic_text(image, DT_SONAME, "");
    return (image->l_name && is_library(base_name(image->l_name), prefix)) ||
           (soname && is_library(soname, prefix));
}
