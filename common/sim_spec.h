/* SPDX-License-Identifier: MIT */
/*
 * SPEC, the text in which a user asks for simulated devices:
 *
 *     SPEC = [COUNT "x"] (SIZE | PRESET) {"," ("others" | "context") "=" SIZE}
 *     16GiB    2x80GiB    h100    2xa100-40,others=3GiB,context=500MiB
 *
 * The simulator reads it, and `gpumemtrace run --dry-run=SPEC` checks it. It must not know the rest
 * of the simulator.
 */
#ifndef GPUMEMTRACE_COMMON_SIM_SPEC_H
#define GPUMEMTRACE_COMMON_SIM_SPEC_H

#include <stdint.h>

#include "gpumemtrace/err.h"

#define SIM_SPEC_DEFAULT "16GiB"
#define SIM_DEVICE_LIMIT 64

/* All devices of a SPEC are alike. */
struct sim_spec {
    char device_name[64];
    uint64_t total_bytes;
    uint64_t others_bytes;  /* held by other processes all the time */
    uint64_t context_bytes; /* cost of a process's first context on a device; an assumption */
    uint64_t l2_bytes;
    int device_count;
    int capability_major, capability_minor;
    int processor_count;
};

/* Fails with ERR_USAGE and a message that quotes the wrong part, and leaves *spec untouched. */
int sim_spec_parse(const char *text, struct sim_spec *spec, struct err *err);

#endif
