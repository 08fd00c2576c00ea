/* SPDX-License-Identifier: MIT */
/* Names of libraries' NVTX domains; see library_domains.h. */
#include "library_domains.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const domains[] = {
#define DOMAIN(name) name,
#include "library_domains.def"
};

bool library_domains_have(const char *name)
{
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++) {
        const size_t length = strlen(domains[i]);
        if (!strncasecmp(name, domains[i], length) && !isalnum((unsigned char)name[length]))
            return true;
    }
    return false;
}
