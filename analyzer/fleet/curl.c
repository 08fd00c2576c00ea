/* SPDX-License-Identifier: MIT */
/* See curl.h. */
#include "curl.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

/* Debian has two builds of libcurl, each with another TLS library. */
static const char *const libraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
    {"curl_global_init", offsetof(struct curl_calls, global_init)},
    {"curl_easy_init", offsetof(struct curl_calls, init)},
    {"curl_easy_setopt", offsetof(struct curl_calls, setopt)},
    {"curl_easy_perform", offsetof(struct curl_calls, perform)},
    {"curl_easy_getinfo", offsetof(struct curl_calls, getinfo)},
    {"curl_easy_strerror", offsetof(struct curl_calls, strerror)},
    {"curl_easy_cleanup", offsetof(struct curl_calls, cleanup)},
    {"curl_slist_append", offsetof(struct curl_calls, slist_append)},
    {"curl_slist_free_all", offsetof(struct curl_calls, slist_free_all)},
};

static int find_functions(struct curl_calls *calls, void *library)
{
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        void *function = dlsym(library, functions[i].name);

        if (!function)
            return -1;
        memcpy((char *)calls + functions[i].offset, &function, sizeof function);
    }
    return calls->global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK ? 0 : -1;
}

const struct curl_calls *curl_load(struct err *err)
{
    static struct curl_calls calls;
    void *library = NULL;
    if (calls.perform)
        return &calls;
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && !library; i++)
        library = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
    if (library && !find_functions(&calls, library))
        return &calls;
    calls = (struct curl_calls){0};
    err_set(err, ERR_SYSTEM,
            "%s is needed to speak to the server and %s: install it (on Debian: libcurl4)",
            libraries[0], library ? "cannot be used" : "is not there");
    return NULL;
}
