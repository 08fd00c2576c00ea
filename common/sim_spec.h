/* SPDX-License-Identifier: MIT */
/*
 * Parses SPEC, the text by which a user asks for simulated devices:
 *
 *     SPEC = [COUNT "x"] (SIZE | PRESET | "any") {"," ("others" | "context" | "memory") "=" SIZE}
 *     16GiB    2x80GiB    h100    2xa100-40,others=3GiB,context=500MiB    h100,memory=24GiB    any
 *
 * "memory" gives the card less memory and changes nothing else.
 *
 * A device of "any" never refuses memory. It reports a total of 1 TiB, so that programs can compute
 * fractions of the total. If more than the total is in use, the reported total is the memory in
 * use, and free is 0.
 *
 * The simulator reads SPEC, and `gpumemtrace run --dry-run=SPEC` checks it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "gpumemtrace/err.h"

#define SIM_SPEC_DEFAULT "16GiB"
#define SIM_SPEC_ANY "any"
#define SIM_ANY_BYTES ((uint64_t)1 << 40) /* total of a card without limit */
#define SIM_DEVICE_LIMIT 64

/* All devices of a SPEC have the same properties. */
struct sim_spec {
    char device_name[64];
    uint64_t total_bytes;
    uint64_t others_bytes;  /* always in use by other processes */
    uint64_t context_bytes; /* cost of a process's first context on a device; assumed */
    uint64_t l2_bytes;
    int device_count;
    int capability_major, capability_minor;
    int processor_count;
    bool is_unlimited;
};

/* If the text is wrong, fails with ERR_USAGE and a message that quotes the wrong part, and leaves
 * *spec unchanged. */
int sim_spec_parse(const char *text, struct sim_spec *spec, struct err *err);
