/* SPDX-License-Identifier: MIT */
/* Messages to the user besides a command's result. Errors go through *err instead. */
#pragma once

/*
 * Writes "gpumemtrace: name: message" to stderr on one line, even if the message contains line
 * feeds of file names or traces. Without a name ("") it writes "gpumemtrace: message".
 */
void command_say(const char *name, const char *message);
