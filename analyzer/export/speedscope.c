/* SPDX-License-Identifier: MIT */
/* Speedscope's own format: one profile per device, whose samples are call stacks weighted by the
 * bytes that they hold. Schema: https://www.speedscope.app/file-format-schema.json */
#include <inttypes.h>

#include "held.h"
#include "analyzer/render/json.h"
#include "gpumemtrace/version.h"

static int write_samples(const struct export *export, struct export_frames *frames,
                         const struct sites *sites, struct err *err)
{
    FILE *out = export->out;
    fputs(",\"samples\":[", out);
    for (size_t i = 0; i < sites->count; i++) {
        if (frames_walk(frames, site_stack(sites->items[i].site_id), err))
            return -1;
        fputs(i ? ",\n[" : "\n[", out);
        for (size_t n = frames->depth; n-- > 0;)
            fprintf(out, "%" PRIu32 "%s", frames->stack[n], n ? "," : "]");
    }
    fputs("],\n\"weights\":[", out);
    for (size_t i = 0; i < sites->count; i++)
        fprintf(out, "%s%" PRIu64, i ? "," : "", sites->items[i].bytes);
    fputs("]}", out);
    return 0;
}

static int write_profile(const struct export *export, struct export_frames *frames,
                         const struct held_layer *layer, struct err *err)
{
    char device[EXPORT_LAYER_BYTES], name[EXPORT_LAYER_BYTES + 128];
    snprintf(name, sizeof name, "%s, live at %.100s",
             export_layer_text(export, layer->account, device), export->view.at);
    fputs("\n{\"type\":\"sampled\",\"name\":", export->out);
    json_quote(export->out, name);
    fprintf(export->out, ",\"unit\":\"bytes\",\"startValue\":0,\"endValue\":%" PRIu64,
            layer->sites.total_bytes);
    return write_samples(export, frames, &layer->sites, err);
}

/* Comes after the profiles, because writing them numbers the frames. */
static void write_frames(FILE *out, const struct export_frames *frames)
{
    fputs("],\n\"shared\":{\"frames\":[", out);
    for (uint32_t i = 0; i < frames->count; i++) {
        fputs(i ? ",\n{\"name\":" : "\n{\"name\":", out);
        json_quote(out, frames_function(frames, i));
        if (frames->items[i].file) {
            fputs(",\"file\":", out);
            json_quote(out, frames_file(frames, i));
        }
        if (frames->items[i].line)
            fprintf(out, ",\"line\":%" PRIu32, frames->items[i].line);
        putc('}', out);
    }
    fputs("]}}\n", out);
}

static int write_profiles(const struct export *export, struct export_frames *frames,
                          const struct held *held, struct err *err)
{
    FILE *out = export->out;
    fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
          "\"exporter\":\"gpumemtrace " GMT_VERSION "\",\"name\":",
          out);
    json_quote(out, export->study.trace.path);
    fputs(",\"activeProfileIndex\":0,\"profiles\":[", out);
    for (size_t i = 0; i < held->count; i++) {
        fputs(i ? "," : "", out);
        if (write_profile(export, frames, &held->items[i], err))
            return -1;
    }
    write_frames(out, frames);
    return 0;
}

int export_speedscope(const struct export *export, struct err *err)
{
    return held_write(export, write_profiles, err);
}
