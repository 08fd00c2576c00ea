/* SPDX-License-Identifier: MIT */
/* Describes the cache of keys and values; see estimate_serving.h. */
#include "estimate_serving.h"

#include <inttypes.h>

#include "analyzer/render/units.h"
#include "analyzer/page/verdict/verdict.h"

void page_estimate_serving_answer(struct verdict *said, const struct estimate *estimate,
                                  const struct serving *serving, bool has_card)
{
    enum { NAME_CHARACTERS = 16 };

    const char *peak = BYTES_TEXT(estimate->peak.requested_bytes);
    const char *moment = MOMENT_TEXT(estimate, &estimate->peak_moment);
    if (!has_card)
        verdict_say(said, VERDICT_what,
                    "%s: %" PRIu64 " sequence%s of %" PRIu64 " tokens in %s should peak at %s.",
                    FIT_TEXT(page_model_name(estimate), NAME_CHARACTERS), serving->sequences,
                    serving->sequences == 1 ? "" : "s", serving->tokens,
                    dtype_name(estimate->plan.settings.dtype), peak);
    verdict_say(said, VERDICT_why,
                "The peak of %s in %s is in %s (%s), and %s of it is the cache of keys and values.",
                peak, dtype_name(estimate->plan.settings.dtype),
                serving->peaks_in_decode ? "decode" : "prefill", moment,
                BYTES_TEXT(serving->cache_bytes));
}

static void add_pass(struct doc *doc, const char *key, const char *title,
                     const struct footprint *peak)
{
    doc_object_begin(doc, key, title);
    doc_bytes(doc, "requested_bytes", "Requested", peak->requested_bytes);
    doc_bytes(doc_detail(doc), "allocated_bytes", "Allocated", peak->allocated_bytes);
    doc_bytes(doc, "reserved_bytes", "Reserved", peak->reserved_bytes);
    doc_object_end(doc);
}

void page_estimate_serving(struct doc *doc, const struct serving *serving)
{
    const bool is_paged = serving->page_tokens > 0;
    doc_object_begin(doc, "kv_cache", "Cache of keys and values");
    doc_count(doc, "sequences", "Sequences at once", serving->sequences);
    doc_count(doc, "tokens", "Tokens of each, at its end", serving->tokens);
    doc_count(doc, "prompt_tokens", "… of which its prompt", serving->prompt_tokens);
    doc_text(doc, "dtype", "Element type", serving->dtype);
    doc_known_count(doc_detail_if(doc, !is_paged), "page_tokens", "Tokens of a block", is_paged,
                    serving->page_tokens);
    doc_bytes(doc, "token_bytes", "One token", serving->token_bytes);
    doc_bytes(doc, "cache_bytes", "All", serving->cache_bytes);
    doc_bytes(doc_detail_if(doc, !serving->unused_bytes), "unused_bytes",
              "… of which room in last blocks", serving->unused_bytes);
    const bool grows = serving->grown_bytes > 0;
    doc_known_bytes(doc_detail_if(doc, !grows), "grown_reserved_bytes",
                    "Segments, unless the allocator is flushed", grows, serving->grown_bytes);
    doc_object_end(doc);
    add_pass(doc, "prefill", "Peak of the prefill", &serving->prefill);
    add_pass(doc, "decode", "Peak of the last token", &serving->decode);
}

void page_estimate_serving_assumptions(struct doc *doc, const struct serving *serving)
{
    doc_text(doc, "assumption", "Assumption",
             serving->page_tokens
                 ? "Blocks for all sequences are made before the first prompt, and attention reads "
                   "them in place. A prefill takes --batch prompts at once; other memory of a "
                   "server (captured graphs, --gpu-memory-utilization) is not counted."
                 : "All sequences run together, as with generate() of transformers: a token's keys "
                   "and values are put behind a copy of the cache, layer after layer. Each copy is "
                   "larger than the free segment of one before it, so segments pile up until "
                   "PyTorch flushes them; the segments of the last token must fit.");
    doc_text(doc, "assumption", "Assumption",
             "The prompt is the model's sequence (--set=sequence=N), as far as the cache holds it; "
             "only its last token's scores are computed.");
}
