/* SPDX-License-Identifier: MIT */
/* Expands blocks into layers; see graph.h. */
#include "graph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/array.h"
#include "analyzer/util/json_field.h"
#include "analyzer/util/nearest.h"
#include "layer_read.h"

#define INPUT_NAME "input"

/* The name of a layer or block. Later layers and blocks can use it in "from". */
struct label {
    char name[LAYER_NAME_BYTES];
    size_t output; /* the layer whose result it names, or MODEL_INPUT */
};

/* A block that is being read. */
struct section {
    const char *prefix; /* prefix of the names in the block, as "encoder.layer.0", or "" */
    size_t input;
    unsigned depth;
};

struct graph {
    struct model *model;
    struct dimensions *dimensions;
    const struct tuning *tuning;
    size_t layer_capacity, registered_capacity;
    struct label *labels; /* a block's labels are dropped at its end */
    size_t label_count, label_capacity;
    size_t flowing;    /* the previous layer */
    size_t items;      /* number of items read so far, in all repetitions */
    size_t blocks;     /* number of repetitions of outermost repeated blocks so far */
    uint64_t turn;     /* number of the last such repetition within its block */
    unsigned repeated; /* number of repeated blocks around the item that is being read */
    size_t adapters;
    struct err *err;
};

static int read_list(struct graph *graph, const json_t *list, const struct section *section);

/* The message names the item as "layer 3" or "block 'h'". A layer has the next number. */
static int fail_item(const struct graph *graph, const char *name, const char *what)
{
    char shown[JSON_SHOWN_BYTES];
    return err_set(graph->err, ERR_INPUT, "layer %zu%s%s: %s", graph->model->layer_count,
                   *name ? " " : "", *name ? json_shown_text(name, shown) : "", what);
}

/* --- names --- */

static int join(const struct graph *graph, char path[LAYER_NAME_BYTES], const char *prefix,
                const char *name)
{
    const bool both = *prefix && *name;
    int length = snprintf(path, LAYER_NAME_BYTES, "%s%s%s", prefix, both ? "." : "", name);
    return length < LAYER_NAME_BYTES ? 0 : fail_item(graph, name, "the whole name is too long");
}

/* Fills `name` with the item's own name and the values of its {expressions}, or with "" if the item
 * has no name. */
static int own_name(const struct graph *graph, const json_t *item, char name[LAYER_NAME_BYTES])
{
    const json_t *given = json_object_get(item, "name");
    struct err inner = {0};
    const char *text = "";
    char message[sizeof inner.message + 32];
    name[0] = '\0';
    if (!given)
        return 0;
    if (!json_take_text(given, &text, &inner) &&
        !dimensions_fill(graph->dimensions, text, name, LAYER_NAME_BYTES, &inner)) {
        if (strcmp(name, INPUT_NAME) != 0)
            return 0;
        err_set(&inner, ERR_INPUT, "cannot be '" INPUT_NAME "', which is what the block reads");
    }
    name[0] = '\0';
    snprintf(message, sizeof message, "field 'name': %s", inner.message);
    return fail_item(graph, "", message);
}

static int add_label(struct graph *graph, const char *name, size_t output)
{
    if (!*name)
        return 0;
    if (ARRAY_GROW(graph->labels, graph->label_capacity, graph->label_count, graph->err))
        return -1;
    struct label *label = &graph->labels[graph->label_count++];
    *label = (struct label){.output = output};
    memcpy(label->name, name, strnlen(name, sizeof label->name - 1));
    return 0;
}

#define HINTS_MOST 64

static int fail_from(const struct graph *graph, const char *name, const char *wanted)
{
    const char *names[HINTS_MOST];
    char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES], message[160];
    size_t count = 0;
    for (size_t i = graph->label_count; i > 0 && count < HINTS_MOST; i--)
        names[count++] = graph->labels[i - 1].name;
    snprintf(message, sizeof message, "field 'from': nothing before it is called %s%s",
             json_shown_text(wanted, shown), nearest_hint(hint, wanted, names, count));
    return fail_item(graph, name, message);
}

static int find_source(const struct graph *graph, const struct section *section, const char *name,
                       const json_t *wanted, size_t *source)
{
    char filled[LAYER_NAME_BYTES];
    struct err inner = {0};
    const char *text = json_string_value(wanted);
    if (!text)
        return fail_item(graph, name, "field 'from' must be a name or a list of names");
    if (dimensions_fill(graph->dimensions, text, filled, sizeof filled, &inner))
        return fail_item(graph, name, inner.message);
    if (strcmp(filled, INPUT_NAME) == 0) {
        *source = section->input;
        return 0;
    }
    for (size_t i = graph->label_count; i > 0; i--) {
        if (strcmp(graph->labels[i - 1].name, filled) == 0) {
            *source = graph->labels[i - 1].output;
            return 0;
        }
    }
    return fail_from(graph, name, filled);
}

/* --- inputs of a layer --- */

static int add_source(struct graph *graph, size_t source)
{
    struct model *model = graph->model;
    if (ARRAY_GROW(model->inputs, model->input_capacity, model->input_count, graph->err))
        return -1;
    model->inputs[model->input_count++] = source;
    return 0;
}

/* Adds the item's inputs to the model's list. Without "from", the input is the previous layer. */
static int add_sources(struct graph *graph, const struct section *section, const json_t *item,
                       const char *name)
{
    const json_t *from = json_object_get(item, "from");
    size_t source = graph->flowing;
    if (!from)
        return add_source(graph, source);
    if (!json_is_array(from))
        return find_source(graph, section, name, from, &source) || add_source(graph, source) ? -1
                                                                                             : 0;
    if (json_array_size(from) < 1 || json_array_size(from) > MODEL_INPUTS_MOST)
        return fail_item(graph, name, "field 'from' has no name or too many");
    for (size_t i = 0; i < json_array_size(from); i++)
        if (find_source(graph, section, name, json_array_get(from, i), &source) ||
            add_source(graph, source))
            return -1;
    return 0;
}

/* Finds the first input of an item. A block reads only this input. If an item is left out, readers
 * of the item read this input. */
static int first_source(struct graph *graph, const struct section *section, const json_t *item,
                        const char *name, size_t *source)
{
    const json_t *from = json_object_get(item, "from");
    *source = graph->flowing;
    if (json_is_array(from))
        from = json_array_get(from, 0);
    return from ? find_source(graph, section, name, from, source) : 0;
}

/* --- layers --- */

static int fail_many(const struct graph *graph, const char *name)
{
    char message[120];
    int length = snprintf(message, sizeof message, "the model has too many layers, at most %d",
                          MODEL_LAYERS_MOST);
    if (graph->repeated > 0)
        snprintf(message + length, sizeof message - (size_t)length,
                 "; this one is in repetition %" PRIu64 " of its block", graph->turn + 1);
    return fail_item(graph, name, message);
}

static int add_layer(struct graph *graph, const struct section *section, json_t *item,
                     const char *name)
{
    struct model *model = graph->model;
    char path[LAYER_NAME_BYTES];
    const size_t index = model->layer_count, first = model->input_count;
    if (index == MODEL_LAYERS_MOST)
        return fail_many(graph, name);
    if (ARRAY_GROW(model->layers, graph->layer_capacity, index, graph->err))
        return -1;
    if (ARRAY_GROW(model->registered, graph->registered_capacity, index, graph->err))
        return -1;
    model->registered[index] = index;
    if (join(graph, path, section->prefix, name) ||
        layer_read(&model->layers[index], item, path, index, graph->dimensions, graph->err))
        return -1;
    tuning_apply(graph->tuning, &model->layers[index]);
    const bool aside = model->layers[index].kind->traits & TRAIT_aside;
    if (aside && json_object_get(item, "from"))
        return layer_fail(&model->layers[index], "from", graph->err, "it reads nothing");
    if (!aside && add_sources(graph, section, item, name))
        return -1;
    model->layers[index].block = graph->repeated ? graph->blocks : 0;
    model->layers[index].turn = graph->repeated ? graph->turn : 0;
    model->layers[index].first_input = first;
    model->layers[index].input_count = model->input_count - first;
    model->layer_count++;
    if (!aside)
        graph->flowing = index;
    return add_label(graph, name, index);
}

/* --- adapters --- */

/*
 * Adds one layer of an adapter. The layer reads the item's "from", or the previous layer. Takes
 * over the reference to the item.
 */
static int add_part(struct graph *graph, const struct section *section, json_t *item,
                    const char *name, const char *part)
{
    char whole[LAYER_NAME_BYTES];
    int result = -1;
    if (!item)
        err_set(graph->err, ERR_SYSTEM, "out of memory for an adapter");
    else if (!join(graph, whole, name, part))
        result = add_layer(graph, section, item, whole);
    json_decref(item);
    return result;
}

/*
 * Adds a layer that casts to or from the adapter's type. Beside a quantized layer, peft casts only
 * outside autocast.
 */
static int add_cast(struct graph *graph, const struct section *section, const char *type,
                    const char *name, const char *part, bool is_quantized)
{
    if (!tuning_widens(graph->tuning))
        return 0;
    if (add_part(graph, section, json_pack("{ss}", "type", type), name, part))
        return -1;
    graph->model->layers[graph->flowing].is_plain = is_quantized;
    return 0;
}

/* Adds the layers that run the input through the adapter. */
static int add_branch(struct graph *graph, const struct section *section, const char *name,
                      json_int_t out)
{
    const json_int_t rank = (json_int_t)graph->tuning->lora;
    const double dropout = tuning_dropout(graph->tuning);
    if (dropout > 0 &&
        add_part(graph, section, json_pack("{ss sf}", "type", "Dropout", "p", dropout), name,
                 "lora_dropout"))
        return -1;
    return add_part(graph, section,
                    json_pack("{ss sI sb}", "type", "Linear", "out", rank, "bias", 0), name,
                    "lora_A") ||
                   add_part(graph, section,
                            json_pack("{ss sI sb}", "type", "Linear", "out", out, "bias", 0), name,
                            "lora_B") ||
                   add_part(graph, section, json_pack("{ss}", "type", "Scale"), name, "scaled")
               ? -1
               : 0;
}

/*
 * Adds an adapter to the linear layer that was just read, as peft does: the input is cast to the
 * adapter's type and partly dropped, and runs through two narrow layers. Their result is scaled and
 * added to the result of the linear layer. The sum takes over the linear layer's name and type. A
 * variable holds the cast input until the sum is made.
 */
static int add_adapter(struct graph *graph, const struct section *section, const char *name)
{
    const struct layer *layer = &graph->model->layers[graph->model->layer_count - 1];
    const bool is_quantized = layer->quantization != QUANTIZATION_none;
    const json_int_t out = (json_int_t)layer->fields.out;
    const size_t input = graph->model->layer_count;
    char scaled[LAYER_NAME_BYTES];
    graph->adapters++;
    graph->flowing = graph->model->inputs[layer->first_input];
    if (add_cast(graph, section, "Float", name, "lora_input", is_quantized) ||
        add_branch(graph, section, name, out) ||
        (is_quantized && add_cast(graph, section, "Cast", name, "scaled", true)) ||
        join(graph, scaled, name, "scaled") ||
        add_part(graph, section, json_pack("{ss s[ss]}", "type", "Add", "from", name, scaled), name,
                 ""))
        return -1;
    if (tuning_widens(graph->tuning))
        graph->model->layers[input].held_until = graph->flowing;
    return is_quantized ? 0 : add_cast(graph, section, "Cast", name, "", false);
}

static int add_adapted(struct graph *graph, const struct section *section, json_t *item,
                       const char *name)
{
    if (add_layer(graph, section, item, name))
        return -1;
    const struct layer *layer = &graph->model->layers[graph->model->layer_count - 1];
    return *name && tuning_adapts(graph->tuning, layer) ? add_adapter(graph, section, name) : 0;
}

/* --- registration --- */

#define REGISTERED_MOST 64

/* Returns the index of the first of the names that belongs to the layer or to a module around it;
 * `count`: none does. */
static size_t registered_rank(const struct layer *layer, size_t prefix_length,
                              char (*names)[LAYER_NAME_BYTES], size_t count)
{
    const char *own = layer->name + prefix_length;
    own += prefix_length > 0 && *own == '.';
    for (size_t i = 0; i < count; i++) {
        const size_t length = strlen(names[i]);
        if (strncmp(own, names[i], length) == 0 && (!own[length] || own[length] == '.'))
            return i;
    }
    return count;
}

/* Sorts the layers from `first` on by rank. Layers of one rank stay in the order in which they
 * run. */
static int sort_registered(struct graph *graph, size_t first, size_t prefix_length,
                           char (*names)[LAYER_NAME_BYTES], size_t count)
{
    const struct model *model = graph->model;
    const size_t layers = model->layer_count - first;
    size_t *ranks = array_new(layers, 2 * sizeof *ranks, graph->err), placed = 0;
    if (!ranks)
        return -1;
    size_t *numbers = ranks + layers, *registered = model->registered + first;
    for (size_t i = 0; i < layers; i++) {
        numbers[i] = registered[i];
        ranks[i] = registered_rank(&model->layers[numbers[i]], prefix_length, names, count);
    }
    for (size_t rank = 0; rank <= count; rank++)
        for (size_t i = 0; i < layers; i++)
            if (ranks[i] == rank)
                registered[placed++] = numbers[i];
    free(ranks);
    return 0;
}

/* Sets the order of registration, because a class may make its modules in another order than the
 * one in which they run. */
static int order_registered(struct graph *graph, const char *prefix, const json_t *list,
                            size_t first)
{
    char names[REGISTERED_MOST][LAYER_NAME_BYTES];
    const size_t count = json_array_size(list);
    struct err inner = {0};
    if (!list)
        return 0;
    if (!json_is_array(list) || count < 1 || count > REGISTERED_MOST)
        return fail_item(graph, prefix, "field 'registered' must be a list of 1 to 64 names");
    for (size_t i = 0; i < count; i++) {
        const char *text = json_string_value(json_array_get(list, i));
        if (!text)
            return fail_item(graph, prefix, "field 'registered' must be a list of names");
        if (dimensions_fill(graph->dimensions, text, names[i], sizeof names[i], &inner))
            return fail_item(graph, prefix, inner.message);
    }
    return sort_registered(graph, first, strlen(prefix), names, count);
}

/* --- blocks --- */

static int read_times(const struct graph *graph, const json_t *item, const char *name,
                      uint64_t *times)
{
    const json_t *repeat = json_object_get(item, "repeat");
    struct err inner = {0};
    char message[sizeof inner.message + 32];
    *times = 1;
    if (!repeat)
        return 0;
    json_t *plain = dimensions_plain(graph->dimensions, repeat, &inner);
    int result = plain ? json_take_integer(plain, 0, MODEL_LAYERS_MOST, times, &inner) : -1;
    json_decref(plain);
    if (!result)
        return 0;
    snprintf(message, sizeof message, "field 'repeat': %s", inner.message);
    return fail_item(graph, name, message);
}

static int check_block(const struct graph *graph, const json_t *item, const char *name)
{
    static const char *const known[] = {"layers", "name", "from", "if", "repeat", "registered"};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)item, key, value)
    {
        bool found = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
            found |= strcmp(key, known[i]) == 0;
        if (!found) {
            char shown[JSON_SHOWN_BYTES], hint[NEAREST_HINT_BYTES], message[240];
            snprintf(message, sizeof message,
                     "a block has no field %s; it takes layers, name, from, if, repeat and "
                     "registered%s",
                     json_shown_text(key, shown),
                     nearest_hint(hint, key, known, sizeof known / sizeof *known));
            return fail_item(graph, name, message);
        }
    }
    return 0;
}

/* Returns whether the item's name has the number of the repetition in it, as "layer{index + 1}". */
static bool names_repetitions(const json_t *item)
{
    const char *name = json_string_value(json_object_get(item, "name"));
    return json_object_get(item, "repeat") && name && strchr(name, '{') && strstr(name, "index");
}

/*
 * Makes the prefix of the names in one repetition of a block. The prefix has the block's name and
 * the number of the repetition.
 */
static int join_run(const struct graph *graph, char prefix[LAYER_NAME_BYTES],
                    const struct section *outer, const json_t *item, const char *name)
{
    char path[LAYER_NAME_BYTES], number[24] = "";
    if (names_repetitions(item))
        return own_name(graph, item, path) ? -1 : join(graph, prefix, outer->prefix, path);
    if (json_object_get(item, "repeat") && json_object_get(item, "name"))
        snprintf(number, sizeof number, "%" PRIu64, *graph->dimensions->index);
    return join(graph, path, outer->prefix, name) || join(graph, prefix, path, number) ? -1 : 0;
}

static int run_block(struct graph *graph, const struct section *outer, const json_t *item,
                     const char *name, uint64_t times, uint64_t *index)
{
    char prefix[LAYER_NAME_BYTES];
    const size_t mark = graph->label_count;
    struct section section = {.prefix = prefix, .depth = outer->depth + 1};
    for (; *index < times; ++*index) {
        const size_t first = graph->model->layer_count;
        section.input = graph->flowing;
        if (graph->repeated == 1 && json_object_get(item, "repeat")) {
            graph->blocks++;
            graph->turn = *index;
        }
        if (join_run(graph, prefix, outer, item, name) ||
            read_list(graph, json_object_get(item, "layers"), &section) ||
            order_registered(graph, prefix, json_object_get(item, "registered"), first))
            return -1;
        graph->label_count = mark;
    }
    return 0;
}

static int add_block(struct graph *graph, const struct section *outer, const json_t *item,
                     const char *name)
{
    struct dimensions *dimensions = graph->dimensions;
    const uint64_t *const around[] = {dimensions->index, dimensions->outer};
    uint64_t times, index = 0;
    if (outer->depth == GRAPH_DEPTH_MOST)
        return fail_item(graph, name, "blocks are nested too deep");
    if (json_array_size(json_object_get(item, "from")) > 1)
        return fail_item(graph, name, "field 'from': a block reads one input");
    if (check_block(graph, item, name) || read_times(graph, item, name, &times) ||
        first_source(graph, outer, item, name, &graph->flowing))
        return -1;
    const bool repeats = json_object_get(item, "repeat");
    graph->repeated += repeats;
    if (repeats) {
        dimensions->outer = dimensions->index;
        dimensions->index = &index;
    }
    int result = run_block(graph, outer, item, name, times, &index);
    dimensions->index = around[0];
    dimensions->outer = around[1];
    graph->repeated -= repeats;
    return result ? -1 : add_label(graph, name, graph->flowing);
}

/* Leaves an item out. Its name then means its input. */
static int leave_out(struct graph *graph, const struct section *section, const json_t *item,
                     const char *name)
{
    size_t source;
    if (first_source(graph, section, item, name, &source))
        return -1;
    graph->flowing = source;
    return add_label(graph, name, source);
}

static int read_item(struct graph *graph, json_t *item, const struct section *section)
{
    char name[LAYER_NAME_BYTES] = "";
    struct err inner = {0};
    bool holds = true;
    if (graph->items++ == GRAPH_ITEMS_MOST)
        return fail_item(graph, "", "the blocks are repeated too often");
    if (!names_repetitions(item) && own_name(graph, item, name))
        return -1;
    const json_t *condition = json_object_get(item, "if");
    if (condition && dimensions_holds(graph->dimensions, condition, &holds, &inner)) {
        char message[sizeof inner.message + 32];
        snprintf(message, sizeof message, "field 'if': %s", inner.message);
        return fail_item(graph, name, message);
    }
    if (!holds)
        return leave_out(graph, section, item, name);
    const bool is_block = json_object_get(item, "layers") && !json_object_get(item, "type");
    return is_block ? add_block(graph, section, item, name)
                    : add_adapted(graph, section, item, name);
}

static int read_list(struct graph *graph, const json_t *list, const struct section *section)
{
    const size_t count = json_array_size(list);
    if (!json_is_array(list) || count < 1 || count > MODEL_LAYERS_MOST)
        return err_set(graph->err, ERR_INPUT, "field 'layers' must be a list of 1 to %d layers",
                       MODEL_LAYERS_MOST);
    for (size_t i = 0; i < count; i++)
        if (read_item(graph, json_array_get(list, i), section))
            return -1;
    return 0;
}

/* Adds a note that says what is trained. Refuses a name that no layer has, because it was
 * mistyped. */
static int check_tuning(const struct graph *graph)
{
    const struct tuning *tuning = graph->tuning;
    char note[160];
    size_t trained = 0;
    if (tuning->lora == 0 && !tuning->trains)
        return 0;
    for (size_t i = 0; i < graph->model->layer_count; i++)
        trained += !graph->model->layers[i].frozen;
    if (tuning->lora > 0 && graph->adapters == 0)
        return err_set(
            graph->err, ERR_INPUT,
            "no linear layer has one of the names of --lora-on, so none has an adapter; --layers "
            "--json shows the names");
    if (trained == 0)
        return err_set(
            graph->err, ERR_INPUT,
            "no layer has one of the names of --trains, so nothing is trained; --layers --json "
            "shows the names");
    snprintf(
        note, sizeof note,
        "All weights are frozen, except %s: adapters beside %zu linear layers, of rank %" PRIu64
        ", of %s, %s dropout.",
        tuning->trains ? "those that --trains names" : "the adapters", graph->adapters,
        tuning->lora, tuning_widens(tuning) ? "float32" : "the model's type",
        tuning_dropout(tuning) > 0 ? "with" : "without");
    if (tuning->lora == 0)
        snprintf(note, sizeof note, "All weights are frozen, except those that --trains names.");
    return model_note(graph->model, note, graph->err);
}

int graph_read(struct model *model, const json_t *file, struct dimensions *dimensions,
               const struct tuning *tuning, struct err *err)
{
    struct graph graph = {.model = model,
                          .dimensions = dimensions,
                          .tuning = tuning,
                          .flowing = MODEL_INPUT,
                          .err = err};
    const struct section whole = {.prefix = "", .input = MODEL_INPUT};
    int result = read_list(&graph, json_object_get(file, "layers"), &whole) ||
                         order_registered(&graph, "", json_object_get(file, "registered"), 0)
                     ? -1
                     : 0;
    if (!result && model->layer_count == 0) {
        err_set(err, ERR_INPUT, "field 'layers': the conditions leave no layer");
        result = -1;
    }
    free(graph.labels);
    return result ? result : check_tuning(&graph);
}
