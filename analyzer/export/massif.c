/* SPDX-License-Identifier: MIT */
/* Writes the file of Valgrind's Massif, for ms_print and massif-visualizer. It has the live memory
 * over time, and the tree of calls at one moment, from the allocation outwards. A file shows one
 * device. Nodes below Massif's own threshold of 1 % share one line. "#" in a name becomes "@",
 * because it would begin a comment. */
#include <inttypes.h>
#include <stdlib.h>

#include "held.h"
#include "sampler.h"
#include "analyzer/replay/history/observer.h"
#include "analyzer/util/array.h"
#include "analyzer/symbol/frame_tree.h"
#include "analyzer/util/utf8.h"

enum { STRETCHES = 40, THRESHOLD_DIVISOR = 100 };

/* --- the tree --- */

struct tree {
    struct frame_tree frames; /* the root is the first node */
    uint64_t *bytes;          /* by node */
    size_t count, capacity;
};

static int add_bytes(struct tree *tree, uint32_t node, uint64_t bytes, struct err *err)
{
    if (node == FRAME_TREE_NONE)
        return -1;
    if (ARRAY_REACH(tree->bytes, tree->capacity, tree->count, node, err))
        return -1;
    tree->bytes[node] += bytes;
    return 0;
}

/* Adds the stacks, from the allocation outwards. Bytes count in each node on a stack's path. */
static int grow_tree(struct tree *tree, struct export_frames *frames, const struct sites *sites,
                     struct err *err)
{
    const uint32_t root = frame_tree_add(&tree->frames, FRAME_TREE_NONE, 0, err);
    int status = add_bytes(tree, root, sites->total_bytes, err);
    for (size_t i = 0; i < sites->count && !status; i++) {
        uint32_t node = root;

        status = frames_walk(frames, site_stack(sites->items[i].site_id), err);
        for (size_t k = 0; k < frames->depth && !status; k++) {
            node = frame_tree_add(&tree->frames, node, frames->stack[k], err);
            status = add_bytes(tree, node, sites->items[i].bytes, err);
        }
    }
    return status;
}

/* --- the file --- */

struct massif {
    const struct export *export;
    struct export_frames *frames;
    const struct held_layer *layer;
    struct tree tree;
    struct text name;
    struct sampler sampler;
    uint64_t now_ns;
    uint64_t snapshots_count;
    struct err *err;
};

/* Writes massif->name and a line end, with "#" replaced. */
static int put_words(struct massif *massif)
{
    FILE *out = massif->export->out;
    if (text_failed(&massif->name))
        return err_set(massif->err, ERR_SYSTEM, "out of memory for a name");
    for (const char *words = massif->name.data; *words; words++)
        putc(*words == '#' ? '@' : *words, out);
    putc('\n', out);
    return 0;
}

/* A node that has a line of its own. */
struct shown {
    uint64_t bytes;
    uint32_t frame, node;
};

ORDER_BY(compare_shown, struct shown, FALLING(bytes), RISING(frame));

/* The lines directly below a node. The small nodes share one line. */
struct lines {
    struct shown *large;
    size_t count, small_count;
    uint64_t small_bytes;
};

static int find_lines(struct lines *lines, const struct massif *massif, uint32_t outer)
{
    const struct frame_node *nodes = massif->tree.frames.nodes;
    const uint64_t *bytes = massif->tree.bytes;
    size_t capacity = 0;
    *lines = (struct lines){0};
    for (uint32_t i = nodes[outer].first; i; i = nodes[i].next) {
        if (bytes[i] < bytes[0] / THRESHOLD_DIVISOR) {
            lines->small_bytes += bytes[i];
            lines->small_count++;
            continue;
        }
        if (ARRAY_GROW(lines->large, capacity, lines->count, massif->err))
            return -1;
        lines->large[lines->count++] = (struct shown){bytes[i], (uint32_t)nodes[i].frame, i};
    }
    SORT(lines->large, lines->count, compare_shown);
    return 0;
}

static int put_lines(struct massif *massif, const struct lines *lines, int depth);

/* Writes the line of a node, whose name is in massif->name, and the lines below it. */
static int put_node(struct massif *massif, uint32_t node, const char *between, int depth)
{
    struct lines lines;
    int status = find_lines(&lines, massif, node);
    if (!status) {
        fprintf(massif->export->out, "%*sn%zu: %" PRIu64 " %s", depth, "",
                lines.count + (lines.small_count > 0), massif->tree.bytes[node], between);
        status = put_words(massif) || put_lines(massif, &lines, depth + 1) ? -1 : 0;
    }
    free(lines.large);
    return status;
}

static int put_lines(struct massif *massif, const struct lines *lines, int depth)
{
    for (size_t i = 0; i < lines->count; i++) {
        char number[16];

        snprintf(number, sizeof number, "0x%" PRIX32 ": ", lines->large[i].frame + 1);
        text_clear(&massif->name);
        frames_describe(massif->frames, lines->large[i].frame, &massif->name);
        if (put_node(massif, lines->large[i].node, number, depth))
            return -1;
    }
    if (lines->small_count)
        fprintf(massif->export->out,
                "%*sn0: %" PRIu64 " in %zu place%s, all below massif's threshold (1.00%%)\n", depth,
                "", lines->small_bytes, lines->small_count, lines->small_count == 1 ? "" : "s");
    return 0;
}

static void put_snapshot(struct massif *massif, uint64_t time_ns, uint64_t bytes, const char *tree)
{
    fprintf(massif->export->out,
            "#-----------\nsnapshot=%" PRIu64 "\n#-----------\ntime=%" PRIu64 ".%06" PRIu64
            "\nmem_heap_B=%" PRIu64 "\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=%s\n",
            massif->snapshots_count++, time_ns / 1000000, time_ns % 1000000, bytes, tree);
}

static void keep_sample(void *self, const struct sample *sample)
{
    put_snapshot(self, sample->time_ns, sample->bytes, "empty");
}

static int put_moment(struct massif *massif)
{
    const struct held_layer *layer = massif->layer;
    const struct account *account = &massif->export->study.history.accounts[layer->account];
    char name[EXPORT_LAYER_BYTES];
    put_snapshot(massif, massif->now_ns, layer->sites.total_bytes,
                 layer->moment.index == account->peak.index ? "peak" : "detailed");
    text_clear(&massif->name);
    utf8_add(&massif->name, export_layer_text(massif->export, layer->account, name));
    return put_node(massif, 0, "(GPU memory that was live) ", 0);
}

static int on_change(void *self, const struct cursor *at, const struct change *change)
{
    struct massif *massif = self;
    if (change->block->account == massif->layer->account && !change->is_resize)
        sampler_take(&massif->sampler, export_now(&massif->now_ns, at),
                     at->history->accounts[change->block->account].live_bytes);
    return 0;
}

static int on_event(void *self, const struct cursor *at)
{
    struct massif *massif = self;
    if (at->index != massif->layer->moment.index)
        return 0;
    sampler_flush(&massif->sampler);
    export_now(&massif->now_ns, at);
    return put_moment(massif);
}

static int write_file(struct massif *massif)
{
    const struct export *export = massif->export;
    const struct observer observer = {.self = massif, .on_change = on_change, .on_event = on_event};
    const char *command = export->study.trace.meta.command.value;
    if (grow_tree(&massif->tree, massif->frames, &massif->layer->sites, massif->err))
        return -1;
    utf8_add(&massif->name, command ? command : "");
    fputs("desc: GPU memory, by gpumemtrace\ncmd: ", export->out);
    if (put_words(massif))
        return -1;
    fputs("time_unit: ms\n", export->out);
    put_snapshot(massif, 0, 0, "empty");
    if (export_replay(export, &observer, 0, massif->err))
        return -1;
    sampler_flush(&massif->sampler);
    return 0;
}

static int refuse_devices(const struct held *held, const struct export *export, struct err *err)
{
    const struct account *accounts = export->study.history.accounts;
    return err_set(err, ERR_USAGE,
                   "a file of Massif has one device, and %zu have memory: say --device=%d",
                   held->count, accounts[held->items[0].account].device);
}

static int write_massif(const struct export *export, struct export_frames *frames,
                        const struct held *held, struct err *err)
{
    if (held->count > 1)
        return refuse_devices(held, export, err);
    static const struct held_layer nothing = {.account = HISTORY_NONE, .moment = {INDEX_NONE}};
    struct massif massif = {
        .export = export,
        .frames = frames,
        .layer = held->count ? &held->items[0] : &nothing,
        .sampler = {.width_ns = sampler_width(export->study.history.last.time_ns, STRETCHES),
                    .keep = keep_sample,
                    .self = &massif},
        .err = err};
    text_init(&massif.name, 4 * FRAMES_TEXT_BYTES_MAX);
    const int status = write_file(&massif);
    text_release(&massif.name);
    frame_tree_release(&massif.tree.frames);
    free(massif.tree.bytes);
    return status;
}

int export_massif(const struct export *export, struct err *err)
{
    return held_write(export, write_massif, err);
}
