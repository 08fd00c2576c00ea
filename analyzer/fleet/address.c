/* SPDX-License-Identifier: MIT */
/* See address.h. */
#include "address.h"

#include <ctype.h>
#include <string.h>

static const char usage[] = "http://HOST:8123/DATABASE, or https";

/* Returns true if the text has only letters, digits and characters of `others`. */
static int is_plain(const char *text, size_t length, const char *others)
{
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)text[i]) && !strchr(others, text[i]))
            return 0;
    return length > 0;
}

static size_t host_length(const char *authority, size_t length)
{
    const char *bracket = *authority == '[' ? memchr(authority, ']', length) : NULL;
    const char *colon = bracket ? bracket + 1 : memchr(authority, ':', length);
    return colon ? (size_t)(colon - authority) : length;
}

static int set_parts(struct address *address, const char *url, size_t scheme_length, size_t length,
                     struct err *err)
{
    const char *authority = url + scheme_length,
               *database = authority + length + (authority[length] == '/');
    const size_t host = host_length(authority, length);
    const size_t database_length = strcspn(database, "/");
    if (!is_plain(authority, length, "-._:[]") || !is_plain(database, database_length, "-._") ||
        database[database_length + (database[database_length] == '/')] ||
        length + scheme_length >= ADDRESS_BYTES || host >= ADDRESS_PART_BYTES ||
        database_length >= ADDRESS_PART_BYTES)
        return err_set(err, ERR_USAGE, "'%.200s' is not an address of a database; write it as %s",
                       url, usage);
    snprintf(address->base, sizeof address->base, "%.*s", (int)(scheme_length + length), url);
    snprintf(address->name, sizeof address->name, "%.*s", (int)length, authority);
    snprintf(address->host, sizeof address->host, "%.*s", (int)host, authority);
    snprintf(address->database, sizeof address->database, "%.*s", (int)database_length, database);
    return 0;
}

int address_read(struct address *address, const char *url, struct err *err)
{
    const size_t scheme_length = !strncmp(url, "http://", 7)    ? 7
                                 : !strncmp(url, "https://", 8) ? 8
                                                                : 0;
    const size_t length = strcspn(url + scheme_length, "/?#");
    if (memchr(url, '@', strlen(url)))
        return err_set(
            err, ERR_USAGE,
            "an address with a user or password is refused: set GPUMEMTRACE_FLEET_USER and "
            "GPUMEMTRACE_FLEET_PASSWORD, or name a file with --login");
    if (!scheme_length)
        return err_set(err, ERR_USAGE, "'%.200s' is not an address of a database; write it as %s",
                       url, usage);
    return set_parts(address, url, scheme_length, length, err);
}

int address_beside(struct address *address, const struct address *known, const char *host,
                   struct err *err)
{
    const size_t scheme_length = (size_t)(strstr(known->base, "://") - known->base) + 3;
    const char *port = known->name + strlen(known->host);
    const int is_v6 = strchr(host, ':') != NULL && *host != '[';
    char url[3 * ADDRESS_BYTES];
    snprintf(url, sizeof url, "%.*s%s%s%s%s/%s", (int)scheme_length, known->base, is_v6 ? "[" : "",
             host, is_v6 ? "]" : "", port, known->database);
    return address_read(address, url, err);
}
