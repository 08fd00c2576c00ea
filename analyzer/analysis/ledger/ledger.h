/* SPDX-License-Identifier: MIT */
/*
 * Every byte of a card in use at a moment, by owner, each once. It must not know how this is shown.
 *
 *     used = total - free, as the card said last, corrected by what this process took since (card.h)
 *
 *     | pool: live | pool: cached | graphs | cuBLAS … program | idle | rounding | modules |   counted
 *     | context and other processes |                                                         first look
 *     | this context's growth or other processes |                                            the rest
 *
 * Where the card has less in use than all of them, context and others have given back since, or told at another moment:
 * they are what is left.
 *
 * At a failure at which NVML told the program, or for which other processes' traces are there, context
 * and other processes are two terms.
 *
 * A framework's pool is in the ledger with its segments and without its tensors' bytes beside them:
 * layers are never added. What a library took through a pool is the pool's. With several virtual
 * segments, what is mapped decides whose an object is, and what is mapped nowhere is of the first
 * such pool. Managed and imported memory is in no term: nobody says where the one lies, and the other
 * belongs to another process.
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

/* Where a term comes from. */
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
    uint32_t account;      /* of a framework's pool; HISTORY_NONE: not of one */
    uint32_t library;      /* number in the ledger's owners; 0: none */
    uint64_t bytes, count; /* count: blocks; 0: none that are counted */
};

/* What tells the context from other processes. */
enum ledger_outside {
    LEDGER_LOOKED, /* nothing: the first look saw both */
    LEDGER_BY_NVML,
    LEDGER_BY_TRACES,
};

struct ledger {
    struct moment moment;
    struct ledger_term *terms; /* the largest first; none is 0 */
    size_t count, capacity;
    uint64_t process_bytes; /* what this process is known to hold: all terms but the context's */
    bool used_known;        /* false: the card said nothing, nor at the first look */
    bool is_asked;          /* false: only at the first look */
    bool total_known;
    uint64_t used_bytes, total_bytes;
    enum ledger_outside outside;
    /* Used less all terms. Positive: NVML named the processes, and it is none's. Negative: this process alone is counted
     * to hold more than is in use. */
    int64_t unaccounted_bytes;
    uint64_t managed_bytes, imported_bytes; /* in no term */
    struct owners owners;                   /* names of the libraries */
};

/*
 * When the card was fullest, as far as this process knows: the driver's peak, and of the moments when
 * it held as much the one when pools had handed out most. None: it never held anything.
 */
struct moment ledger_peak(const struct history *history, const struct device_use *use);

/* Right after event moment->index, one that is kept for all accounts: ledger_peak, the
 * driver's peak, the end, a failure, the moment that was asked for. */
int ledger_at(struct ledger *ledger, const struct history *history, const struct device_use *use,
              const struct moment *moment, struct err *err);
void ledger_release(struct ledger *ledger);

/* "cuBLAS"; NULL: the term is of no library. */
const char *ledger_library(const struct ledger *ledger, const struct ledger_term *term);
/* What is unaccounted where NVML told what each process has. */
#define LEDGER_UNLISTED "of no process that NVML names"

/* What came in use since the first look that no call tells of: the growth, or what is unaccounted. */
int64_t ledger_beyond_bytes(const struct ledger *ledger);
/* Sum of the terms of one kind. */
uint64_t ledger_sum(const struct ledger *ledger, enum ledger_kind kind);

#endif
