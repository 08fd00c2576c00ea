/* SPDX-License-Identifier: MIT */
/*
 * A ClickHouse server by its HTTP interface: statements, answers, rows. It must not know which statements.
 *
 *     http://HOST:8123/DATABASE     no user and no password: those stand in the environment or in a file, go in headers
 *                                   to that host alone, and are in no message
 *
 * A certificate is verified. No redirect is followed. What the network or a busy server fails at is tried again, after
 * pauses that grow, until nothing has worked for timeout_s; the first contact with a server that is not there fails at
 * once, as an address is more often wrong than a server down.
 */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_SERVER_H
#define GPUMEMTRACE_ANALYZER_FLEET_SERVER_H

#include <stdbool.h>
#include <stddef.h>

#include "analyzer/util/text.h"
#include "gpumemtrace/err.h"

enum { FLEET_ANSWER_MOST_BYTES = 256 << 20, FLEET_TIMEOUT_S = 120 };

struct server;

/* Loads libcurl; asks nothing yet. login_file as login.h has it. */
int server_open(struct server **server, const char *url, const char *login_file, long timeout_s,
                struct err *err);
/* Another host of the same cluster, with the same port, database and login. */
int server_open_beside(struct server **server, const struct server *known, const char *host,
                       struct err *err);
void server_close(struct server *server);

/* "gpu.example.org:8123"; of a URL without a port what stands there. */
const char *server_name(const struct server *server);
const char *server_host(const struct server *server);
const char *server_database(const struct server *server);

/* A statement that may be repeated. answer: TabSeparated text; NULL: nobody reads it. */
int server_ask(struct server *server, const char *sql, struct text *answer, struct err *err);

/* Rows behind an INSERT … FORMAT TabSeparated: once, or until it is known that they are not there. */
enum server_sent {
    SERVER_SENT,
    SERVER_UNKNOWN, /* the connection broke: whether they arrived is to be asked */
    SERVER_REFUSED, /* they did not, and will not; *err says why */
};
enum server_sent server_send(struct server *server, const char *sql, const char *rows, size_t bytes,
                             struct err *err);

/* The exception's number in ClickHouse of the last error; 0: it was of another kind. */
int server_exception(const struct server *server);
enum server_exceptions { SERVER_UNKNOWN_TABLE = 60, SERVER_UNKNOWN_DATABASE = 81 };

#endif
