/* SPDX-License-Identifier: MIT */
/*
 * The page that `--format=html` writes: files of this folder and the chart library, embedded by
 * web.S. The document's JSON is written between the two parts.
 */
#ifndef GPUMEMTRACE_ANALYZER_WEB_WEB_H
#define GPUMEMTRACE_ANALYZER_WEB_WEB_H

extern const char web_before[], web_after[]; /* both end with a 0 byte */

#endif
