/* SPDX-License-Identifier: MIT */
/*
 * Finds the moment of one run that is most like the peak of another run. If the peak moved to
 * another part of the program, comparing the two peaks would show two different parts; the line
 * that grew is found in the part that now peaks.
 *
 *     before   train ████████▌ peak            after   train ████████▌
 *              eval  ██████▌   ◄── is compared with ── eval  ██████▌███ peak
 *
 * One line's allocation reached the peak. The moment is the one at which the other run's account
 * stood highest right after an allocation of the same line; without such a line, of the line that
 * came next below the peak.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_ALIKE_H
#define GPUMEMTRACE_ANALYZER_DIFF_ALIKE_H

#include "holding.h"

/*
 * Returns the seq of an event in the run of `other`; 0: both runs share no line that is live at the
 * peak.
 */
uint64_t alike_find(const struct holding *peak, const struct holding *other);

#endif
