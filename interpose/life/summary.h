/* SPDX-License-Identifier: MIT */
/*
 * The one line at exit: file, peak, what went wrong, the command to see more. It must not know how
 * the figures are counted.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H
#define GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H

struct tally;
struct ring;

void summary_line(const char *path, const struct tally *tally, const struct ring *ring);

#endif
