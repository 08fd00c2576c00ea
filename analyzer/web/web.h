/* SPDX-License-Identifier: MIT */
/*
 * The page that `--format=html` writes: files of this folder and the chart library, embedded by
 * web.S. The document's JSON is written between the two parts.
 */
#pragma once

extern const char web_before[], web_after[]; /* both end with a 0 byte */
