/* SPDX-License-Identifier: MIT */
// link:
/*
 * Prints its own stack and module as a trace holds them, for the test of symbol names:
 *
 *     module PATH BUILD_ID LOAD START END
 *     frame RETURN_ADDRESS          innermost first
 *     nothing …                     without optimization, which the test needs for one of its facts
 *
 * The lines that calls stand in carry a mark, because the test looks for them by their text.
 */
#include <execinfo.h>
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"

enum { DEPTH = 64 };

static volatile int keep; /* work behind a call, so that it is no tail call */

static void print_build_id(const struct dl_phdr_info *info)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const char *at = (const char *)(info->dlpi_addr + segment->p_vaddr);
        const char *end = at + segment->p_memsz;

        while (segment->p_type == PT_NOTE && at < end) {
            const ElfW(Nhdr) *note = (const void *)at;
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

/* The program itself comes first. */
static int print_module(struct dl_phdr_info *info, size_t info_bytes, void *unused)
{
    uint64_t start = UINT64_MAX, end = 0;
    char path[4096] = "";

    (void)info_bytes, (void)unused;
    if (readlink("/proc/self/exe", path, sizeof path - 1) < 0)
        return -1;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uint64_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        start = from < start ? from : start;
        end = from + info->dlpi_phdr[i].p_memsz > end ? from + info->dlpi_phdr[i].p_memsz : end;
    }
    printf("module %s ", path);
    print_build_id(info);
    printf(" %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", (uint64_t)info->dlpi_addr, start, end);
    return 1;
}

static GMT_NOINLINE void take_stack(void)
{
    void *addresses[DEPTH];
    int count = backtrace(addresses, DEPTH); /* in take_stack */

    for (int i = 0; i < count; i++)
        printf("frame %" PRIu64 "\n", (uint64_t)(uintptr_t)addresses[i]);
    keep++;
}

/* Called once, so that it is compiled into its caller. */
static inline void inlined_layer(void)
{
    take_stack(); /* in inlined_layer */
    keep++;
}

static GMT_NOINLINE void outer_layer(void)
{
    inlined_layer(); /* in outer_layer */
    keep++;
}

int main(void)
{
#ifndef __OPTIMIZE__
    puts("nothing is inlined in this build");
#endif
    dl_iterate_phdr(print_module, NULL);
    outer_layer(); /* in main */
    return keep == 3 ? 0 : 1;
}
