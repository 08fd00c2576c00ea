/* SPDX-License-Identifier: MIT */
/*
 * Reads DT_SONAME out of this library's own dynamic section. Not the file's name: a copy or a link
 * may be called anything.
 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <string.h>

#include "runtime/soname.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int version = 13000; /* written under `once` only */

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

static void find_version(void)
{
    Dl_info info;
    void *library = NULL;
    const char *soname = NULL;
    if (dladdr1(&version, &info, &library, RTLD_DL_LINKMAP) && library)
        soname = soname_of(library);
    if (soname && strcmp(soname, "libcudart.so.12") == 0)
        version = 12090;
}

int runtime_version(void)
{
    pthread_once(&once, find_version);
    return version;
}
