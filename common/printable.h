/* SPDX-License-Identifier: MIT */
/*
 * Lines on stderr that quote a setting, a path or a trace: nothing in them may control the terminal.
 * It must not know what the line says.
 */
#ifndef GPUMEMTRACE_COMMON_PRINTABLE_H
#define GPUMEMTRACE_COMMON_PRINTABLE_H

/* Puts '?' in the place of each control character: C0, DEL, and C1 in UTF-8 (c2 80 to c2 9f). */
void printable_make(char *text);

#endif
