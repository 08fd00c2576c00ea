/* SPDX-License-Identifier: MIT */
/*
 * Prints the line at exit: the peak, losses and other problems, and the command that shows more.
 */
#pragma once

struct tally;
struct ring;

void summary_line(const char *path, const struct tally *tally, const struct ring *ring);
