/* SPDX-License-Identifier: MIT */
/* Retention: partitions of days that are too long ago go, on the one server or on all of a cluster. It must not know traces. */
#ifndef GPUMEMTRACE_ANALYZER_PUSH_KEEP_H
#define GPUMEMTRACE_ANALYZER_PUSH_KEEP_H

#include "analyzer/fleet/server.h"

/* Keeps what began in the last so many days, by the server's clock; or of that, events and stacks alone go. */
int keep_days(struct server *server, long days, bool details_alone, struct err *err);

#endif
