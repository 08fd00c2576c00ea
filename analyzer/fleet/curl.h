/* SPDX-License-Identifier: MIT */
/*
 * libcurl, loaded when somebody speaks to a server: no other command needs it, and a program that is linked to it needs two
 * dozen libraries more. Options and results are those of <curl/curl.h>. It must not know what is asked.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_CURL_H
#define GPUMEMTRACE_ANALYZER_FLEET_CURL_H

#include <curl/curl.h>

#include "gpumemtrace/err.h"

struct curl_calls {
    CURLcode (*global_init)(long flags);
    CURL *(*init)(void);
    CURLcode (*setopt)(CURL *curl, CURLoption option, ...);
    CURLcode (*perform)(CURL *curl);
    CURLcode (*getinfo)(CURL *curl, CURLINFO info, ...);
    const char *(*strerror)(CURLcode code);
    void (*cleanup)(CURL *curl);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
};

/* NULL: it is not there, and *err says how to get it. It stays loaded. Before the first thread. */
const struct curl_calls *curl_load(struct err *err);

#endif
