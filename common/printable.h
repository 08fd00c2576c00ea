/* SPDX-License-Identifier: MIT */
/*
 * For lines on stderr that quote a setting, a path or a trace: no text in them may control the
 * terminal.
 */
#pragma once

/* Replaces each control character by '?': C0, DEL, and C1 in UTF-8 (c2 80 to c2 9f). */
void printable_make(char *text);
