/* SPDX-License-Identifier: MIT */
/* Who asks a server: a user and a password that stand on no command line. It must not know how they are sent. */
#ifndef GPUMEMTRACE_ANALYZER_FLEET_LOGIN_H
#define GPUMEMTRACE_ANALYZER_FLEET_LOGIN_H

#include "gpumemtrace/err.h"

struct fleet_login {
    char user[256], password[256]; /* "": the server's default user */
    const char *certificates;      /* a file of authorities, NULL: the system's */
};

/* file: its first line is the user, its second the password; NULL: GPUMEMTRACE_FLEET_USER and …_PASSWORD. */
int fleet_login_find(struct fleet_login *login, const char *file, struct err *err);

#endif
