/* SPDX-License-Identifier: MIT */
/*
 * Prints the line at exit: the peak, losses and other problems, and the command that shows more.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H
#define GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H

struct tally;
struct ring;

void summary_line(const char *path, const struct tally *tally, const struct ring *ring);

#endif
