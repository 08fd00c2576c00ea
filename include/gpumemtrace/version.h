/* SPDX-License-Identifier: MIT */
/*
 * The version of the product and of the trace format. Readers refuse newer formats, and also
 * formats that no release wrote. A new column or table that old readers can ignore does not raise
 * the format's version.
 */
#pragma once

#define GMT_VERSION "0.1.0"
#define GMT_TRACE_APPLICATION_ID 0x474d5452 /* "GMTR" in SQLite's application_id */
#define GMT_TRACE_FORMAT 2                  /* SQLite's user_version */
