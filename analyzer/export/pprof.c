/* SPDX-License-Identifier: MIT */
/*
 * A heap profile for pprof: Protocol Buffers, compressed with gzip. Fields have the numbers of the
 * schema (https://github.com/google/pprof/blob/main/proto/profile.proto). The sample types have the
 * names of Go's heap profiles, because pprof knows their units and which one to show first.
 *
 * Each frame is a location with a function of its own; pprof merges functions of equal name and
 * file.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "held.h"
#include "protobuf.h"

enum { PROFILE_SAMPLE_TYPE = 1, PROFILE_SAMPLE = 2, PROFILE_LOCATION = 4, PROFILE_FUNCTION = 5 };
enum { PROFILE_STRING = 6, PROFILE_TIME_NANOS = 9, PROFILE_COMMENT = 13 };
enum { PROFILE_DEFAULT_SAMPLE_TYPE = 14 };
enum { VALUE_TYPE = 1, VALUE_UNIT = 2 };
enum { SAMPLE_LOCATION = 1, SAMPLE_VALUE = 2, SAMPLE_LABEL = 3 };
enum { LABEL_KEY = 1, LABEL_STRING = 2, LABEL_NUMBER = 3 };
enum { LOCATION_ID = 1, LOCATION_LINE = 4, LINE_FUNCTION = 1, LINE_NUMBER = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_SYSTEM_NAME = 3, FUNCTION_FILE = 4 };

enum { MESSAGE_BYTES_MAX = 1 << 20 };

struct pprof {
    const struct export *export;
    struct export_frames *frames;
    gzFile gzip;
    struct text message, inner,
        profile; /* profile: the current field of the profile; inner: a message in `message` */
    bool lacks_text;
};

static uint64_t text_number(struct pprof *pprof, const char *text)
{
    struct err unsaid;
    const uint32_t number = frames_text(pprof->frames, text, &unsaid);
    pprof->lacks_text |= number == TEXT_SET_NONE;
    return number;
}

/* Writes pprof->message as a field of the profile. */
static int put_message(struct pprof *pprof, unsigned field, struct err *err)
{
    text_clear(&pprof->profile);
    protobuf_add_bytes(&pprof->profile, field, pprof->message.data, pprof->message.length);
    text_clear(&pprof->message);
    if (pprof->lacks_text || text_failed(&pprof->inner) || text_failed(&pprof->message) ||
        text_failed(&pprof->profile))
        return err_set(err, ERR_SYSTEM, "out of memory for the profile");
    if (gzwrite(pprof->gzip, pprof->profile.data, (unsigned)pprof->profile.length) > 0)
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot write the result: %s", strerror(errno));
}

static void add_inner(struct pprof *pprof, unsigned field)
{
    protobuf_add_bytes(&pprof->message, field, pprof->inner.data, pprof->inner.length);
    text_clear(&pprof->inner);
}

static int put_type(struct pprof *pprof, const char *type, const char *unit, struct err *err)
{
    protobuf_add_number(&pprof->message, VALUE_TYPE, text_number(pprof, type));
    protobuf_add_number(&pprof->message, VALUE_UNIT, text_number(pprof, unit));
    return put_message(pprof, PROFILE_SAMPLE_TYPE, err);
}

static void add_label(struct pprof *pprof, const char *key, const char *text)
{
    if (!text)
        return;
    protobuf_add_number(&pprof->inner, LABEL_KEY, text_number(pprof, key));
    protobuf_add_number(&pprof->inner, LABEL_STRING, text_number(pprof, text));
    add_inner(pprof, SAMPLE_LABEL);
}

static int put_sample(struct pprof *pprof, const struct site *site, const char *device,
                      struct err *err)
{
    const struct export_frames *frames = pprof->frames;
    if (frames_walk(pprof->frames, site_stack(site->site_id), err))
        return -1;
    for (size_t i = 0; i < frames->depth; i++)
        protobuf_add_varint(&pprof->inner, (uint64_t)frames->stack[i] + 1);
    add_inner(pprof, SAMPLE_LOCATION);
    protobuf_add_varint(&pprof->inner, site->count);
    protobuf_add_varint(&pprof->inner, site->bytes);
    add_inner(pprof, SAMPLE_VALUE);
    add_label(pprof, "device", device);
    add_label(pprof, "category", category_key(site->category));
    add_label(pprof, "phase", study_path(&pprof->export->study, site->path));
    return put_message(pprof, PROFILE_SAMPLE, err);
}

static int put_location(struct pprof *pprof, uint32_t number, struct err *err)
{
    const struct export_frame *frame = &pprof->frames->items[number];
    const uint64_t id = (uint64_t)number + 1;
    protobuf_add_number(&pprof->message, FUNCTION_ID, id);
    protobuf_add_number(&pprof->message, FUNCTION_NAME, frame->function);
    protobuf_add_number(&pprof->message, FUNCTION_SYSTEM_NAME, frame->function);
    protobuf_add_number(&pprof->message, FUNCTION_FILE, frame->file);
    if (put_message(pprof, PROFILE_FUNCTION, err))
        return -1;
    protobuf_add_number(&pprof->message, LOCATION_ID, id);
    protobuf_add_number(&pprof->inner, LINE_FUNCTION, id);
    protobuf_add_number(&pprof->inner, LINE_NUMBER, frame->line);
    add_inner(pprof, LOCATION_LINE);
    return put_message(pprof, PROFILE_LOCATION, err);
}

/* Writes the profile's own fields: time, comment and sample types. */
static int put_head(struct pprof *pprof, const struct held *held, struct err *err)
{
    const struct trace_meta *meta = &pprof->export->study.trace.meta;
    const uint64_t comment = text_number(pprof, meta->command.value);
    const uint64_t shown = text_number(pprof, "inuse_space");
    text_clear(&pprof->profile);
    if (meta->start_unix_ns.known && held->count)
        protobuf_add_number(&pprof->profile, PROFILE_TIME_NANOS,
                            (uint64_t)meta->start_unix_ns.value + held->items[0].moment.time_ns);
    protobuf_add_number(&pprof->profile, PROFILE_COMMENT, comment);
    protobuf_add_number(&pprof->profile, PROFILE_DEFAULT_SAMPLE_TYPE, shown);
    gzwrite(pprof->gzip, pprof->profile.data, (unsigned)pprof->profile.length);
    return put_type(pprof, "inuse_objects", "count", err) ||
                   put_type(pprof, "inuse_space", "bytes", err)
               ? -1
               : 0;
}

static int put_profile(struct pprof *pprof, const struct held *held, struct err *err)
{
    char device[EXPORT_LAYER_BYTES];
    if (put_head(pprof, held, err))
        return -1;
    for (size_t i = 0; i < held->count; i++) {
        const struct sites *sites = &held->items[i].sites;

        export_layer_text(pprof->export, held->items[i].account, device);
        for (size_t n = 0; n < sites->count; n++)
            if (put_sample(pprof, &sites->items[n], device, err))
                return -1;
    }
    for (uint32_t i = 0; i < pprof->frames->count; i++)
        if (put_location(pprof, i, err))
            return -1;
    for (size_t i = 0; i < pprof->frames->texts.count; i++) {
        text_add(&pprof->message, pprof->frames->texts.texts[i]);
        if (put_message(pprof, PROFILE_STRING, err))
            return -1;
    }
    return 0;
}

static int write_profile(const struct export *export, struct export_frames *frames,
                         const struct held *held, struct err *err)
{
    struct pprof pprof = {.export = export, .frames = frames};
    const int copy = fflush(export->out) ? -1 : dup(fileno(export->out));
    pprof.gzip = copy < 0 ? NULL : gzdopen(copy, "wb");
    if (!pprof.gzip) {
        err_set(err, ERR_SYSTEM, "cannot write the result: %s", strerror(errno));
        if (copy >= 0)
            close(copy);
        return -1;
    }
    text_init(&pprof.message, MESSAGE_BYTES_MAX);
    text_init(&pprof.inner, MESSAGE_BYTES_MAX);
    text_init(&pprof.profile, 2 * MESSAGE_BYTES_MAX);
    int status = put_profile(&pprof, held, err);
    text_release(&pprof.message);
    text_release(&pprof.inner);
    text_release(&pprof.profile);
    if (gzclose(pprof.gzip) != Z_OK && !status) {
        err_set(err, ERR_SYSTEM, "cannot write the result: %s", strerror(errno));
        status = -1;
    }
    return status;
}

int export_pprof(const struct export *export, struct err *err)
{
    return held_write(export, write_profile, err);
}
