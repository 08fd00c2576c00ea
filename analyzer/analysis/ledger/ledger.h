/* SPDX-License-Identifier: MIT */
/*
 * Splits the bytes of a card that are in use at a moment by owner. Each byte is counted once.
 *
 *     used = total - free, from the last sample, corrected by what this process took since (card.h)
 *
 *     | pool: live | pool: cached | graphs | cuBLAS … program | idle | rounding | modules | counted
 *     | context and other processes |                                                   first look
 *     | this context's growth or other processes |                                      the rest
 *
 * If the used bytes are fewer than the sum of these terms, the context and the other processes get
 * only what the counted terms leave. The reason is that they gave memory back since the first look,
 * or that their bytes were reported at another moment.
 *
 * If the terms are more than the card has in use, idle memory of the driver's stream-ordered pools
 * gets only what the other terms leave, because it may be out of date. If the terms of this process
 * alone are too many, so do the pool for graphs and rounding.
 *
 * The context and the other processes are two separate terms at a failure, if NVML had reported the
 * processes to the program.
 *
 * A framework's pool is counted by its segments. Its tensors are not added, because layers are
 * never added up. Memory that a library took through a pool belongs to the pool. If several pools
 * have virtual segments, a VMM object belongs to the pool that mapped it; an object that is mapped
 * nowhere belongs to the first such pool. Managed memory is in no term, because it may be on the
 * card or on the host. Imported memory is in no term, because it belongs to another process.
 */
#pragma once

#include "owners.h"
#include "analyzer/analysis/card.h"
#include "analyzer/replay/history/history.h"

enum ledger_kind {
#define TERM(name, source, text) LEDGER_##name,
#define SOURCE(name, text)
#include "ledger_terms.def"
    LEDGER_KINDS
};

/* The source of a term's bytes. */
enum ledger_source {
#define TERM(name, source, text)
#define SOURCE(name, text) LEDGER_SOURCE_##name,
#include "ledger_terms.def"
    LEDGER_SOURCES
};

/* One row of ledger_terms.def. */
struct ledger_words {
    const char *key, *text;
    enum ledger_source source;
};
const struct ledger_words *ledger_words(enum ledger_kind kind);
const char *ledger_source_key(enum ledger_source source);

struct ledger_term {
    enum ledger_kind kind;
    uint32_t account;      /* of a framework's pool; HISTORY_NONE: no pool */
    uint32_t library;      /* number in the ledger's owners; 0: none */
    uint64_t bytes, count; /* count: number of blocks; 0: not counted */
};

struct ledger {
    struct moment moment;
    struct ledger_term *terms; /* by bytes, descending; none is 0 */
    size_t count, capacity;
    uint64_t process_bytes; /* all terms known to be this process's, without its context */
    bool used_known;        /* false: no sample, and no first look */
    bool is_asked;          /* false: the first look is the only sample */
    bool total_known;
    uint64_t used_bytes, total_bytes;
    /* True: NVML separates the context from other processes. False: the first look saw the sum. */
    bool is_by_nvml;
    /* Used bytes less all terms. Positive: bytes that NVML attributed to no process. Negative: the
     * terms of this process sum up to more than is in use. */
    int64_t unaccounted_bytes;
    uint64_t managed_bytes, imported_bytes; /* in no term */
    struct card_limit limit;
    struct owners owners; /* names of the libraries */
};

/*
 * The moment when the card was fullest, as far as this process knows. This is the driver's peak. If
 * the driver reached the peak several times, it is the time at which pools had handed out most.
 * INDEX_NONE: this process never held memory on the card.
 */
struct moment ledger_peak(const struct history *history, const struct device_use *use);

/* The ledger right after event moment->index. It must be a moment that the history keeps for all
 * accounts: ledger_peak, the driver's peak, the end, a failure, or the requested moment. */
int ledger_at(struct ledger *ledger, const struct history *history, const struct device_use *use,
              const struct moment *moment, struct err *err);
void ledger_release(struct ledger *ledger);

/* The name of the term's library, such as "cuBLAS". NULL: the term belongs to no library. */
const char *ledger_library(const struct ledger *ledger, const struct ledger_term *term);
/* Text for unaccounted bytes if NVML reported the processes. */
#define LEDGER_UNLISTED "not attributed by NVML"

/* Bytes that came into use since the first look and that no recorded call explains: the growth or
 * unaccounted bytes. */
int64_t ledger_beyond_bytes(const struct ledger *ledger);
/* Measured contexts have 287 to 667 MB, depending on card and driver. Bytes above this limit are
 * counted as other processes', unless the program set a limit (cudaDeviceSetLimit), because a
 * context may then take more. */
#define LEDGER_CONTEXT_MOST_BYTES (UINT64_C(1) << 30)
/* Returns how many of `bytes`, which this process's context and others hold, are the context's. */
uint64_t ledger_context_part(const struct ledger *ledger, uint64_t bytes);
/* Sum of the terms of one kind. */
uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind);
