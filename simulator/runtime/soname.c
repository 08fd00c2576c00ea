/* SPDX-License-Identifier: MIT */
/*
 * Reads DT_SONAME from this library's dynamic section, because a copy or link of the file may have
 * any name.
 */
#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "soname.h"

/* 0 until the name is read. The variable needs no lock, because all threads read the same name. A
 * lock could deadlock, because dladdr1 takes the loader's lock, which a thread in a library's
 * constructor already holds. */
static _Atomic int version;

static const char *soname_of(const struct link_map *library)
{
    const char *strings = NULL, *soname = NULL;
    for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_STRTAB)
            strings = (const char *)entry->d_un.d_ptr; /* relocated by the loader */
    for (const ElfW(Dyn) *entry = library->l_ld; entry->d_tag != DT_NULL; entry++)
        if (entry->d_tag == DT_SONAME && strings)
            soname = strings + entry->d_un.d_val;
    return soname;
}

static const struct {
    const char *soname;
    int version;
} runtimes[] = {
#define RUNTIME(soname, version) {soname, version},
#include "simulator/libraries.def"
};

/* The version if this library has no SONAME. */
#define RUNTIME_WITHOUT_SONAME 13000

static int read_version(void)
{
    Dl_info info;
    void *library = NULL;
    const char *soname = NULL;
    const size_t count = sizeof runtimes / sizeof *runtimes;
    if (dladdr1((void *)&version, &info, &library, RTLD_DL_LINKMAP) && library)
        soname = soname_of(library);
    for (size_t i = 0; soname && i < count; i++)
        if (!strcmp(soname, runtimes[i].soname))
            return runtimes[i].version;
    return RUNTIME_WITHOUT_SONAME;
}

int runtime_version(void)
{
    int known = atomic_load_explicit(&version, memory_order_relaxed);
    if (!known)
        atomic_store_explicit(&version, known = read_version(), memory_order_relaxed);
    return known;
}
