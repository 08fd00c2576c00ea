/* SPDX-License-Identifier: MIT */
/*
 * The simulator reads sizes as the rest of the project does: this is the same source, compiled into
 * the library.
 */
#include "analyzer/util/size.c"
