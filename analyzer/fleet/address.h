/* SPDX-License-Identifier: MIT */
/* The address of a database, http://HOST:PORT/DATABASE, split into its parts. */
#pragma once

#include "gpumemtrace/err.h"

enum { ADDRESS_BYTES = 320, ADDRESS_PART_BYTES = 256 };

struct address {
    char base[ADDRESS_BYTES];          /* "http://gpu.example.org:8123" */
    char name[ADDRESS_BYTES];          /* "gpu.example.org:8123", for messages */
    char host[ADDRESS_PART_BYTES];     /* "gpu.example.org", "[::1]" */
    char database[ADDRESS_PART_BYTES]; /* "fleet" */
};

/* Refuses a URL that contains a login, and does not print the login. */
int address_read(struct address *address, const char *url, struct err *err);
/* Makes the address of another host with the same scheme, port and database. */
int address_beside(struct address *address, const struct address *known, const char *host,
                   struct err *err);
