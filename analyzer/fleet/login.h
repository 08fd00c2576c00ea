/* SPDX-License-Identifier: MIT */
/* The login for a server: a user and a password, which are never taken from the command line. */
#pragma once

#include "gpumemtrace/err.h"

struct fleet_login {
    char user[256], password[256]; /* user "": the server's default user */
    const char *certificates;      /* file of certificate authorities; NULL: the system's */
};

/* `file` is a file that has the user in its first line and the password in its second line. If file
 * is NULL, takes GPUMEMTRACE_FLEET_USER and GPUMEMTRACE_FLEET_PASSWORD. */
int fleet_login_find(struct fleet_login *login, const char *file, struct err *err);
