/* SPDX-License-Identifier: MIT */
/* Retention: drops the partitions of old days, on the one server or on all servers of a cluster. */
#pragma once

#include "analyzer/fleet/server.h"

/* Drops all rows whose day is more than `days` days ago by the server's clock. With details_alone,
 * drops only the rows of events and stacks. */
int keep_days(struct server *server, long days, bool details_alone, struct err *err);
