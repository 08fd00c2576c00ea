/* SPDX-License-Identifier: MIT */
/* See server.h. */
#include "server.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "address.h"
#include "curl.h"
#include "login.h"
#include "refusal.h"
#include "analyzer/util/clock.h"

enum { URL_MOST_BYTES = 1 << 20, CONNECT_S = 15, PAUSE_FIRST_MS = 100, PAUSE_MOST_MS = 5000 };

/* A server that passes fewer bytes than this each second hangs, also if some bytes still come. */
enum { HANGS_BELOW_BYTES = 1024 };

struct server {
    const struct curl_calls *calls;
    CURL *curl;
    struct curl_slist *headers;
    struct address address;
    struct fleet_login login;
    long timeout_s;
    bool has_answered; /* the address is right, so a request that fails later is tried again */
    int exception;
    struct text url, body;
    char redirected[256];
};

/* --- what curl calls --- */

static size_t take_body(char *data, size_t size, size_t count, void *self)
{
    struct server *server = self;
    text_add_bytes(&server->body, data, size * count);
    return text_failed(&server->body) ? 0 : size * count;
}

static size_t take_header(char *data, size_t size, size_t count, void *self)
{
    static const char location[] = "location:";
    struct server *server = self;
    const size_t length = size * count, head = sizeof location - 1;
    if (length > head && !strncasecmp(data, location, head))
        snprintf(server->redirected, sizeof server->redirected, "%.*s", (int)(length - head),
                 data + head);
    return length;
}

/* --- opening --- */

static int add_header(struct server *server, const char *name, const char *value, struct err *err)
{
    char line[320];
    snprintf(line, sizeof line, *value ? "%s: %s" : "%s:%s", name, value);
    struct curl_slist *longer = server->calls->slist_append(server->headers, line);
    if (!longer)
        return err_set(err, ERR_SYSTEM, "out of memory for a request");
    server->headers = longer;
    return 0;
}

static int add_headers(struct server *server, struct err *err)
{
    if (add_header(server, "Expect", "", err) ||
        add_header(server, "Content-Type", "text/plain", err) ||
        (*server->login.user && add_header(server, "X-ClickHouse-User", server->login.user, err)) ||
        (*server->login.password &&
         add_header(server, "X-ClickHouse-Key", server->login.password, err)))
        return -1;
    return 0;
}

static void set_options(struct server *server)
{
    const struct curl_calls *calls = server->calls;
    CURL *curl = server->curl;
    calls->setopt(curl, CURLOPT_NOSIGNAL, 1L);
    calls->setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    calls->setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    calls->setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    calls->setopt(curl, CURLOPT_POST, 1L);
    calls->setopt(curl, CURLOPT_HTTPHEADER, server->headers);
    calls->setopt(curl, CURLOPT_CONNECTTIMEOUT,
                  server->timeout_s < CONNECT_S ? server->timeout_s : (long)CONNECT_S);
    calls->setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)HANGS_BELOW_BYTES);
    calls->setopt(curl, CURLOPT_LOW_SPEED_TIME, server->timeout_s);
    calls->setopt(curl, CURLOPT_WRITEFUNCTION, take_body);
    calls->setopt(curl, CURLOPT_WRITEDATA, (void *)server);
    calls->setopt(curl, CURLOPT_HEADERFUNCTION, take_header);
    calls->setopt(curl, CURLOPT_HEADERDATA, (void *)server);
    if (server->login.certificates)
        calls->setopt(curl, CURLOPT_CAINFO, server->login.certificates);
}

static int open_address(struct server **opened, const struct address *address,
                        const struct fleet_login *login, long timeout_s, struct err *err)
{
    const struct curl_calls *calls = curl_load(err);
    struct server *server = calls ? calloc(1, sizeof *server) : NULL;
    if (!calls)
        return -1;
    if (server) {
        server->calls = calls;
        server->address = *address;
        server->login = *login;
        server->timeout_s = timeout_s;
        server->curl = calls->init();
        text_init(&server->url, URL_MOST_BYTES);
        text_init(&server->body, FLEET_ANSWER_MOST_BYTES);
    }
    if (!server || !server->curl)
        err_set(err, ERR_SYSTEM, "out of memory for a connection");
    if (!server || !server->curl || add_headers(server, err)) {
        server_close(server);
        return -1;
    }
    set_options(server);
    *opened = server;
    return 0;
}

int server_open(struct server **server, const char *url, const char *login_file, long timeout_s,
                struct err *err)
{
    struct address address;
    struct fleet_login login;
    if (fleet_login_find(&login, login_file, err) || address_read(&address, url, err))
        return -1;
    return open_address(server, &address, &login, timeout_s, err);
}

int server_open_beside(struct server **server, const struct server *known, const char *host,
                       struct err *err)
{
    struct address address;
    if (address_beside(&address, &known->address, host, err))
        return -1;
    return open_address(server, &address, &known->login, known->timeout_s, err);
}

void server_close(struct server *server)
{
    if (!server)
        return;
    if (server->curl)
        server->calls->cleanup(server->curl);
    server->calls->slist_free_all(server->headers);
    text_release(&server->url);
    text_release(&server->body);
    free(server);
}

const char *server_name(const struct server *server)
{
    return server->address.name;
}

const char *server_database(const struct server *server)
{
    return server->address.database;
}

int server_exception(const struct server *server)
{
    return server->exception;
}

/* --- one request --- */

static void add_escaped(struct text *url, const char *value)
{
    for (const char *c = value; *c; c++)
        if (isalnum((unsigned char)*c) || strchr("-_.~", *c))
            text_add_bytes(url, c, 1);
        else
            text_addf(url, "%%%02X", (unsigned)(unsigned char)*c);
}

/* Result of a request. */
enum outcome {
    OUTCOME_FINE,
    OUTCOME_NOT_DONE, /* no connection, or a busy server: try again */
    OUTCOME_UNKNOWN,  /* the connection broke, so the request may be done or not */
    OUTCOME_WRONG,    /* would fail again */
};

static enum outcome not_performed(const struct server *server, CURLcode code, struct err *err)
{
    const char *name = server->address.name;
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
    case CURLE_COULDNT_CONNECT:
        err_set(err, ERR_INPUT,
                "no server answers at %s: %s; is the address right, and does it run?", name,
                server->calls->strerror(code));
        return OUTCOME_NOT_DONE;
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        err_set(err, ERR_INPUT,
                "%s is not trusted: %s; GPUMEMTRACE_FLEET_CERTIFICATES names a file of authorities",
                name, server->calls->strerror(code));
        return OUTCOME_WRONG;
    case CURLE_SSL_CONNECT_ERROR:
        err_set(err, ERR_INPUT, "no TLS with %s: %s; does its address begin with http://?", name,
                server->calls->strerror(code));
        return OUTCOME_WRONG;
    case CURLE_WRITE_ERROR:
        err_set(err, ERR_INPUT, "%s answers with more than %d MiB", name,
                FLEET_ANSWER_MOST_BYTES >> 20);
        return OUTCOME_WRONG;
    case CURLE_OPERATION_TIMEDOUT:
        err_set(err, ERR_INPUT, "%s does not answer within %ld s", name, server->timeout_s);
        return OUTCOME_UNKNOWN;
    default:
        err_set(err, ERR_INPUT,
                server->has_answered
                    ? "the connection to %s broke: %s"
                    : "%s does not answer as an HTTP server does: %s; does the address have the "
                      "port of ClickHouse's HTTP interface, by default 8123?",
                name, server->calls->strerror(code));
        return OUTCOME_UNKNOWN;
    }
}

static enum outcome judge(struct server *server, struct err *err)
{
    const struct refusal_of of = {.name = server->address.name,
                                  .database = server->address.database,
                                  .user = server->login.user,
                                  .body = server->body.data ? server->body.data : "",
                                  .redirected = server->redirected};
    struct refusal_kind kind;
    long status = 0;
    server->calls->getinfo(server->curl, CURLINFO_RESPONSE_CODE, &status);
    kind = refusal_read(&of, status, err);
    server->exception = kind.exception;
    server->has_answered |= kind.is_fine || kind.exception;
    return kind.is_fine ? OUTCOME_FINE : kind.passes ? OUTCOME_NOT_DONE : OUTCOME_WRONG;
}

static enum outcome request(struct server *server, const char *sql, const char *rows, size_t bytes,
                            struct err *err)
{
    const struct curl_calls *calls = server->calls;
    text_clear(&server->url);
    text_clear(&server->body);
    *server->redirected = '\0';
    server->exception = 0;
    text_addf(&server->url, "%s/?database=", server->address.base);
    add_escaped(&server->url, server->address.database);
    if (rows) {
        text_add(&server->url, "&query=");
        add_escaped(&server->url, sql);
    }
    if (text_failed(&server->url)) {
        err_set(err, ERR_SYSTEM, "out of memory for a request");
        return OUTCOME_WRONG;
    }
    calls->setopt(server->curl, CURLOPT_URL, server->url.data);
    /* Rows need a fresh connection: if a reused one breaks, curl itself would send them a second
     * time. */
    calls->setopt(server->curl, CURLOPT_FRESH_CONNECT, rows ? 1L : 0L);
    calls->setopt(server->curl, CURLOPT_POSTFIELDS, rows ? rows : sql);
    calls->setopt(server->curl, CURLOPT_POSTFIELDSIZE_LARGE,
                  (curl_off_t)(rows ? bytes : strlen(sql)));
    const CURLcode code = calls->perform(server->curl);
    return code == CURLE_OK ? judge(server, err) : not_performed(server, code, err);
}

/* --- until it works --- */

static void pause_ms(long ms)
{
    const struct timespec pause = {ms / 1000, ms % 1000 * 1000000};
    nanosleep(&pause, NULL);
}

/* Sends a request again if it was certainly not done. With `repeats`, also sends a request again
 * that may have been done. */
static enum outcome request_until(struct server *server, const char *sql, const char *rows,
                                  size_t bytes, bool repeats, struct err *err)
{
    const uint64_t begin_ns = monotonic_ns();
    long wait_ms = PAUSE_FIRST_MS;
    for (;;) {
        const enum outcome outcome = request(server, sql, rows, bytes, err);
        const uint64_t waited_ns = monotonic_ns() - begin_ns;

        if (outcome == OUTCOME_FINE || outcome == OUTCOME_WRONG ||
            (outcome == OUTCOME_UNKNOWN && !repeats) || !server->has_answered ||
            waited_ns > (uint64_t)server->timeout_s * 1000000000)
            return outcome;
        pause_ms(wait_ms);
        wait_ms = wait_ms * 2 < PAUSE_MOST_MS ? wait_ms * 2 : PAUSE_MOST_MS;
    }
}

int server_ask(struct server *server, const char *sql, struct text *answer, struct err *err)
{
    if (request_until(server, sql, NULL, 0, true, err) != OUTCOME_FINE)
        return -1;
    if (!answer)
        return 0;
    text_clear(answer);
    text_add(answer, server->body.data ? server->body.data : "");
    if (!text_failed(answer))
        return 0;
    return err_set(err, ERR_SYSTEM, "out of memory for an answer of %s", server->address.name);
}

enum server_sent server_send(struct server *server, const char *sql, const char *rows, size_t bytes,
                             struct err *err)
{
    switch (request_until(server, sql, rows, bytes, false, err)) {
    case OUTCOME_FINE:
        return SERVER_SENT;
    case OUTCOME_UNKNOWN:
        return SERVER_UNKNOWN;
    default:
        return SERVER_REFUSED;
    }
}
