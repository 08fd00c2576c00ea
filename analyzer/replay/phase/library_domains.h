/* SPDX-License-Identifier: MIT */
/* Which NVTX domains are libraries' own: the rows of library_domains.def. It must not know ranges. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_LIBRARY_DOMAINS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_LIBRARY_DOMAINS_H

#include <stdbool.h>

/* Whether a domain of this name is a library's; "" is the default domain. */
bool library_domains_have(const char *name);

#endif
