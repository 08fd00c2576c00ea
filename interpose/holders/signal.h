/* SPDX-License-Identifier: MIT */
/*
 * A signal by which a person asks for a walk: GPUMEMTRACE_HOLDERS_SIGNAL.
 */
#pragma once

#include <stdbool.h>

/* Takes the signal that the settings name, if its handler is the default one. Otherwise says so in
 * one line. Callable from a hook, and again in the child of a fork. */
void signal_listen(void);

/* Did the signal come since the last call of signal_clear()? */
bool signal_came(void);
void signal_clear(void);
