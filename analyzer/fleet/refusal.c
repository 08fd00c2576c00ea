/* SPDX-License-Identifier: MIT */
/* See refusal.h. */
#include "refusal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Numbers of ClickHouse's exceptions. */
enum {
    UNKNOWN_DATABASE = 81,
    TIMEOUT_EXCEEDED = 159,
    TOO_MANY_QUERIES = 202,
    SOCKET_TIMEOUT = 209,
    NETWORK_ERROR = 210,
    MEMORY_LIMIT_EXCEEDED = 241,
    NOT_ENOUGH_SPACE = 243,
    TOO_MANY_PARTS = 252,
    ALL_CONNECTIONS_FAILED = 279,
    READONLY = 164,
};
static const int logins[] = {192, 193, 194, 195, 497, 516};
static const int passing[] = {TIMEOUT_EXCEEDED,      TOO_MANY_QUERIES, SOCKET_TIMEOUT,
                              NETWORK_ERROR,         TOO_MANY_PARTS,   MEMORY_LIMIT_EXCEEDED,
                              ALL_CONNECTIONS_FAILED};

static bool is_among(int exception, const int numbers[], size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] == exception)
            return true;
    return false;
}

enum { WORDS_BYTES = 200 };

/* Returns the message of a ClickHouse error. For "Code: 60, e.displayText() = DB::Exception: Table
 * fleet.push doesn't exist., e.what()…" this is "Table fleet.push doesn't exist". Errors of the
 * system are of DB::ErrnoException. For any other text, returns the first line. */
static const char *words_of(char words[WORDS_BYTES], const char *body)
{
    const char *begin = strstr(body, "Exception: ");
    size_t length = 0;
    begin = begin ? begin + strlen("Exception: ") : body;
    const char *end = strstr(begin, ", e.what()");
    if (!end)
        end = begin + strcspn(begin, "\r\n");
    while (end > begin && (end[-1] == '.' || end[-1] == ' '))
        end--;
    for (; begin < end && length < WORDS_BYTES - 1; begin++)
        words[length++] = isprint((unsigned char)*begin) ? *begin : ' ';
    words[length] = '\0';
    return words;
}

static void tell_exception(const struct refusal_of *of, int exception, struct err *err)
{
    char words[WORDS_BYTES];
    words_of(words, of->body);
    if (is_among(exception, logins, sizeof logins / sizeof *logins))
        err_set(err, ERR_INPUT,
                "%s refuses the login of user '%s'; set another with GPUMEMTRACE_FLEET_USER and "
                "GPUMEMTRACE_FLEET_PASSWORD, or with --login=FILE",
                of->name, *of->user ? of->user : "default");
    else if (exception == NOT_ENOUGH_SPACE || strstr(of->body, "No space left on device") ||
             strstr(of->body, "errno: 28"))
        err_set(err, ERR_SYSTEM, "the disk of %s is full: %s", of->name, words);
    else if (exception == UNKNOWN_DATABASE)
        err_set(err, ERR_INPUT, "%s has no database '%s'; create it there: CREATE DATABASE %s",
                of->name, of->database, of->database);
    else
        err_set(err, ERR_INPUT, "%s refuses: %s (code %d)", of->name, words, exception);
}

static void tell_status(const struct refusal_of *of, long status, struct err *err)
{
    char words[WORDS_BYTES];
    if (status >= 300 && status < 400)
        err_set(err, ERR_INPUT,
                "%s redirects to %s, which is not followed; if that is the right server, give its "
                "address",
                of->name,
                *of->redirected ? words_of(words, of->redirected + strspn(of->redirected, " "))
                                : "an address that it does not name");
    else if (status == 401 || status == 403)
        err_set(err, ERR_INPUT, "%s refuses the login of user '%s' (HTTP %ld)", of->name,
                *of->user ? of->user : "default", status);
    else
        err_set(err, ERR_INPUT, "%s does not answer as ClickHouse does: HTTP %ld, '%.60s'",
                of->name, status, words_of(words, of->body));
}

/* Returns the number of the exception; 0: none. If ClickHouse has already begun to send an answer,
 * it appends the error to the answer. */
static int exception_of(const char *body, long status)
{
    const char *code = status == 200 ? NULL : strstr(body, "Code: ");
    if (status == 200) {
        const size_t length = strlen(body);
        const char *tail = length > 4096 ? body + length - 4096 : body;

        code = strstr(tail, "DB::Exception: ") ? strstr(tail, "Code: ") : NULL;
        if (code && code != body && code[-1] != '\n')
            code = NULL;
    }
    return code ? (int)strtol(code + strlen("Code: "), NULL, 10) : 0;
}

struct refusal_kind refusal_read(const struct refusal_of *of, long status, struct err *err)
{
    struct refusal_kind kind = {.exception = exception_of(of->body, status)};
    kind.is_fine = status == 200 && !kind.exception;
    kind.passes =
        (kind.exception && is_among(kind.exception, passing, sizeof passing / sizeof *passing)) ||
        status == 502 || status == 503 || status == 504;
    if (kind.exception)
        tell_exception(of, kind.exception, err);
    else if (!kind.is_fine)
        tell_status(of, status, err);
    return kind;
}
