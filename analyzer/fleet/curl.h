/* SPDX-License-Identifier: MIT */
/*
 * Loads libcurl at the first contact with a server. It is not linked, because most commands do not
 * need it and it would add two dozen libraries. Options and results are those of <curl/curl.h>.
 */
#pragma once

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

/* Returns NULL if libcurl is missing; *err says how to install it. libcurl is never unloaded. Call
 * this function before any thread starts. */
const struct curl_calls *curl_load(struct err *err);
