/* SPDX-License-Identifier: MIT */
/*
 * Looks up an exported function by name and version.
 */
#pragma once

enum export_result {
    EXPORT_FOUND,
    EXPORT_UNKNOWN,
    EXPORT_TOO_NEW /* every version of the function is newer than requested */
};

/* Looks up a function. per_thread: prefer the versions for the per-thread default stream. *function
 * is set only if the function is found. */
enum export_result exports_find(const char *name, int version, int per_thread, void **function);
