/* SPDX-License-Identifier: MIT */
/* Reads which simulated cards a user asked for. */
#pragma once

#include "common/sim_spec.h"

/* Does the same as sim_spec_parse, but the error also names the card that was probably meant. */
int run_spec_parse(const char *text, struct sim_spec *spec, struct err *err);
