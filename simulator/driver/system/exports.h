/* SPDX-License-Identifier: MIT */
/*
 * Looking up an exported function by name and version.
 */
#ifndef GPUMEMTRACE_SIMULATOR_DRIVER_SYSTEM_EXPORTS_H
#define GPUMEMTRACE_SIMULATOR_DRIVER_SYSTEM_EXPORTS_H

enum export_result {
    EXPORT_FOUND,
    EXPORT_UNKNOWN,
    EXPORT_TOO_NEW /* no form is as old as the version asked for */
};

/* *function is untouched unless found. per_thread: prefer forms for per-thread default streams. */
enum export_result exports_find(const char *name, int version, int per_thread, void **function);

#endif
