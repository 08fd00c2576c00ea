/* SPDX-License-Identifier: MIT */
/*
 * The one line at exit: file, peak, the command to see more.
 */
#ifndef GPUMEMTRACE_INTERPOSE_SUMMARY_H
#define GPUMEMTRACE_INTERPOSE_SUMMARY_H

struct tally;

void summary_line(const char *path, const struct tally *tally);

#endif
