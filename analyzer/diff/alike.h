/* SPDX-License-Identifier: MIT */
/*
 * The moment of one run that is most like a peak of another: when a peak is reached in another part of the
 * program than before, the line that grew is one of those that this part held all along.
 *
 *     before   train ████████▌ peak            after   train ████████▌
 *              eval  ██████▌   ◄── is compared with ── eval  ██████▌███ peak
 *
 * It is the highest moment at which the line allocated that reached the peak. It must not know rows.
 */
#ifndef GPUMEMTRACE_ANALYZER_DIFF_ALIKE_H
#define GPUMEMTRACE_ANALYZER_DIFF_ALIKE_H

#include "holding.h"

/* The seq of an event of the run of `other`; 0: nothing that is live at the peak is of a line that both have. */
uint64_t alike_find(const struct holding *peak, const struct holding *other);

#endif
