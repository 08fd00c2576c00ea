/* SPDX-License-Identifier: MIT */
/*
 * Models whose layers form a graph, not a chain: their layers, the inputs of each layer, and the
 * bytes of a training step, added up by hand.
 */
#include "estimated.h"

#define LINEAR(name, from)                                                                         \
    "{\"type\":\"Linear\",\"name\":\"" name "\"," from "\"out\":8,\"bias\":false}"
#define RESIDUAL LINEAR("a", "") ",{\"type\":\"Add\",\"from\":[\"input\",\"a\"]}"

static void refuses(const char *layers, const char *part)
{
    struct err err = {0};
    struct model model;
    if (!model_from(&model, "[8]", layers, &err))
        fail_msg("%s was taken", layers);
    if (!strstr(err.message, part))
        fail_msg("%s: the message '%s' lacks '%s'", layers, err.message, part);
}

TEST(a_block_is_repeated_and_its_names_are_joined)
{
    struct model model;
    model_must(&model, "[8]",
               "{\"name\":\"h\",\"repeat\":3,\"layers\":[{\"name\":\"mlp\",\"layers\":[" LINEAR(
                   "up", "") "]}," LINEAR("{index * 10}", "") "]}");
    assert_int_equal(model.layer_count, 6);
    assert_string_equal(model.layers[0].name, "h.0.mlp.up");
    assert_string_equal(model.layers[3].name, "h.1.10");
    assert_string_equal(model.layers[5].name, "h.2.20");
    model_release(&model);
}

TEST(from_names_a_layer_before_and_input_is_what_the_block_reads)
{
    struct model model;
    model_must(&model, "[8]",
               LINEAR("first", "") ",{\"repeat\":2,\"layers\":[" RESIDUAL
                                   "]}," LINEAR("last", "\"from\":\"first\","));
    assert_int_equal(model.layer_count, 6);
    const size_t expected[] = {MODEL_INPUT, 0, 0, 1, 2, 2, 3, 0};
    assert_int_equal(model.input_count, 8);
    assert_memory_equal(model.inputs, expected, sizeof expected);
    model_release(&model);
}

TEST(what_a_condition_leaves_out_hands_on_what_it_would_have_read)
{
    struct model model;
    model_must(
        &model, "[8]",
        LINEAR("a", "") "," LINEAR("b", "\"if\":\"1 > 2\",") "," LINEAR("c", "\"from\":\"b\","));
    assert_int_equal(model.layer_count, 2);
    assert_int_equal(model.inputs[1], 0);
    model_release(&model);
}

/* The layer Add saves nothing, and the gradient of its result serves both of its inputs. A
   weight has 256 bytes. */
TEST(a_residual_sum_saves_nothing_and_hands_its_gradient_on)
{
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    model_must(&model, "[8]", LINEAR("w", "") ",{\"layers\":[" RESIDUAL "]}");
    settings.batch = 100;
    estimate_must(&estimate, &model, &settings);
    const uint64_t weights = 2 * 256, row = 3200; /* 100 x 8 x 4 bytes */
    /* The input, w's result (saved by a), a's result and the sum. */
    assert_int_equal(estimate.phase_peaks[SCHEDULE_forward].total_bytes, weights + 4 * row);
    /* The live bytes are: the gradient of a's weight (256); the input and w's result, which are
       saved; the sum; the gradient of the sum, which both addends share; and one more gradient,
       which a's backward makes. */
    assert_int_equal(estimate.phase_peaks[SCHEDULE_backward].total_bytes,
                     weights + 256 + 3 * row + 2 * row);
    estimate_release(&estimate);
    model_release(&model);
}

TEST(a_tied_weight_is_counted_once_and_has_two_gradients_at_once)
{
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    model_must(&model, "[2]",
               "{\"type\":\"Embedding\",\"num\":1000,\"dim\":8},"
               "{\"type\":\"Linear\",\"out\":1000,\"bias\":false,\"tied\":true}");
    estimate_must(&estimate, &model, &settings);
    assert_int_equal(estimate.parameter_count, 8000);
    assert_true(estimate.peak_moment.category_bytes[CATEGORY_gradients] == 2 * 32000);
    estimate_release(&estimate);
    model_release(&model);
}

#define TIED "{\"type\":\"Linear\",\"out\":8,\"bias\":false,\"tied\":true}"
#define FIVE(item) item "," item "," item "," item "," item

#define EIGHT "nnnnnnnn"
#define LONG EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT EIGHT

TEST(long_names_are_told_apart_to_their_end)
{
    struct model model;
    model_must(
        &model, "[8]",
        LINEAR(LONG "a", "") "," LINEAR(LONG "b", "") "," LINEAR("c", "\"from\":\"" LONG "a\","));
    assert_int_equal(model.inputs[2], 0);
    model_release(&model);
}

/* Ten layers share the weight of the first layer. Each of the ten makes a gradient of 256 bytes,
   which is live until backward ends, in addition to the gradient of the first layer. */
TEST(every_tied_weight_has_its_gradient)
{
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    model_must(&model, "[8]", LINEAR("w", "") "," FIVE(TIED) "," FIVE(TIED));
    estimate_must(&estimate, &model, &settings);
    assert_int_equal(estimate.peak_moment.category_bytes[CATEGORY_gradients], 11 * 256);
    estimate_release(&estimate);
    model_release(&model);
}

#define FACTOR "{\"type\":\"Linear\",\"name\":\"%c\",\"from\":\"input\",\"out\":8,\"bias\":false},"

TEST(a_product_keeps_all_that_it_reads)
{
    char layers[1024] = "", names[64] = "";
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    for (int name = 'a'; name < 'k'; name++) {
        const size_t used = strlen(layers), named = strlen(names);
        snprintf(layers + used, sizeof layers - used, FACTOR, name);
        snprintf(names + named, sizeof names - named, "%s\"%c\"", named ? "," : "", name);
    }
    const size_t used = strlen(layers);
    snprintf(layers + used, sizeof layers - used, "{\"type\":\"Mul\",\"from\":[%s]}", names);
    model_must(&model, "[8]", layers);
    estimate_must(&estimate, &model, &settings);
    /* The input, ten factors and the product have 32 bytes each. */
    assert_int_equal(estimate_kept_bytes(&estimate), (1 + 10 + 1) * 32);
    estimate_release(&estimate);
    model_release(&model);
}

/* The queries have 2 rows, the keys and values 4. Eager attention saves 2 heads x 2 x 4 scores; the
 * fused kernel saves a sum for each head and row instead. */
TEST(attention_reads_keys_of_another_length)
{
    static const char parts[] = "{\"type\":\"Linear\",\"name\":\"k\",\"out\":8},"
                                "{\"type\":\"Linear\",\"name\":\"v\",\"from\":\"input\",\"out\":8},"
                                "{\"type\":\"Parameter\",\"name\":\"q\",\"shape\":[2,8]},"
                                "{\"type\":\"Attention\",\"heads\":2,\"eager\":%s,"
                                "\"from\":[\"q\",\"k\",\"v\"]}";
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    uint64_t saved[2];
    for (int eager = 0; eager < 2; eager++) {
        char layers[sizeof parts + 8];
        struct estimate estimate;
        struct model model;
        snprintf(layers, sizeof layers, parts, eager ? "true" : "false");
        model_must(&model, "[4, 8]", layers);
        estimate_must(&estimate, &model, &settings);
        saved[eager] = estimate.plan.layers[3].saved_bytes;
        estimate_release(&estimate);
        model_release(&model);
    }
    /* Keys and values have 128 bytes each. The fused kernel saves its result (64) and 2 heads x 32
     * sums, because it rounds the queries up to 32. Eager attention saves a copy of the queries
     * (64); the queries themselves are a parameter. */
    assert_int_equal(saved[0], 2 * 128 + 64 + 2 * 32 * 4);
    assert_int_equal(saved[1], 64 + 2 * 128 + 2 * 2 * 4 * 4);
}

/* Returns the bytes that an Attention layer with these fields saves. It has 2 heads x 4 x 4
   scores; its queries, keys and values have 96 elements together. */
static uint64_t saved_of_attention(const char *fields, enum dtype dtype)
{
    char layers[256];
    struct settings settings = {
        .batch = 1, .dtype = dtype, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    snprintf(layers, sizeof layers,
             "{\"type\":\"Linear\",\"out\":24},{\"type\":\"Attention\",\"heads\":2,%s}", fields);
    model_must(&model, "[4, 8]", layers);
    estimate_must(&estimate, &model, &settings);
    const uint64_t saved = estimate.plan.layers[1].saved_bytes;
    estimate_release(&estimate);
    model_release(&model);
    return saved;
}

TEST(what_is_saved_of_a_score_depends_on_softmax_and_dropout)
{
    enum { SCORES = 2 * 4 * 4, QKV = 3 * 4 * 8 };
    assert_int_equal(saved_of_attention("\"eager\":true", DTYPE_float32), QKV * 4 + SCORES * 4);
    assert_int_equal(saved_of_attention("\"eager\":true,\"wide\":true", DTYPE_bfloat16),
                     QKV * 2 + SCORES * (4 + 2));
    assert_int_equal(saved_of_attention("\"eager\":true", DTYPE_bfloat16), QKV * 2 + SCORES * 2);
    assert_int_equal(saved_of_attention("\"eager\":true,\"p\":0.1", DTYPE_bfloat16),
                     QKV * 2 + SCORES * (2 + 2 + 1));
    assert_int_equal(saved_of_attention("\"eager\":true,\"wide\":true,\"p\":0.1", DTYPE_bfloat16),
                     QKV * 2 + SCORES * (4 + 2 + 1));
}

/* The result of flash attention has the layout of the queries. If the heads of the queries lie
   one after the other ("partial"), the result is copied into rows. For float32, PyTorch uses
   another kernel. */
TEST(flash_attention_of_queries_made_anew_copies_its_result)
{
    enum { RESULT = 4 * 8 };
    assert_int_equal(saved_of_attention("\"partial\":true", DTYPE_bfloat16) -
                         saved_of_attention("\"partial\":false", DTYPE_bfloat16),
                     RESULT * 2);
    assert_int_equal(saved_of_attention("\"partial\":true", DTYPE_float32),
                     saved_of_attention("\"partial\":false", DTYPE_float32));
}

TEST(a_cache_is_a_copy_that_is_there_until_the_step_ends)
{
    struct settings settings = {
        .batch = 1, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    model_must(&model, "[8]", LINEAR("a", "") ",{\"type\":\"Cache\"}," LINEAR("b", ""));
    estimate_must(&estimate, &model, &settings);
    const struct estimate_moment *stepping = &estimate.phase_peaks[SCHEDULE_optimizer];
    assert_int_equal(stepping->category_bytes[CATEGORY_kv_cache], 32);
    assert_int_equal(estimate.phase_peaks[SCHEDULE_data].category_bytes[CATEGORY_kv_cache], 0);
    estimate_release(&estimate);
    model_release(&model);
}

/* Two parts, each 8 elements of the 24, share one gradient of the whole tensor, which has 96
   bytes per sample. The gradient of their sum has 32 bytes. */
TEST(parts_share_storage_and_the_gradient_of_the_whole)
{
    static const char parts[] = "{\"type\":\"Linear\",\"name\":\"all\",\"out\":24,\"bias\":false},"
                                "{\"type\":\"Part\",\"name\":\"a\",\"out\":8},"
                                "{\"type\":\"Part\",\"name\":\"b\",\"from\":\"all\",\"out\":8},"
                                "{\"type\":\"Add\",\"from\":[\"a\",\"b\"]}";
    struct settings settings = {
        .batch = 64, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    struct estimate estimate;
    struct model model;
    model_must(&model, "[8]", parts);
    estimate_must(&estimate, &model, &settings);
    assert_int_equal(estimate.phase_peaks[SCHEDULE_backward].category_bytes[CATEGORY_temporaries],
                     64 * (96 + 32));
    assert_int_equal(estimate.plan.layers[1].output_bytes, 64 * 32);
    assert_int_equal(estimate.forward_end.category_bytes[CATEGORY_activations], 64 * 32);
    estimate_release(&estimate);
    model_release(&model);
    refuses("{\"type\":\"Part\",\"out\":9}", "not a part of a width of 8");
}

/* The kernel for 768 sums over 64 x 197 rows needs a buffer for 197 blocks of 128 threads. */
TEST(the_gradient_of_a_bias_needs_a_buffer_for_its_sum)
{
    struct settings settings = {
        .batch = 64, .dtype = DTYPE_float32, .optimizer = OPTIMIZER_sgd, .training = true};
    uint64_t temporaries[2];
    for (int bias = 0; bias < 2; bias++) {
        struct estimate estimate;
        struct model model;
        model_must(&model, "[197, 768]",
                   bias ? "{\"type\":\"Linear\",\"out\":768}"
                        : "{\"type\":\"Linear\",\"out\":768,\"bias\":false}");
        estimate_must(&estimate, &model, &settings);
        temporaries[bias] = estimate.peak_moment.category_bytes[CATEGORY_temporaries];
        estimate_release(&estimate);
        model_release(&model);
    }
    assert_int_equal(temporaries[1] - temporaries[0], 768 * 4 * 197 * 128);
}

TEST(a_graph_that_cannot_be_is_refused)
{
    refuses(LINEAR("a", "\"from\":\"b\","), "nothing before it is called 'b'");
    refuses(LINEAR("front", "") "," LINEAR("a", "\"from\":\"fornt\","), "did you mean 'front'?");
    refuses(LINEAR("a", "\"from\":[\"input\",\"input\"],"), "reads one input, not 2");
    refuses("{\"type\":\"Linear\",\"name\":\"a\",\"out\":9},{\"type\":\"Add\",\"from\":[\"a\","
            "\"input\"]}",
            "do not fit: 9 and 8");
    refuses("{\"repeat\":-1,\"layers\":[" LINEAR("a", "") "]}", "'repeat'");
    refuses("{\"repeat\":\"1 / 0\",\"layers\":[" LINEAR("a", "") "]}", "division by zero");
    refuses("{\"repeat\":10000,\"layers\":[" LINEAR("a", "") "," LINEAR("b", "") "]}",
            "too many layers");
    refuses("{\"repeat\":10000,\"layers\":[{\"repeat\":10000,\"layers\":[" LINEAR(
                "a", "\"if\":false,") "]}]}",
            "repeated too often");
    refuses("{\"repat\":2,\"layers\":[" LINEAR("a", "") "]}", "no field 'repat'");
    refuses("{\"repeat\":0,\"layers\":[" LINEAR("a", "") "]}", "leave no layer");
    refuses(LINEAR("a", "") ",{\"type\":\"Parameter\",\"shape\":3}", "cannot be the last");
    refuses("{\"type\":\"Linear\",\"out\":\"index\"}", "in the layers of a repeated block only");
    refuses(LINEAR("a", "") ",{\"type\":\"Add\"}", "at least two names");
    refuses(LINEAR("input", ""), "cannot be 'input'");
    refuses(LINEAR("a", "") ",{\"from\":[\"a\",\"a\"],\"layers\":[" LINEAR("b", "") "]}",
            "a block reads one input");
    refuses("{\"type\":\"Linear\",\"out\":1099511627776,\"bias\":false},"
            "{\"type\":\"Linear\",\"out\":1099511627776,\"bias\":false,\"tied\":true}",
            "too large to count");
    refuses("{\"type\":\"View\",\"shape\":[1,8]},{\"type\":\"Attention\",\"heads\":4,"
            "\"kv_heads\":3}",
            "does not divide 4 heads");
    refuses("{\"type\":\"View\",\"name\":\"v\",\"shape\":[1,8]},{\"type\":\"Attention\","
            "\"heads\":4,\"from\":[\"v\",\"v\"]}",
            "one input or three");
}

UNIT_MAIN(NULL, NULL)
