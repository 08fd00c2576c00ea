/* SPDX-License-Identifier: MIT */
/*
 * The peak of a run, with every byte added up by hand: the memory of each phase, the tensors that
 * autograd keeps, and the states of optimizers.
 */
#include "estimated.h"

#define RELU "{\"type\":\"ReLU\"}"
#define RELU_INPLACE "{\"type\":\"ReLU\",\"inplace\":true}"

struct fixture {
    struct model model;
    struct estimate estimate;
};

static void estimated(struct fixture *fixture, const char *input, const char *layers,
                      struct settings settings)
{
    model_must(&fixture->model, input, layers);
    estimate_must(&fixture->estimate, &fixture->model, &settings);
}

static void release(struct fixture *fixture)
{
    estimate_release(&fixture->estimate);
    model_release(&fixture->model);
}

static struct settings training(uint64_t batch, enum optimizer optimizer)
{
    return (struct settings){
        .batch = batch, .dtype = DTYPE_float32, .optimizer = optimizer, .training = true};
}

static struct settings inference(uint64_t batch)
{
    return (struct settings){.batch = batch, .dtype = DTYPE_float32};
}

static uint64_t phase_peak(const struct fixture *fixture, enum schedule_phase phase)
{
    return fixture->estimate.phase_peaks[phase].total_bytes;
}

static uint64_t category(const struct estimate_moment *moment, enum category category)
{
    return moment->category_bytes[category];
}

/* --- the textbook's example --- */

TEST(the_fully_connected_example_takes_21248_bytes)
{
    struct fixture f;
    estimated(&f, "[32]", "{\"type\":\"Linear\",\"in\":32,\"out\":16,\"bias\":false}",
              inference(100));
    assert_int_equal(f.estimate.rule.total_bytes, 21248);
    assert_int_equal(f.estimate.peak.requested_bytes, 21248);
    release(&f);
}

TEST(the_rule_multiplies_weights_by_two_three_and_four)
{
    static const struct {
        enum optimizer optimizer;
        uint64_t weights;
    } rows[] = {{OPTIMIZER_sgd, 2}, {OPTIMIZER_momentum, 3}, {OPTIMIZER_adam, 4}};
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        estimated(&f, "[32]", "{\"type\":\"Linear\",\"out\":16,\"bias\":false}",
                  training(100, rows[i].optimizer));
        assert_int_equal(f.estimate.rule.total_bytes,
                         4 * (32 * 16 * rows[i].weights + 100 * 16 * 2 + 100 * 32));
        release(&f);
    }
}

/* --- one layer, phase by phase --- */

/* W = 4 * (8 * 4 + 4) = 144, x = 4 * 10 * 8 = 320, y = 4 * 10 * 4 = 160. */
TEST(a_linear_layer_trained_with_adam_adds_up)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4}", training(10, OPTIMIZER_adam));
    assert_int_equal(phase_peak(&f, SCHEDULE_init), 144);
    assert_int_equal(phase_peak(&f, SCHEDULE_data), 144 + 2 * 144 + 320);
    assert_int_equal(phase_peak(&f, SCHEDULE_forward), 144 + 2 * 144 + 320 + 160);
    /* Backward adds the gradients of y and of the parameters; x needs none. */
    assert_int_equal(phase_peak(&f, SCHEDULE_backward), 144 + 2 * 144 + 320 + 160 + 160 + 144);
    /* The weights, the gradients, two states and a temporary square root have 144 bytes each. x
       and y are still live. */
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 5 * 144 + 320 + 160);
    assert_int_equal(f.estimate.peak_moment.phase, SCHEDULE_backward);
    assert_int_equal(f.estimate.peak.requested_bytes, phase_peak(&f, SCHEDULE_backward));
    release(&f);
}

TEST(fused_adam_has_no_temporaries_and_sgd_no_states)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4}", training(10, OPTIMIZER_adam_fused));
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 4 * 144 + 320 + 160);
    release(&f);
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4}", training(10, OPTIMIZER_sgd));
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 2 * 144 + 320 + 160);
    release(&f);
}

TEST(an_optimizer_that_loops_needs_its_largest_parameter)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4}", training(10, OPTIMIZER_adamw_loop));
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 4 * 144 + 2 * 128 + 320 + 160);
    release(&f);
}

TEST(inference_holds_two_results_at_a_time)
{
    struct fixture f;
    /* The peak is in the second layer. It has the model's input with 4 elements per sample, and
       two results with 6 elements per sample. */
    estimated(&f, "[4]",
              "{\"type\":\"Linear\",\"out\":6,\"bias\":false},"
              "{\"type\":\"Linear\",\"out\":6,\"bias\":false},"
              "{\"type\":\"Linear\",\"out\":2,\"bias\":false}",
              inference(1));
    uint64_t weights = 4 * (24 + 36 + 12), input = 16;
    assert_int_equal(f.estimate.peak.requested_bytes, weights + input + 24 + 24);
    assert_int_equal(category(&f.estimate.peak_moment, CATEGORY_gradients), 0);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward), 0);
    release(&f);
}

/* --- tensors that autograd keeps --- */

/* The graph of autograd begins at the first layer that has parameters. */
TEST(layers_before_the_first_parameter_save_nothing)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Tanh\"}," RELU ",{\"type\":\"Linear\",\"out\":4}",
              training(10, OPTIMIZER_sgd));
    assert_int_equal(f.estimate.plan.layers[0].saved_bytes, 0);
    assert_int_equal(f.estimate.plan.layers[1].saved_bytes, 0);
    assert_int_equal(f.estimate.plan.layers[2].saved_bytes, 320);
    /* The input, ReLU's result and the output. */
    assert_int_equal(estimate_kept_bytes(&f.estimate), 320 + 320 + 160);
    release(&f);
}

TEST(a_storage_saved_by_two_layers_counts_once)
{
    struct fixture f;
    /* ReLU's result is the second layer's input. */
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":8}," RELU ",{\"type\":\"Linear\",\"out\":8}",
              training(10, OPTIMIZER_sgd));
    assert_int_equal(estimate_kept_bytes(&f.estimate), 320 + 320 + 320);
    release(&f);
}

TEST(inplace_relu_lowers_the_transient_and_not_what_is_kept)
{
    const char *format = "{\"type\":\"Linear\",\"out\":8},%s,{\"type\":\"Linear\",\"out\":1}";
    struct fixture f, inplace;
    char layers[256];
    snprintf(layers, sizeof layers, format, RELU);
    estimated(&f, "[8]", layers, training(10, OPTIMIZER_sgd));
    snprintf(layers, sizeof layers, format, RELU_INPLACE);
    estimated(&inplace, "[8]", layers, training(10, OPTIMIZER_sgd));
    assert_int_equal(estimate_kept_bytes(&f.estimate), estimate_kept_bytes(&inplace.estimate));
    assert_int_equal(phase_peak(&f, SCHEDULE_forward),
                     phase_peak(&inplace, SCHEDULE_forward) + 320 - 40);
    release(&f);
    release(&inplace);
}

TEST(inplace_silu_clones_its_input_and_saves_nothing)
{
    const char *format = "{\"type\":\"Linear\",\"out\":8},{\"type\":\"SiLU\",\"inplace\":%s}";
    struct fixture f, inplace;
    char layers[256];
    snprintf(layers, sizeof layers, format, "false");
    estimated(&f, "[8]", layers, training(10, OPTIMIZER_sgd));
    snprintf(layers, sizeof layers, format, "true");
    estimated(&inplace, "[8]", layers, training(10, OPTIMIZER_sgd));
    assert_int_equal(estimate_kept_bytes(&f.estimate), 320 + 320 + 320);
    assert_int_equal(estimate_kept_bytes(&inplace.estimate), 320 + 320 + 320);
    release(&f);
    release(&inplace);
}

TEST(inplace_on_what_backward_needs_is_refused)
{
    struct settings settings = training(1, OPTIMIZER_sgd);
    struct estimate estimate;
    struct err err = {0};
    struct model model;
    model_must(&model, "[4]",
               "{\"type\":\"Linear\",\"out\":4},{\"type\":\"Sigmoid\"}," RELU_INPLACE);
    assert_int_equal(estimate_make(&estimate, &model, &settings, &err), -1);
    assert_non_null(strstr(err.message, "layer 2 (ReLU), field 'inplace'"));
    /* Inference has no backward, so nothing needs Sigmoid's result. */
    settings = inference(1);
    estimate_must(&estimate, &model, &settings);
    estimate_release(&estimate);
    model_release(&model);
}

TEST(dropout_in_evaluation_costs_nothing)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":8},{\"type\":\"Dropout\"}", inference(10));
    assert_int_equal(f.estimate.peak.requested_bytes, 4 * 72 + 320 + 320);
    release(&f);
}

TEST(pooling_to_one_value_keeps_nothing)
{
    struct fixture f;
    const char *layers = "{\"type\":\"Conv2d\",\"out\":2,\"kernel\":1,\"bias\":false},"
                         "{\"type\":\"AdaptiveAvgPool2d\",\"output\":%d}";
    char text[256];
    snprintf(text, sizeof text, layers, 1);
    estimated(&f, "[1,4,4]", text, training(1, OPTIMIZER_sgd));
    assert_int_equal(estimate_kept_bytes(&f.estimate), 64 + 8);
    release(&f);
    snprintf(text, sizeof text, layers, 2);
    estimated(&f, "[1,4,4]", text, training(1, OPTIMIZER_sgd));
    assert_int_equal(estimate_kept_bytes(&f.estimate), 64 + 128 + 32);
    release(&f);
}

TEST(cross_entropy_keeps_log_probabilities_and_needs_two_more_in_backward)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4},{\"type\":\"CrossEntropyLoss\"}",
              training(10, OPTIMIZER_sgd));
    uint64_t before = 144 + 320 + 10 * 8; /* weights, x, classes */
    uint64_t forward = before + 160 + 160 + 4 + 4;
    assert_int_equal(phase_peak(&f, SCHEDULE_forward), forward);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward), forward + 4 + 160 + 160);
    release(&f);
}

/* MSELoss makes a result that is as large as its input, and shrinks this result in place. The
   storage keeps its size. */
TEST(mse_holds_a_storage_of_its_inputs_size)
{
    struct fixture f;
    estimated(&f, "[8]", "{\"type\":\"Linear\",\"out\":4},{\"type\":\"MSELoss\"}",
              training(10, OPTIMIZER_sgd));
    uint64_t before = 144 + 320 + 160; /* weights, x, target */
    assert_int_equal(phase_peak(&f, SCHEDULE_forward), before + 160 + 160 + 160);
    assert_int_equal(f.estimate.forward_end.total_bytes, before + 160 + 160);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward), before + 160 + 160 + 160 + 144);
    release(&f);
}

TEST(embedding_keeps_its_ids_and_has_a_dense_gradient)
{
    struct fixture f;
    estimated(&f, "[16]", "{\"type\":\"Embedding\",\"num\":100,\"dim\":4}",
              training(2, OPTIMIZER_sgd));
    assert_int_equal(category(&f.estimate.forward_end, CATEGORY_input), 2 * 16 * 8);
    assert_int_equal(f.estimate.plan.layers[0].saved_bytes, 2 * 16 * 8);
    assert_int_equal(category(&f.estimate.phase_peaks[SCHEDULE_optimizer], CATEGORY_gradients),
                     1600);
    release(&f);
}

/* --- limits --- */

TEST(a_batch_that_does_not_fit_in_64_bits_is_refused)
{
    struct settings settings = training(UINT64_C(1) << 62, OPTIMIZER_sgd);
    struct estimate estimate;
    struct err err = {0};
    struct model model;
    model_must(&model, "[4]", "{\"type\":\"Linear\",\"out\":4}");
    assert_int_equal(estimate_make(&estimate, &model, &settings, &err), -1);
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.message, "layer 0 (Linear): with batch 4611686018427387904"));
    model_release(&model);
}

TEST(sums_that_do_not_fit_in_64_bits_are_refused)
{
    struct settings settings = training(UINT64_C(1) << 58, OPTIMIZER_sgd);
    struct estimate estimate;
    struct err err = {0};
    struct model model;
    /* Each result has 2^62 bytes; the sum of the results does not fit in 64 bits. */
    model_must(&model, "[4]", RELU "," RELU "," RELU ",{\"type\":\"Linear\",\"out\":4}");
    assert_int_equal(estimate_make(&estimate, &model, &settings, &err), -1);
    assert_int_equal(err.code, ERR_INPUT);
    assert_non_null(strstr(err.message, "64 bits"));
    model_release(&model);
}

UNIT_MAIN(NULL, NULL)
