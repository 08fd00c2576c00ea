/* SPDX-License-Identifier: MIT */
/*
 * A ClickHouse server, reached by its HTTP interface: it takes statements and rows, and returns
 * answers.
 *
 *     http://HOST:8123/DATABASE     contains no user and no password. They come from the
 *                                   environment or a file, are sent in headers to this host
 *                                   only, and appear in no message
 *
 * Certificates are verified. Redirects are not followed. A request that fails because of the
 * network or a busy server is tried again, after growing pauses, until timeout_s has passed. The
 * first request is an exception: it fails at once, because a wrong address is more likely than a
 * server that is down.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

enum { FLEET_ANSWER_MOST_BYTES = 256 << 20, FLEET_TIMEOUT_S = 120 };

struct server;

/* Loads libcurl, but sends nothing yet. login_file: see login.h. */
int server_open(struct server **server, const char *url, const char *login_file, long timeout_s,
                struct err *err);
/* Opens another host of the same cluster, with the same port, database and login. */
int server_open_beside(struct server **server, const struct server *known, const char *host,
                       struct err *err);
void server_close(struct server *server);

/* Returns the name of the server, such as "gpu.example.org:8123". The name has no port if the URL
 * has none. */
const char *server_name(const struct server *server);
const char *server_database(const struct server *server);

/* Sends a statement that may be repeated. `answer` gets TabSeparated text; if it is NULL, the
 * answer is ignored. */
int server_ask(struct server *server, const char *sql, struct text *answer, struct err *err);

/* Sends rows after an INSERT … FORMAT TabSeparated. Sends them again only if they certainly did not
 * arrive. */
enum server_sent {
    SERVER_SENT,
    SERVER_UNKNOWN, /* the connection broke; ask the server whether the rows arrived */
    SERVER_REFUSED, /* the rows did not arrive and never will; *err says why */
};
enum server_sent server_send(struct server *server, const char *sql, const char *rows, size_t bytes,
                             struct err *err);

/* Returns the number of the ClickHouse exception of the last error; 0: the error was of another
 * kind. */
int server_exception(const struct server *server);
enum server_exceptions { SERVER_UNKNOWN_TABLE = 60, SERVER_UNKNOWN_DATABASE = 81 };
