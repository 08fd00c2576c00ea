/* SPDX-License-Identifier: MIT */
/* The card and the techniques on the page of `estimate`; see estimate_answer.h. */
#include "estimate_answer.h"

#include <inttypes.h>
#include <stdio.h>

#include "analyzer/render/units.h"
#include "estimate.h"
#include "analyzer/page/verdict/verdict.h"

/* --- the sentences --- */

enum { SIZES_BYTES = 160 };

/* Writes "At most 53 of these fit, or the same number with 31000 tokens each". */
static const char *served_text(char text[SIZES_BYTES], const struct answer *answer,
                               const struct serving *serving)
{
    const struct largest *sequences = &answer->batch, *tokens = &answer->sequence;
    if (sequences->value == 0)
        snprintf(text, SIZES_BYTES, "Not one such sequence fits");
    else if (tokens->value <= serving->tokens)
        snprintf(text, SIZES_BYTES, "At most %" PRIu64 " of these fit", sequences->value);
    else
        snprintf(text, SIZES_BYTES,
                 "At most %" PRIu64 " of these fit, or the same number with %" PRIu64
                 " tokens each%s",
                 sequences->value, tokens->value, tokens->is_the_most ? " (the model's most)" : "");
    return text;
}

/* Writes "at batch 8" or "at 16 concurrent sequences of 8192 tokens". */
static const char *load_text(char text[SIZES_BYTES], const struct estimate *estimate,
                             const struct serving *serving)
{
    if (serving)
        snprintf(text, SIZES_BYTES, "%" PRIu64 " concurrent sequence%s of %" PRIu64 " tokens",
                 serving->sequences, serving->sequences == 1 ? "" : "s", serving->tokens);
    else
        snprintf(text, SIZES_BYTES, "batch %" PRIu64, estimate->plan.settings.batch);
    return text;
}

/* Writes "The largest batch that fits is 11, the largest sequence 4096". */
static const char *sizes_text(char text[SIZES_BYTES], const struct answer *answer,
                              const struct serving *serving)
{
    if (serving)
        return served_text(text, answer, serving);
    const struct largest *batch = &answer->batch, *sequence = &answer->sequence;
    int length;
    if (batch->value == 0)
        length = snprintf(text, SIZES_BYTES, "As it is, not even batch 1 fits");
    else
        length =
            snprintf(text, SIZES_BYTES, "The largest batch that fits is %" PRIu64, batch->value);
    if (sequence->is_known && sequence->value == 0)
        snprintf(text + length, SIZES_BYTES - (size_t)length, ", nor does any sequence");
    else if (sequence->is_known)
        snprintf(text + length, SIZES_BYTES - (size_t)length,
                 batch->value ? ", the largest sequence %" PRIu64 "%s"
                              : "; a sequence of at most %" PRIu64 " does%s",
                 sequence->value, sequence->is_the_most ? " (the model's longest)" : "");
    return text;
}

static void say_price(struct verdict *said, const struct saving *saving)
{
    verdict_say(said, VERDICT_do, "The price of %s: %s.", saving->how,
                technique_row(saving->technique)->costs);
}

/* Says that no change makes the model fit. Adapters train fewer weights, which changes the
 * training, so they are suggested only if nothing else helps. */
static void say_no_remedy(struct verdict *said, const struct remedy *adapters)
{
    const struct saving *first = &adapters->items[0];
    if (adapters->count == 0) {
        verdict_say(said, VERDICT_do,
                    "No change known here makes it fit, nor do two together; --what-if lists the "
                    "saving of each.");
        return;
    }
    verdict_say(said, VERDICT_do,
                "Train only adapters: %s (%s), with segments of %s; no change that trains the same "
                "weights makes it fit.",
                first->how, technique_row(first->technique)->title,
                BYTES_TEXT(first->peak.reserved_bytes));
    say_price(said, first);
}

void page_estimate_remedy_answer(struct verdict *said, const struct answer *answer)
{
    const struct remedy *remedy = &answer->remedy;
    if (answer->fits)
        return;
    if (remedy->count == 0) {
        say_no_remedy(said, &answer->adapters);
        return;
    }
    const struct saving *first = &remedy->items[0], *last = &remedy->items[remedy->count - 1];
    const char *bytes = BYTES_TEXT((uint64_t)(last->saved_bytes > 0 ? last->saved_bytes : 0));
    if (remedy->count == 1)
        verdict_say(said, VERDICT_do, "Cheapest change that makes it fit: %s (%s), which saves %s.",
                    first->how, technique_row(first->technique)->title, bytes);
    else
        verdict_say(said, VERDICT_do,
                    "Cheapest changes that make it fit: %s with %s, which save %s.", first->how,
                    last->how, bytes);
    for (size_t i = 0; i < remedy->count; i++)
        say_price(said, &remedy->items[i]);
}

void page_estimate_sizes_answer(struct verdict *said, const struct answer *answer,
                                const struct serving *serving)
{
    char sizes[SIZES_BYTES];
    verdict_say(said, VERDICT_do, "%s.", sizes_text(sizes, answer, serving));
}

void page_estimate_card_answer(struct verdict *said, const struct estimate *estimate,
                               const struct answer *answer, const struct serving *serving)
{
    enum { NAME_CHARACTERS = 24 };
    const char *name = FIT_TEXT(page_model_name(estimate), NAME_CHARACTERS);
    const char *each = estimate->plan.settings.parallel == PARALLEL_none ? "" : " per GPU";
    char load[SIZES_BYTES];
    load_text(load, estimate, serving);
    if (answer->fits) {
        verdict_say(said, VERDICT_what, "%s: fits %s%s with %s to spare at %s.", name,
                    answer->card->name, each, BYTES_TEXT((uint64_t)answer->spare_bytes), load);
        return;
    }
    verdict_say(said, VERDICT_what, "%s: does not fit %s%s: %s too much at %s.", name,
                answer->card->name, each, BYTES_TEXT((uint64_t)-answer->spare_bytes), load);
}

/* --- the card --- */

static void add_remedies(struct doc *doc, const struct remedy *remedy)
{
    doc_list_begin(doc_detail(doc), "cheapest_changes", NULL);
    for (size_t i = 0; i < remedy->count; i++) {
        doc_row_begin(doc);
        doc_text(doc, "technique", "Technique", technique_row(remedy->items[i].technique)->key);
        doc_text(doc, "how", "How", remedy->items[i].how);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

/* Adds the largest batch and the largest sequence that fit. For a KV cache, adds the most sequences
 * and the most tokens of each. */
static void add_largest(struct doc *doc, const struct answer *answer, bool serves)
{
    const bool has_length = answer->sequence.is_known;
    doc_known_count(doc_detail_if(doc, serves), "largest_batch", "Largest batch", !serves,
                    answer->batch.value);
    doc_known_count(doc_detail_if(doc, serves || !has_length), "largest_sequence",
                    "Largest sequence", !serves && has_length, answer->sequence.value);
    doc_known_count(doc_detail_if(doc, !serves), "largest_sequences", "Most sequences", serves,
                    answer->batch.value);
    doc_known_count(doc_detail_if(doc, !serves), "largest_cache_tokens",
                    "Most tokens of so many sequences", serves, answer->sequence.value);
}

void page_estimate_card(struct doc *doc, const struct answer *answer, const struct serving *serving)
{
    const struct card *card = answer->card;
    doc_object_begin(doc, "card", "On the card");
    doc_text(doc_detail(doc), "name", "Card", card->name);
    doc_bool(doc_detail(doc), "fits", "Fits", answer->fits);
    doc_bytes(doc, "total_bytes", "The card has", card->total_bytes);
    doc_bytes(doc_detail_if(doc, !card->others_bytes), "others_bytes", "Other processes hold",
              card->others_bytes);
    doc_bytes(doc, "context_bytes", "CUDA context, assumed", card->context_bytes);
    doc_bytes(doc_detail_if(doc, !card->nccl_bytes), "nccl_bytes", "NCCL's buffers, as given",
              card->nccl_bytes);
    doc_bytes(doc, "needed_bytes", "Needed: segments and context", answer->needed_bytes);
    doc_integer(doc, "spare_bytes", "To spare", DOC_DELTA, answer->spare_bytes);
    add_largest(doc, answer, serving != NULL);
    add_remedies(doc, &answer->remedy);
    doc_object_end(doc);
}

/* --- GPUs that are not alike --- */

void page_estimate_imbalance_answer(struct verdict *said, const struct estimate *estimate,
                                    const struct imbalance *imbalance)
{
    const uint64_t count = estimate->plan.settings.gpus - 1;
    if (!imbalance->is_known)
        return;
    verdict_say(said, VERDICT_who,
                "GPU 0 needs %s and the other%s %s, because GPU 0 alone has the optimizer's states "
                "and the outputs of all GPUs.",
                BYTES_TEXT(estimate->peak.requested_bytes), count == 1 ? "" : "s each",
                BYTES_TEXT(imbalance->others.requested_bytes));
    verdict_say(said, VERDICT_do, "With DistributedDataParallel each would need %s.",
                BYTES_TEXT(imbalance->distributed.requested_bytes));
}

void page_estimate_imbalance(struct doc *doc, const struct estimate *estimate,
                             const struct imbalance *imbalance)
{
    if (!imbalance->is_known)
        return;
    doc_object_begin(doc, "imbalance", "Peak per GPU (requested)");
    doc_bytes(doc, "first_bytes", "DataParallel, GPU 0", estimate->peak.requested_bytes);
    doc_bytes(doc, "others_bytes", "DataParallel, each of the others",
              imbalance->others.requested_bytes);
    doc_bytes(doc, "distributed_bytes", "DistributedDataParallel, each",
              imbalance->distributed.requested_bytes);
    doc_object_end(doc);
}

/* --- techniques --- */

static void add_saving(struct doc *doc, const struct answer *answer, const struct saving *saving)
{
    const struct technique_row *row = technique_row(saving->technique);
    const bool has_card = answer->card != NULL;
    doc_row_begin(doc_detail_if(doc, saving->saved_bytes == 0));
    doc_text(doc_detail(doc), "technique", "Technique", row->key);
    doc_integer(doc, "saved_bytes", "Saves", DOC_DELTA, saving->saved_bytes);
    doc_bytes(doc, "peak_bytes", "Peak then", saving->peak.requested_bytes);
    doc_bytes(doc_spare(doc), "reserved_bytes", "Reserved", saving->peak.reserved_bytes);
    doc_known_bool(doc_detail_if(doc, !has_card), "fits", "Fits", has_card,
                   has_card && saving->peak.reserved_bytes <= card_free_bytes(answer->card));
    doc_text(doc, "title", "Technique", row->title);
    doc_text(doc, "how", "How", saving->how);
    doc_list_begin(doc, "price", NULL);
    doc_text(doc, "costs", "", row->costs);
    doc_list_end(doc);
    doc_row_end(doc);
}

static void add_advice(struct doc *doc)
{
    doc_list_begin(doc, "not_estimated", "Techniques without a computed saving");
    for (size_t i = 0; i < advice_count; i++) {
        doc_row_begin(doc);
        doc_text(doc_detail(doc), "technique", "Technique", advice_rows[i].key);
        doc_text(doc, "title", "Technique", advice_rows[i].title);
        doc_list_begin(doc, "effect", NULL);
        doc_text(doc, "words", "", advice_rows[i].words);
        doc_list_end(doc);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

void page_estimate_what_if(struct doc *doc, const struct answer *answer)
{
    doc_list_begin(doc, "what_if", "Saving of each technique alone, at the peak");
    for (size_t i = 0; i < answer->what_if.count; i++)
        add_saving(doc, answer, &answer->what_if.items[i]);
    doc_list_end(doc);
    add_advice(doc);
}
