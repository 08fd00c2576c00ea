/* SPDX-License-Identifier: MIT */
/* Says why a pool's free memory stays reserved: by stream, and by the stacks whose blocks pin
 * it. */
#include "parts.h"

#include "analyzer/analysis/moment.h"
#include "analyzer/analysis/fragmentation/pins.h"

static void add_stream(struct doc *doc, const struct pool_stream *stream)
{
    doc_row_begin(doc);
    if (stream->stream == STREAM_UNKNOWN) {
        doc_null(doc, "stream", "Stream", DOC_ADDRESS);
        doc_words(doc, "not known");
    } else {
        doc_integer(doc, "stream", "Stream", DOC_ADDRESS, (int64_t)stream->stream);
        if (!stream->stream)
            doc_words(doc, "default");
    }
    doc_count(doc, "segments", "Segments", stream->segment_count);
    doc_bytes(doc, "reserved_bytes", "Reserved", stream->reserved_bytes);
    doc_bytes(doc, "live_bytes", "Live", stream->live_bytes);
    doc_bytes(doc, "free_bytes", "Free", stream->free_bytes);
    doc_bytes(doc, "largest_free_bytes", "Largest free", stream->largest_free_bytes);
    doc_bytes(doc, "stranded_bytes", "Stranded", stream->stranded_bytes);
    doc_row_end(doc);
}

static int add_streams(struct doc *doc, const struct segment_list *segments, struct err *err)
{
    struct pool_stream_list streams;
    if (pool_streams_find(&streams, segments, err))
        return -1;
    doc_list_begin(doc_detail_if(doc, streams.count < 2), "streams", "By stream");
    for (size_t i = 0; i < streams.count; i++)
        add_stream(doc, &streams.items[i]);
    doc_list_end(doc);
    pool_streams_release(&streams);
    return 0;
}

static int add_pin(struct doc *doc, const struct study *study, const struct view *view,
                   const struct pin *pin, const struct blamed *blamed, size_t others,
                   struct err *err)
{
    doc_bytes(doc, "alone_bytes", "Alone", pin->alone_bytes);
    doc_bytes(doc, "pinned_bytes", "Pinned", pin->pinned_bytes);
    doc_count(doc, "segments", "Segments", pin->segment_count);
    doc_count(doc, "blocks", "Blocks", pin->block_count);
    doc_bytes(doc, "bytes", "Bytes", pin->block_bytes);
    return page_frames_of(doc, study, view, blamed, others, 1, err);
}

/* Adds the pins. Details have a row for each call stack, a summary has a row for each line to
 * blame. */
static int add_pins(struct doc *doc, const struct study *study, const struct view *view,
                    const struct segment_list *pieces, struct err *err)
{
    struct pins pins;
    int status = 0;
    if (pins_find(&pins, study->symbols, pieces, err))
        return -1;
    doc_list_begin(doc, "pinned_by", "Free memory that live blocks pin");
    for (size_t i = 0; i < pins.lines.count && i < PAGE_SITES && !status; i++) {
        const struct pin *pin = &pins.lines.items[i];
        const struct blamed *blamed = blame_of(&pins.blame, pin->stack_id);

        doc_row_begin(doc_summary(doc));
        status = add_pin(doc, study, view, pin, blamed, pins_others(&pins, blamed), err);
        doc_row_end(doc);
    }
    for (size_t i = 0; i < pins.stacks.count && !status; i++) {
        const struct pin *pin = &pins.stacks.items[i];

        doc_row_begin(doc_detail(doc));
        status = add_pin(doc, study, view, pin, blame_of(&pins.blame, pin->stack_id), 0, err);
        doc_row_end(doc);
    }
    doc_list_end(doc);
    pins_release(&pins);
    return status;
}

int page_pins(struct doc *doc, const struct study *study, const struct device_use *use,
              const struct view *view, struct err *err)
{
    const uint32_t account = study_account(study, use, view);
    struct segment_list segments = {0};
    struct moment moment;
    int status;
    if (account == HISTORY_NONE || study->history.accounts[account].kind != ACCOUNT_pool) {
        doc_null(doc_detail(doc), "pinned_by", "Pinned by", DOC_TEXT);
        doc_null(doc_detail(doc), "streams", "By stream", DOC_TEXT);
        return 0;
    }
    if (moment_find("at", view->at, &study->history, account, &moment, err) ||
        (moment.index != INDEX_NONE &&
         segments_pieces_at(&segments, &study->history, account, moment.index, err)))
        return -1;
    status = add_pins(doc, study, view, &segments, err);
    segments_join(&segments);
    if (!status)
        status = add_streams(doc, &segments, err);
    segments_release(&segments);
    return status;
}
