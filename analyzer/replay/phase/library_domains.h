/* SPDX-License-Identifier: MIT */
/* The NVTX domains of libraries: the rows of library_domains.def. */
#ifndef GPUMEMTRACE_ANALYZER_REPLAY_LIBRARY_DOMAINS_H
#define GPUMEMTRACE_ANALYZER_REPLAY_LIBRARY_DOMAINS_H

#include <stdbool.h>

/* True if the domain of this name is a library's; "" is the default domain. */
bool library_domains_have(const char *name);

#endif
