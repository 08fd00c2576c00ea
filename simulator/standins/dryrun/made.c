/* SPDX-License-Identifier: MIT */
/* Writing a shared object. See made.h. */
#include "made.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- code: loads the argument and jumps to the target, whose addresses follow --- */

#if defined(__x86_64__)
#define MACHINE EM_X86_64
/* endbr64; mov argument(%rip), %rdi; jmp *target(%rip) */
static const unsigned char with_argument[24] = {0xf3, 0x0f, 0x1e, 0xfa, 0x48, 0x8b, 0x3d, 0x0d, 0,
                                                0,    0,    0xff, 0x25, 0x0f, 0,    0,    0};
/* endbr64; jmp *target(%rip) */
static const unsigned char without_argument[24] = {0xf3, 0x0f, 0x1e, 0xfa, 0xff,
                                                   0x25, 0x16, 0,    0,    0};
#elif defined(__aarch64__)
#define MACHINE EM_AARCH64
/* bti c; ldr x0, argument; ldr x16, target; br x16 */
static const unsigned char with_argument[24] = {0x5f, 0x24, 0x03, 0xd5, 0xa0, 0x00, 0x00, 0x58,
                                                0xd0, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6};
/* bti c; nop; ldr x16, target; br x16 */
static const unsigned char without_argument[24] = {0x5f, 0x24, 0x03, 0xd5, 0x1f, 0x20, 0x03, 0xd5,
                                                   0xd0, 0x00, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6};
#else
#error "write here the code of a function that jumps"
#endif

struct code {
    unsigned char instructions[24];
    uint64_t argument, target;
};

/* --- the file --- */

/* The largest page size of these machines; each segment begins at a multiple. */
#define PAGE ((size_t)0x10000)

struct image {
    unsigned char *bytes; /* zero at first */
    size_t size;
    size_t hash, symbols, names, code, dynamic; /* offsets in the image and addresses */
    size_t name_bytes;
};

static size_t align_to(size_t offset, size_t bytes)
{
    return (offset + bytes - 1) / bytes * bytes;
}

#define DYNAMIC_COUNT 8

static int image_plan(struct image *image, const char *soname, const char *needs,
                      const struct made_function *functions, size_t count)
{
    image->name_bytes = 1 + strlen(soname) + 1 + (needs ? strlen(needs) + 1 : 0);
    for (size_t i = 0; i < count; i++)
        image->name_bytes += strlen(functions[i].name) + 1;
    image->hash = align_to(sizeof(ElfW(Ehdr)) + 4 * sizeof(ElfW(Phdr)), 8);
    image->symbols = align_to(image->hash + (2 + 2 * (count + 1)) * sizeof(uint32_t), 8);
    image->names = image->symbols + (count + 1) * sizeof(ElfW(Sym));
    image->code = align_to(image->names + image->name_bytes, 16);
    image->dynamic = align_to(image->code + count * sizeof(struct code) + 1, PAGE);
    image->size = image->dynamic + DYNAMIC_COUNT * sizeof(ElfW(Dyn));
    image->bytes = calloc(1, image->size);
    return image->bytes ? 0 : -1;
}

static void write_headers(const struct image *image)
{
    ElfW(Ehdr) *header = (void *)image->bytes;
    ElfW(Phdr) *segment = (void *)(header + 1);
    const size_t dynamic_bytes = image->size - image->dynamic;
    memcpy(header->e_ident, ELFMAG, SELFMAG);
    header->e_ident[EI_CLASS] = ELFCLASS64;
    header->e_ident[EI_DATA] = ELFDATA2LSB;
    header->e_ident[EI_VERSION] = EV_CURRENT;
    header->e_type = ET_DYN;
    header->e_machine = MACHINE;
    header->e_version = EV_CURRENT;
    header->e_phoff = sizeof *header;
    header->e_ehsize = sizeof *header;
    header->e_phentsize = sizeof *segment;
    header->e_phnum = 4;
    segment[0] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_align = PAGE};
    segment[0].p_filesz = segment[0].p_memsz = image->dynamic;
    segment[1] = (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_W, .p_align = PAGE};
    segment[1].p_offset = segment[1].p_vaddr = segment[1].p_paddr = image->dynamic;
    segment[1].p_filesz = segment[1].p_memsz = dynamic_bytes;
    segment[2] = segment[1];
    segment[2].p_type = PT_DYNAMIC;
    segment[2].p_align = 8;
    segment[3] = (ElfW(Phdr)){.p_type = PT_GNU_STACK, .p_flags = PF_R | PF_W, .p_align = 16};
}

/* Appends a name and returns its offset. */
static size_t write_name(const struct image *image, size_t *used, const char *name)
{
    const size_t offset = *used, bytes = strlen(name) + 1;
    memcpy(image->bytes + image->names + offset, name, bytes);
    *used += bytes;
    return offset;
}

static void write_dynamic(const struct image *image, size_t *used, const char *soname,
                          const char *needs)
{
    ElfW(Dyn) *entry = (void *)(image->bytes + image->dynamic);
    *entry++ = (ElfW(Dyn)){DT_SONAME, {write_name(image, used, soname)}};
    if (needs)
        *entry++ = (ElfW(Dyn)){DT_NEEDED, {write_name(image, used, needs)}};
    *entry++ = (ElfW(Dyn)){DT_HASH, {image->hash}};
    *entry++ = (ElfW(Dyn)){DT_SYMTAB, {image->symbols}};
    *entry++ = (ElfW(Dyn)){DT_SYMENT, {sizeof(ElfW(Sym))}};
    *entry++ = (ElfW(Dyn)){DT_STRTAB, {image->names}};
    *entry++ = (ElfW(Dyn)){DT_STRSZ, {image->name_bytes}};
    *entry = (ElfW(Dyn)){DT_NULL, {0}};
}

static uint32_t hash_of(const char *name)
{
    uint32_t hash = 0;
    for (; *name; name++) {
        hash = (hash << 4) + (unsigned char)*name;
        hash = (hash ^ ((hash >> 24) & 0xf0)) & 0x0fffffff;
    }
    return hash;
}

/* DT_HASH:  | buckets n | symbols m | buckets[n] | chain[m] |, with as many buckets as symbols */
static void write_functions(const struct image *image, size_t *used,
                            const struct made_function *functions, size_t count)
{
    uint32_t *hash = (void *)(image->bytes + image->hash);
    const uint32_t buckets = (uint32_t)count + 1;
    ElfW(Sym) *symbols = (void *)(image->bytes + image->symbols);
    struct code *code = (void *)(image->bytes + image->code);
    hash[0] = hash[1] = buckets;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t *bucket = &hash[2 + hash_of(functions[i].name) % buckets];
        ElfW(Sym) *symbol = &symbols[i + 1];
        symbol->st_name = (uint32_t)write_name(image, used, functions[i].name);
        symbol->st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
        symbol->st_shndx = 1; /* any section index means "defined"; the image has no sections */
        symbol->st_value = image->code + i * sizeof *code;
        symbol->st_size = sizeof *code;
        hash[2 + buckets + i + 1] = *bucket;
        *bucket = i + 1;
        memcpy(code[i].instructions, functions[i].argument ? with_argument : without_argument,
               sizeof code[i].instructions);
        code[i].argument = (uintptr_t)functions[i].argument;
        code[i].target = (uintptr_t)functions[i].target;
    }
}

/* --- loading --- */

static int write_all(int descriptor, const unsigned char *bytes, size_t size)
{
    while (size > 0) {
        const ssize_t written = write(descriptor, bytes, size);
        if (written <= 0)
            return -1;
        bytes += written;
        size -= (size_t)written;
    }
    return 0;
}

/* Loads the image from a memfd. The loader identifies a library by its path, and descriptor numbers
 * are reused, so each path has one more "./" than the one before. */
static int load(const struct image *image, dlopen_function *dlopen_real)
{
    static char path[4096] = "/proc/self/fd/";
    const size_t length = strlen(path);
    const int descriptor = memfd_create("gpumemtrace", MFD_CLOEXEC);
    void *library = NULL;
    if (descriptor < 0)
        return -1;
    snprintf(path + length, sizeof path - length, "%d", descriptor);
    if (!write_all(descriptor, image->bytes, image->size))
        library = dlopen_real(path, RTLD_NOW | RTLD_GLOBAL);
    close(descriptor);
    snprintf(path + length, sizeof path - length, "./");
    return library ? 0 : -1;
}

int made_load(const char *soname, const char *needs, const struct made_function *functions,
              size_t count, dlopen_function *dlopen_real)
{
    struct image image = {.bytes = NULL};
    size_t used = 1;
    if (image_plan(&image, soname, needs, functions, count))
        return -1;
    write_headers(&image);
    write_dynamic(&image, &used, soname, needs);
    write_functions(&image, &used, functions, count);
    const int result = load(&image, dlopen_real);
    free(image.bytes);
    return result;
}
