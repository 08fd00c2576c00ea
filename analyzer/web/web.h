/* SPDX-License-Identifier: MIT */
/*
 * The page that `--format=html` writes, but for its data: files of this folder and the chart library,
 * embedded by web.S. The document stands between the two parts, as JSON. It must not know C.
 */
#ifndef GPUMEMTRACE_ANALYZER_WEB_WEB_H
#define GPUMEMTRACE_ANALYZER_WEB_WEB_H

extern const char web_before[], web_after[]; /* terminated */

#endif
