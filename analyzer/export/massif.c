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
#include "analyzer/util/utf8.h"

enum { STRETCHES = 40, THRESHOLD_DIVISOR = 100 };

/* --- the tree --- */

#define NODE_NONE UINT32_MAX

struct node {
    uint32_t frame, first_child, next_sibling, child_count;
    uint64_t bytes;
};

struct tree {
    struct node *nodes; /* the root is the first */
    size_t count, capacity;
    struct pair_map children; /* key: parent and frame */
};

static uint32_t add_node(struct tree *tree, uint32_t parent, uint32_t frame, struct err *err)
{
    struct node *grown = array_grow(tree->nodes, &tree->capacity, tree->count, sizeof *grown, err);

    if (!grown)
        return NODE_NONE;
    const uint32_t number = (uint32_t)tree->count++;
    tree->nodes = grown;
    grown[number] =
        (struct node){.frame = frame, .first_child = NODE_NONE, .next_sibling = NODE_NONE};
    if (parent == NODE_NONE)
        return number;
    grown[number].next_sibling = grown[parent].first_child;
    grown[parent].first_child = number;
    grown[parent].child_count++;
    return pair_map_put(&tree->children, parent, frame, number, err) ? NODE_NONE : number;
}

/* Adds a stack from the allocation outwards. The bytes count in each node on the stack's path. */
static int add_stack(struct tree *tree, const struct export_frames *frames, uint64_t bytes,
                     struct err *err)
{
    uint32_t node = 0;

    tree->nodes[0].bytes += bytes;
    for (size_t i = 0; i < frames->depth; i++) {
        uint32_t child = pair_map_get(&tree->children, node, frames->stack[i]);

        if (child == PAIR_MAP_NONE)
            child = add_node(tree, node, frames->stack[i], err);
        if (child == NODE_NONE)
            return -1;
        node = child;
        tree->nodes[node].bytes += bytes;
    }
    return 0;
}

static int grow_tree(struct tree *tree, struct export_frames *frames, const struct sites *sites,
                     struct err *err)
{
    if (add_node(tree, NODE_NONE, 0, err) == NODE_NONE)
        return -1;
    for (size_t i = 0; i < sites->count; i++)
        if (frames_walk(frames, sites->items[i].stack_id, err) ||
            add_stack(tree, frames, sites->items[i].bytes, err))
            return -1;
    return 0;
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

    if (text_failed(&massif->name)) {
        err_set(massif->err, ERR_SYSTEM, "out of memory for a name");
        return -1;
    }
    for (const char *words = massif->name.data; *words; words++)
        putc(*words == '#' ? '@' : *words, out);
    putc('\n', out);
    return 0;
}

static int compare_nodes(const void *left, const void *right)
{
    const struct node *const *a = left, *const *b = right;

    if ((*a)->bytes != (*b)->bytes)
        return (*a)->bytes < (*b)->bytes ? 1 : -1;
    return ((*a)->frame > (*b)->frame) - ((*a)->frame < (*b)->frame);
}

static int put_nodes(struct massif *massif, const struct node *parent, int depth);

static int put_node(struct massif *massif, const struct node *node, int lines, int depth)
{
    FILE *out = massif->export->out;

    text_clear(&massif->name);
    frames_describe(massif->frames, node->frame, &massif->name);
    fprintf(out, "%*sn%d: %" PRIu64 " 0x%" PRIX32 ": ", depth, "", lines, node->bytes,
            node->frame + 1);
    return put_words(massif) || put_nodes(massif, node, depth + 1) ? -1 : 0;
}

/* Returns the number of lines directly below a node. */
static int count_lines(const struct massif *massif, const struct node *parent)
{
    const struct node *nodes = massif->tree.nodes;
    int large = 0, small = 0;

    for (uint32_t i = parent->first_child; i != NODE_NONE; i = nodes[i].next_sibling)
        *(nodes[i].bytes < nodes[0].bytes / THRESHOLD_DIVISOR ? &small : &large) += 1;
    return large + (small > 0);
}

static int put_nodes(struct massif *massif, const struct node *parent, int depth)
{
    const struct node *nodes = massif->tree.nodes;
    const struct node **children = array_new(parent->child_count, sizeof *children, massif->err);
    size_t count = 0, places = 0;
    uint64_t bytes = 0;
    int status = children ? 0 : -1;

    for (uint32_t i = parent->first_child; children && i != NODE_NONE; i = nodes[i].next_sibling) {
        if (nodes[i].bytes >= nodes[0].bytes / THRESHOLD_DIVISOR) {
            children[count++] = &nodes[i];
            continue;
        }
        bytes += nodes[i].bytes;
        places++;
    }
    if (count)
        qsort(children, count, sizeof *children, compare_nodes);
    for (size_t i = 0; i < count && !status; i++)
        status = put_node(massif, children[i], count_lines(massif, children[i]), depth);
    if (places && !status)
        fprintf(massif->export->out,
                "%*sn0: %" PRIu64 " in %zu place%s, all below massif's threshold (1.00%%)\n", depth,
                "", bytes, places, places == 1 ? "" : "s");
    free(children);
    return status;
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
    fprintf(massif->export->out, "n%d: %" PRIu64 " (GPU memory that was live) ",
            count_lines(massif, massif->tree.nodes), layer->sites.total_bytes);
    text_clear(&massif->name);
    utf8_add(&massif->name, export_layer_text(massif->export, layer->account, name));
    return put_words(massif) || put_nodes(massif, massif->tree.nodes, 1) ? -1 : 0;
}

static int on_change(void *self, const struct cursor *at, const struct spans *spans,
                     const struct change *change)
{
    struct massif *massif = self;

    (void)spans;
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

    err_set(err, ERR_USAGE, "a file of Massif has one device, and %zu have memory: say --device=%d",
            held->count, accounts[held->items[0].account].device);
    return -1;
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
    pair_map_release(&massif.tree.children);
    free(massif.tree.nodes);
    return status;
}

int export_massif(const struct export *export, struct err *err)
{
    return held_write(export, write_massif, err);
}
