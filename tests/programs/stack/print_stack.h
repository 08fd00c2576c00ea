/* SPDX-License-Identifier: MIT */
/*
 * Prints the stack and the modules of the program itself, in the form in which a trace holds them:
 *
 *     module PATH BUILD_ID LOAD START END
 *     frame RETURN_ADDRESS          innermost first
 */
#pragma once

#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static inline void print_build_id(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;

        while (segment->p_type == PT_NOTE && at < end) {
            const ElfW(Nhdr) *note = (const ElfW(Nhdr) *)(const void *)at;
            const char *name = at + sizeof *note, *bytes = name + ((note->n_namesz + 3) & ~3u);

            if (note->n_type == 3 && !strcmp(name, "GNU")) {
                for (unsigned j = 0; j < note->n_descsz; j++)
                    printf("%02x", (unsigned char)bytes[j]);
                return;
            }
            at = bytes + ((note->n_descsz + 3) & ~3u);
        }
    }
    printf("-");
}

static inline int print_module(struct dl_phdr_info *info, size_t info_bytes, void *unused)
{
    uint64_t start = UINT64_MAX, end = 0;
    char path[4096] = "";
    (void)info_bytes, (void)unused;
    if (!*info->dlpi_name && readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = from + info->dlpi_phdr[i].p_memsz > end ? from + info->dlpi_phdr[i].p_memsz : end;
    }
    printf("module %s ", *path ? path : info->dlpi_name);
    print_build_id(info);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)info->dlpi_addr, start, end);
    return 0;
}

/* This is a macro, so that the stack begins in the caller's function. */
#define PRINT_STACK()                                                                              \
    do {                                                                                           \
        void *addresses_[64];                                                                      \
        int count_ = backtrace(addresses_, 64);                                                    \
        dl_iterate_phdr(print_module, NULL);                                                       \
        for (int i_ = 0; i_ < count_; i_++)                                                        \
            printf("frame %" PRIu64 "\n", (uint64_t)(uintptr_t)addresses_[i_]);                    \
    } while (0)
