/* SPDX-License-Identifier: MIT */
/* The NVTX domains of libraries: the rows of library_domains.def. */
#pragma once

#include <stdbool.h>

/* True if the domain of this name is a library's; "" is the default domain. */
bool library_domains_have(const char *name);
