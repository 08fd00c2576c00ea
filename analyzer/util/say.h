/* SPDX-License-Identifier: MIT */
/* Words beside a result. An error goes through *err instead. */
#ifndef GPUMEMTRACE_ANALYZER_UTIL_SAY_H
#define GPUMEMTRACE_ANALYZER_UTIL_SAY_H

/*
 * Writes "gpumemtrace: name: message" to stderr, as one line whatever file names and traces put
 * into the message. name "" is left out.
 */
void command_say(const char *name, const char *message);

#endif
