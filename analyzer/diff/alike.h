/* SPDX-License-Identifier: MIT */
/*
 * Finds the moment of one run that is most like the peak of another run. If the peak moved to
 * another part of the program, comparing the two peaks would show two different parts. So the line
 * that grew is searched in the part of the program that now peaks.
 *
 *     before   train ████████▌ peak            after   train ████████▌
 *              eval  ██████▌   ◄── is compared with ── eval  ██████▌███ peak
 *
 * Some line's allocation reached the peak. The moment is the one at which the other run's account
 * stood highest right after an allocation of the same line. If the other run has no such line, the
 * line whose allocation came next below the peak is taken instead.
 */
#pragma once

#include "holding.h"

/*
 * Finds the seq of an event in the run of `other`, or 0 if no line that is live at the peak is in
 * both runs.
 */
int alike_find(uint64_t *seq, const struct holding *peak, const struct holding *other,
               struct err *err);
