/* SPDX-License-Identifier: MIT */
/*
 * The line at exit: peak, losses and other trouble, and the command to see more.
 */
#ifndef GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H
#define GPUMEMTRACE_INTERPOSE_LIFE_SUMMARY_H

struct tally;
struct ring;

void summary_line(const char *path, const struct tally *tally, const struct ring *ring);

#endif
