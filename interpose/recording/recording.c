/* SPDX-License-Identifier: MIT */
/*
 * Makes and sets the number that recording.live points to. See recording.h.
 */
#include "recording.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic uint64_t nothing_lives;

struct recording recording = {.live = &nothing_lives};

/* Makes the number in a page that the kernel wipes in forked children. If the kernel cannot do
 * that, the fork handlers set the number to 0. */
static _Atomic uint64_t *make_live_word(void)
{
    static _Atomic uint64_t fallback;
    const size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return &fallback;
    madvise(page, page_bytes, MADV_WIPEONFORK);
    return page;
}

bool recording_runs_here(void)
{
    return atomic_load(&recording.state) == RECORDING_RUNNING &&
           atomic_load(&recording.owner_pid) == getpid();
}

void recording_set_live(uint64_t generation)
{
    static _Atomic uint64_t *word;
    if (!word)
        word = make_live_word();
    /* Release: a hook that sees the number sees everything that was set up before. */
    atomic_store_explicit(word, generation, memory_order_release);
    atomic_store_explicit(&recording.live, word, memory_order_release);
}
