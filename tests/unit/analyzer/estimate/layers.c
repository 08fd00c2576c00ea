/* SPDX-License-Identifier: MIT */
/*
 * Tests each layer type alone: the shape of the result, the parameters, the buffers, and the
 * tensors that the layer makes in addition to its result. The expected numbers are worked out by
 * hand from PyTorch's documentation.
 */
#include "analyzer/estimate/layer/layer_kinds.h"
#include "estimated.h"

/* --- one layer --- */

static void assert_shape(const char *input, const char *layer, const char *expected)
{
    char text[SHAPE_TEXT_BYTES];
    struct model model;
    model_must(&model, input, layer);
    const char *got = shape_text(&model.layers[model.layer_count - 1].output, text);
    if (strcmp(got, expected))
        fail_msg("%s makes %s, not %s", layer, got, expected);
    model_release(&model);
}

static void assert_own(const char *input, const char *layer, uint64_t parameters,
                       uint64_t buffer_bytes)
{
    struct tensors own = {0};
    struct model model;
    model_must(&model, input, layer);
    model.layers[0].kind->parameters(&model.layers[0], DTYPE_float32, &own);
    if (tensors_elements(&own, CATEGORY_parameters) != parameters)
        fail_msg("%s has %ju parameters, not %ju", layer,
                 (uintmax_t)tensors_elements(&own, CATEGORY_parameters), (uintmax_t)parameters);
    assert_int_equal(tensors_bytes(&own, CATEGORY_buffers), buffer_bytes);
    assert_false(own.checked.overflow);
    model_release(&model);
}

/* saved_bytes counts the activations that the layer makes in training in addition to its result. */
static void assert_extra(const char *input, const char *layer, uint64_t batch, enum dtype dtype,
                         uint64_t saved_bytes)
{
    struct err err = {0};
    struct model model;
    struct plan plan;
    model_must(&model, input, layer);
    struct settings settings = {
        .batch = batch, .dtype = dtype, .optimizer = OPTIMIZER_sgd, .training = true};
    if (plan_build(&plan, &model, &settings, &err))
        fail_msg("%s: %s", layer, err.message);
    uint64_t bytes = tensors_bytes(&plan.layers[0].extra, CATEGORY_activations);
    if (bytes != saved_bytes)
        fail_msg("%s makes %ju bytes, not %ju", layer, (uintmax_t)bytes, (uintmax_t)saved_bytes);
    plan_release(&plan);
    model_release(&model);
}

/* In each direction. */
static void assert_workspace(const char *input, const char *layer, uint64_t batch, uint64_t bytes)
{
    struct err err = {0};
    struct model model;
    struct plan plan;
    model_must(&model, input, layer);
    struct settings settings = {.batch = batch, .optimizer = OPTIMIZER_sgd, .training = true};
    if (plan_build(&plan, &model, &settings, &err))
        fail_msg("%s: %s", layer, err.message);
    for (int i = CONV_FORWARD; i <= CONV_FILTER; i++)
        assert_int_equal(plan.layers[0].workspace_bytes[i], bytes);
    plan_release(&plan);
    model_release(&model);
}

static void assert_refused(const char *input, const char *layers, const char *part)
{
    struct err err = {0};
    struct model model;
    if (!model_from(&model, input, layers, &err))
        fail_msg("%s was taken", layers);
    if (!strstr(err.message, part))
        fail_msg("%s: the message '%s' lacks '%s'", layers, err.message, part);
    assert_int_equal(err.code, ERR_INPUT);
}

/* --- linear and embedding --- */

TEST(linear_has_in_times_out_weights_and_a_bias)
{
    assert_own("[32]", "{\"type\":\"Linear\",\"in\":32,\"out\":16}", 32 * 16 + 16, 0);
    assert_own("[32]", "{\"type\":\"Linear\",\"in\":32,\"out\":16,\"bias\":false}", 512, 0);
    assert_shape("[32]", "{\"type\":\"Linear\",\"out\":16}", "16");
}

TEST(linear_works_on_the_last_dimension)
{
    assert_shape("[128, 768]", "{\"type\":\"Linear\",\"out\":3072}", "128 x 3072");
    assert_own("[128, 768]", "{\"type\":\"Linear\",\"out\":3072}", 768 * 3072 + 3072, 0);
}

TEST(embedding_is_a_table_and_adds_a_dimension)
{
    const char *layer = "{\"type\":\"Embedding\",\"num\":50257,\"dim\":768}";
    assert_own("[1024]", layer, 50257 * 768, 0);
    assert_shape("[1024]", layer, "1024 x 768");
}

/* --- convolution --- */

TEST(convolution_counts_each_group_on_its_own)
{
    assert_own("[3,224,224]", "{\"type\":\"Conv2d\",\"out\":64,\"kernel\":7,\"bias\":false}",
               64 * 3 * 49, 0);
    assert_own("[32,8,8]", "{\"type\":\"Conv2d\",\"out\":64,\"kernel\":3,\"groups\":32}",
               64 * 1 * 9 + 64, 0);
    assert_own("[8,100]", "{\"type\":\"Conv1d\",\"out\":4,\"kernel\":5}", 4 * 8 * 5 + 4, 0);
    assert_own("[2,9,9,9]", "{\"type\":\"Conv3d\",\"out\":4,\"kernel\":[1,2,3]}", 4 * 2 * 6 + 4, 0);
}

TEST(convolution_output_follows_stride_padding_and_dilation)
{
    /* (224 + 2*3 - 6 - 1) / 2 + 1 = 112 */
    assert_shape("[3,224,224]",
                 "{\"type\":\"Conv2d\",\"out\":64,\"kernel\":7,\"stride\":2,\"padding\":3}",
                 "64 x 112 x 112");
    /* (10 - 2*(3-1) - 1) / 1 + 1 = 6 */
    assert_shape("[1,10]", "{\"type\":\"Conv1d\",\"out\":1,\"kernel\":3,\"dilation\":2}", "1 x 6");
    assert_shape("[1,5,9]", "{\"type\":\"Conv2d\",\"out\":1,\"kernel\":[5,3],\"stride\":[1,3]}",
                 "1 x 1 x 3");
}

TEST(transposed_convolution_undoes_the_shape_of_a_convolution)
{
    const char *layer = "{\"type\":\"ConvTranspose2d\",\"out\":3,\"kernel\":4,\"stride\":2,"
                        "\"padding\":1}";
    assert_shape("[64,16,16]", layer, "3 x 32 x 32"); /* 15*2 - 2 + 3 + 0 + 1 */
    assert_own("[64,16,16]", layer, 64 * 3 * 16 + 3, 0);
    assert_shape("[1,4]",
                 "{\"type\":\"ConvTranspose1d\",\"out\":1,\"kernel\":3,\"stride\":2,"
                 "\"output_padding\":1}",
                 "1 x 10");
}

TEST(a_window_larger_than_the_padded_input_is_refused)
{
    assert_refused("[1,4,4]", "{\"type\":\"Conv2d\",\"out\":1,\"kernel\":5}", "field 'kernel'");
    assert_refused("[1,4,4]", "{\"type\":\"Conv2d\",\"out\":1,\"kernel\":3,\"dilation\":2}",
                   "3 covers 5");
    assert_shape("[1,4,4]", "{\"type\":\"Conv2d\",\"out\":1,\"kernel\":5,\"padding\":1}",
                 "1 x 2 x 2");
}

TEST(groups_have_to_divide_the_channels)
{
    assert_refused("[3,4,4]", "{\"type\":\"Conv2d\",\"out\":4,\"kernel\":1,\"groups\":2}",
                   "field 'groups'");
    assert_refused("[6,4]", "{\"type\":\"GroupNorm\",\"groups\":4}", "field 'groups'");
}

/* --- pools --- */

TEST(a_pool_steps_by_its_kernel_unless_told_otherwise)
{
    assert_shape("[64,112,112]", "{\"type\":\"MaxPool2d\",\"kernel\":2}", "64 x 56 x 56");
    assert_shape("[64,112,112]", "{\"type\":\"MaxPool2d\",\"kernel\":3,\"stride\":2,\"padding\":1}",
                 "64 x 56 x 56");
    assert_shape("[4,7]", "{\"type\":\"AvgPool1d\",\"kernel\":2}", "4 x 3");
}

TEST(ceil_mode_adds_the_partial_window_that_begins_inside)
{
    assert_shape("[4,7]", "{\"type\":\"AvgPool1d\",\"kernel\":2,\"ceil_mode\":true}", "4 x 4");
    /* A third window would begin at 6. That is beyond the input and the left padding, which end
       at 3 + 1. */
    assert_shape("[1,3]",
                 "{\"type\":\"MaxPool1d\",\"kernel\":2,\"stride\":3,\"padding\":1,"
                 "\"ceil_mode\":true}",
                 "1 x 2");
}

TEST(padding_of_more_than_half_a_pool_is_refused)
{
    assert_refused("[1,9,9]", "{\"type\":\"MaxPool2d\",\"kernel\":2,\"padding\":2}",
                   "field 'padding'");
}

TEST(adaptive_pools_end_with_the_size_they_are_given)
{
    assert_shape("[512,14,14]", "{\"type\":\"AdaptiveAvgPool2d\",\"output\":7}", "512 x 7 x 7");
    assert_shape("[512,14,14]", "{\"type\":\"AdaptiveAvgPool2d\",\"output\":[1,2]}", "512 x 1 x 2");
}

TEST(max_pools_keep_an_int64_index_for_each_result)
{
    assert_extra("[64,112,112]", "{\"type\":\"MaxPool2d\",\"kernel\":2}", 2, DTYPE_float16,
                 UINT64_C(2) * 64 * 56 * 56 * 8);
    assert_extra("[64,112,112]", "{\"type\":\"AvgPool2d\",\"kernel\":2}", 2, DTYPE_float16, 0);
}

/* --- normalization --- */

TEST(batch_norm_has_two_parameters_and_two_statistics_a_channel_and_a_counter)
{
    assert_own("[64,8,8]", "{\"type\":\"BatchNorm2d\"}", 128, 2 * 64 * 4 + 8);
    assert_own("[64]", "{\"type\":\"BatchNorm1d\",\"features\":64,\"affine\":false}", 0, 520);
    assert_own("[64,9]", "{\"type\":\"BatchNorm1d\",\"track_running_stats\":false}", 128, 0);
    assert_refused("[64,8,8]", "{\"type\":\"BatchNorm2d\",\"features\":32}", "field 'features'");
    assert_refused("[64,8]", "{\"type\":\"BatchNorm2d\"}", "needs an input of 3 dimensions");
}

TEST(statistics_of_a_batch_stay_in_single_precision)
{
    assert_extra("[64,8,8]", "{\"type\":\"BatchNorm2d\"}", 16, DTYPE_float16, 2 * 64 * 4);
    assert_extra("[64,8,8]", "{\"type\":\"BatchNorm2d\"}", 16, DTYPE_float64, 2 * 64 * 8);
}

TEST(layer_norm_has_two_parameters_and_eight_bytes_a_row)
{
    assert_own("[128,768]", "{\"type\":\"LayerNorm\"}", 2 * 768, 0);
    assert_own("[128,768]", "{\"type\":\"LayerNorm\",\"shape\":[128,768]}", 2 * 128 * 768, 0);
    assert_extra("[128,768]", "{\"type\":\"LayerNorm\"}", 4, DTYPE_bfloat16, 4 * 128 * 8);
    assert_refused("[128,768]", "{\"type\":\"LayerNorm\",\"shape\":128}", "field 'shape'");
}

TEST(rms_norm_has_one_parameter_and_four_bytes_a_row)
{
    assert_own("[128,768]", "{\"type\":\"RMSNorm\"}", 768, 0);
    assert_extra("[128,768]", "{\"type\":\"RMSNorm\"}", 4, DTYPE_float32, 4 * 128 * 4);
}

TEST(group_norm_has_eight_bytes_a_group_and_sample)
{
    assert_own("[64,8,8]", "{\"type\":\"GroupNorm\",\"groups\":32}", 128, 0);
    assert_extra("[64,8,8]", "{\"type\":\"GroupNorm\",\"groups\":32}", 4, DTYPE_float32,
                 4 * 32 * 8);
}

/* --- recurrent layers --- */

TEST(recurrent_parameters_follow_the_number_of_gates)
{
    const uint64_t i = 10, h = 20;
    assert_own("[5,10]", "{\"type\":\"LSTM\",\"hidden\":20}", 4 * h * (i + h) + 8 * h, 0);
    assert_own("[5,10]", "{\"type\":\"GRU\",\"hidden\":20}", 3 * h * (i + h) + 6 * h, 0);
    assert_own("[5,10]", "{\"type\":\"RNN\",\"hidden\":20}", h * (i + h) + 2 * h, 0);
    assert_own("[5,10]", "{\"type\":\"LSTM\",\"hidden\":20,\"bias\":false}", 4 * h * (i + h), 0);
}

TEST(stacked_and_bidirectional_layers_read_both_directions)
{
    const uint64_t i = 10, h = 20;
    uint64_t first = 2 * (4 * h * (i + h) + 8 * h), second = 2 * (4 * h * (2 * h + h) + 8 * h);
    const char *layer = "{\"type\":\"LSTM\",\"hidden\":20,\"layers\":2,\"bidirectional\":true}";
    assert_own("[5,10]", layer, first + second, 0);
    assert_shape("[5,10]", layer, "5 x 40");
}

TEST(recurrent_layers_are_linear_in_the_number_of_steps)
{
    const uint64_t n = 3, h = 20, fixed = 2 * n * h * 4 + 256;
    assert_extra("[5,10]", "{\"type\":\"LSTM\",\"hidden\":20}", n, DTYPE_float32,
                 fixed + 5 * n * h * 5 * 4);
    assert_extra("[50,10]", "{\"type\":\"LSTM\",\"hidden\":20}", n, DTYPE_float32,
                 fixed + 50 * n * h * 5 * 4);
}

/* The numbers are those of common/rnn_space.c, by hand. */
TEST(recurrent_layers_have_a_workspace_while_they_run)
{
    enum { PRODUCT = 8 << 20 };
    const uint64_t i = 10, h = 20, n = 3, steps = 5;
    const uint64_t lstm = 4 * h * (i + h) + 8 * h, gru = 3 * h * (i + h) + 6 * h;
    const uint64_t both = 2 * gru + 2 * (3 * h * (2 * h + h) + 6 * h);
    assert_workspace("[5,10]", "{\"type\":\"LSTM\",\"hidden\":20}", n,
                     PRODUCT + (lstm + 6 * n * h * steps) * 4);
    assert_workspace("[5,10]", "{\"type\":\"GRU\",\"hidden\":20}", n,
                     PRODUCT + (gru + 6 * n * h * steps) * 4);
    assert_workspace("[5,10]",
                     "{\"type\":\"GRU\",\"hidden\":20,\"layers\":2,\"bidirectional\":true}", n,
                     4 * PRODUCT + (both + 5 * 2 * n * h * steps) * 4);
    assert_workspace("[10]", "{\"type\":\"Linear\",\"out\":20}", n, 0);
}

TEST(dropout_between_recurrent_layers_keeps_a_bit_an_element_and_a_state_of_lstm)
{
    enum { PRODUCT = 8 << 20 };
    const uint64_t i = 10, h = 16, n = 4, steps = 5, values = n * h * steps;
    const uint64_t lstm = 4 * h * (i + h) + 4 * h * (h + h) + 2 * 8 * h;
    const uint64_t gru = 3 * h * (i + h) + 3 * h * (h + h) + 2 * 6 * h;
    const char *dropping = "{\"type\":\"LSTM\",\"hidden\":16,\"layers\":2,\"dropout\":0.1}";
    assert_workspace("[5,10]", dropping, n, 2 * PRODUCT + (lstm + 7 * values) * 4);
    assert_workspace("[5,10]", "{\"type\":\"LSTM\",\"hidden\":16,\"layers\":2}", n,
                     2 * PRODUCT + (lstm + 6 * values) * 4);
    assert_workspace("[5,10]", "{\"type\":\"GRU\",\"hidden\":16,\"layers\":2,\"p\":0.1}", n,
                     2 * PRODUCT + (gru + 5 * values) * 4);
    assert_extra("[5,10]", dropping, n, DTYPE_float32,
                 2 * 2 * n * h * 4 + 256 + (2 * 5 + 1) * values * 4 + values / 8);
}

/* --- the rest --- */

TEST(dropout_keeps_one_byte_an_element_or_scaled_noise_in_place)
{
    assert_extra("[100]", "{\"type\":\"Dropout\"}", 7, DTYPE_float32, 700);
    assert_extra("[100]", "{\"type\":\"Dropout\",\"inplace\":true}", 7, DTYPE_float32, 2800);
    assert_extra("[100]", "{\"type\":\"Dropout\",\"p\":0}", 7, DTYPE_float32, 0);
    assert_extra("[100]", "{\"type\":\"Dropout\",\"p\":0,\"inplace\":true}", 7, DTYPE_float32, 0);
}

TEST(flatten_joins_all_dimensions_and_a_loss_has_none)
{
    assert_shape("[512,7,7]", "{\"type\":\"Flatten\"}", "25088");
    assert_shape("[10]", "{\"type\":\"CrossEntropyLoss\"}", "scalar");
}

TEST(widths_that_contradict_the_input_are_refused)
{
    assert_refused("[32]", "{\"type\":\"Linear\",\"in\":31,\"out\":1}", "layer 0 (Linear)");
    assert_refused("[3,8,8]", "{\"type\":\"Conv2d\",\"in\":4,\"out\":1,\"kernel\":1}",
                   "field 'in': is 4, but the input has 3");
}

TEST(layers_stand_where_they_can_run)
{
    assert_refused("[4]", "{\"type\":\"MSELoss\"},{\"type\":\"ReLU\"}", "last layer");
    assert_refused("[4]", "{\"type\":\"ReLU\"},{\"type\":\"Embedding\",\"num\":2,\"dim\":2}",
                   "first layer");
}

TEST(sizes_beyond_64_bits_name_the_largest_field)
{
    assert_refused("[1099511627776]", "{\"type\":\"Linear\",\"out\":1099511627775}",
                   "field 'in': 1099511627776");
    assert_refused("[8]", "{\"type\":\"Embedding\",\"num\":1099511627776,\"dim\":1099511627776}",
                   "field 'num'");
    assert_refused("[1099511627776, 1099511627776]", "{\"type\":\"ReLU\"}", "its input");
}

TEST(every_type_of_the_table_has_a_name_and_its_functions)
{
    assert_true(layer_kind_count > 30);
    for (size_t i = 0; i < layer_kind_count; i++) {
        assert_ptr_equal(layer_kind_find(layer_kinds[i].name), &layer_kinds[i]);
        assert_int_equal(layer_kinds[i].required & ~layer_kinds[i].fields, 0);
    }
    assert_null(layer_kind_find("Linea"));
    assert_null(layer_kind_find("linear"));
}

UNIT_MAIN(NULL, NULL)
