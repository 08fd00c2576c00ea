/* SPDX-License-Identifier: MIT */
/* See login.h. */
#include "login.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define USER "GPUMEMTRACE_FLEET_USER"
#define PASSWORD "GPUMEMTRACE_FLEET_PASSWORD"
#define CERTIFICATES "GPUMEMTRACE_FLEET_CERTIFICATES"

/* More than a field holds, so that take() sees that a line is too long for it. */
enum { LINE_MOST_BYTES = 2 * sizeof(struct fleet_login) };

static int take(char *field, size_t bytes, const char *value, const char *what, struct err *err)
{
    if (strlen(value) < bytes && !strpbrk(value, "\r\n")) {
        memcpy(field, value, strlen(value) + 1);
        return 0;
    }
    return err_set(err, ERR_USAGE,
                   "the %s for the server is longer than %zu bytes or has a line break", what,
                   bytes - 1);
}

static int read_line(FILE *file, char *field, size_t bytes, const char *what, const char *path,
                     struct err *err)
{
    char line[LINE_MOST_BYTES];
    if (!fgets(line, sizeof line, file))
        return err_set(err, ERR_USAGE,
                       "--login=%s: the file must have two lines, the user and the password", path);
    line[strcspn(line, "\r\n")] = '\0';
    return take(field, bytes, line, what, err);
}

static int read_file(struct fleet_login *login, const char *path, struct err *err)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return err_set(err, ERR_USAGE, "--login=%s: %s", path, strerror(errno));
    const int status =
        read_line(file, login->user, sizeof login->user, "user", path, err) ||
                read_line(file, login->password, sizeof login->password, "password", path, err)
            ? -1
            : 0;
    fclose(file);
    return status;
}

int fleet_login_find(struct fleet_login *login, const char *file, struct err *err)
{
    const char *user = getenv(USER), *password = getenv(PASSWORD);
    *login = (struct fleet_login){.certificates = getenv(CERTIFICATES)};
    if (file)
        return read_file(login, file, err);
    return (user && take(login->user, sizeof login->user, user, "user", err)) ||
                   (password &&
                    take(login->password, sizeof login->password, password, "password", err))
               ? -1
               : 0;
}
