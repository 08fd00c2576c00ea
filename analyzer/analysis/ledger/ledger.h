/* SPDX-License-Identifier: MIT */
/*
 * Splits the bytes of a card in use at a moment by owner, each counted once.
 *
 *     used = total - free, by the last sample, corrected by what this process took since (card.h)
 *
 *     | pool: live | pool: cached | graphs | cuBLAS … program | idle | rounding | modules | counted
 *     | context and other processes |                                                   first look
 *     | this context's growth or other processes |                                      the rest
 *
 * If the card has less in use than all of them, the context and others get what is left: they gave
 * memory back since, or were reported at another moment.
 *
 * The context and other processes are two terms at a failure for which NVML reported processes to
 * the program.
 *
 * A framework's pool is counted by its segments and not also by its tensors: layers are never added
 * up. Memory that a library took through a pool is the pool's. If several pools have virtual
 * segments, a VMM object is of the pool that mapped it; an object that is mapped nowhere is of the
 * first such pool. Managed and imported memory is in no term, because the first may be on card or
 * host, and the other belongs to another process.
 */
#ifndef GPUMEMTRACE_ANALYZER_ANALYSIS_LEDGER_H
#define GPUMEMTRACE_ANALYZER_ANALYSIS_LEDGER_H

#include "owners.h"
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
    bool is_asked;          /* false: no sample but the first look */
    bool total_known;
    uint64_t used_bytes, total_bytes;
    bool is_by_nvml; /* NVML separates the context from others; false: the first look saw one sum */
    /* Used bytes less all terms. Positive: NVML attributed them to no process. Negative: this
     * process is counted to hold more than is in use. */
    int64_t unaccounted_bytes;
    uint64_t managed_bytes, imported_bytes; /* in no term */
    struct owners owners;                   /* names of the libraries */
};

/*
 * The moment when the card was fullest, as far as this process knows: the driver's
 * peak; if it was reached several times, the one when pools had handed out most.
 * INDEX_NONE: it never held anything.
 */
struct moment ledger_peak(const struct history *history, const struct device_use *use);

/* The ledger right after event moment->index. It must be a moment that the history keeps for all
 * accounts: ledger_peak, the driver's peak, the end, a failure, or the requested moment. */
int ledger_at(struct ledger *ledger, const struct history *history, const struct device_use *use,
              const struct moment *moment, struct err *err);
void ledger_release(struct ledger *ledger);

/* "cuBLAS"; NULL: the term is no library's. */
const char *ledger_library(const struct ledger *ledger, const struct ledger_term *term);
/* Text for unaccounted bytes if NVML reported the processes. */
#define LEDGER_UNLISTED "not attributed by NVML"

/* Bytes in use that no recorded call explains since the first look: growth or unaccounted. */
int64_t ledger_beyond_bytes(const struct ledger *ledger);
/* Sum of the terms of one kind. */
uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind);

#endif
