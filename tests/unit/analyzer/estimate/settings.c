/* SPDX-License-Identifier: MIT */
/*
 * The settings of a run: accumulated gradients, checkpointed segments (which run forward twice),
 * autocast, optimizers.
 */
#include "estimated.h"

#define LINEAR8 "{\"type\":\"Linear\",\"out\":8,\"bias\":false}"
#define FOUR_BLOCKS "{\"repeat\":4,\"layers\":[" LINEAR8 ",{\"type\":\"GELU\"}]}"

enum { RESULT = 64 * 8 * 4, WEIGHT = 8 * 8 * 4 }; /* bytes of 64 x 8 and 8 x 8 float32 */

struct fixture {
    struct model model;
    struct estimate estimate;
};

static void estimated(struct fixture *fixture, const char *layers, struct settings settings)
{
    model_must(&fixture->model, "[8]", layers);
    estimate_must(&fixture->estimate, &fixture->model, &settings);
}

static void release(struct fixture *fixture)
{
    estimate_release(&fixture->estimate);
    model_release(&fixture->model);
}

static struct settings of_sgd(void)
{
    struct settings settings = settings_standard();
    settings.batch = 64;
    settings.optimizer = OPTIMIZER_sgd;
    return settings;
}

static uint64_t at_peak_of(const struct fixture *fixture, enum schedule_phase phase,
                           enum category category)
{
    return fixture->estimate.phase_peaks[phase].category_bytes[category];
}

TEST(accumulated_gradients_are_there_in_forward_and_meet_new_ones)
{
    for (uint64_t batches = 1; batches < 4; batches++) {
        struct settings settings = of_sgd();
        struct fixture f;
        settings.accumulation = batches;
        settings.batch = 1;
        estimated(&f, LINEAR8, settings);
        const uint64_t before = batches > 1 ? WEIGHT : 0;
        assert_int_equal(at_peak_of(&f, SCHEDULE_forward, CATEGORY_gradients), before);
        assert_int_equal(at_peak_of(&f, SCHEDULE_backward, CATEGORY_temporaries), 8 * 4 + before);
        release(&f);
    }
}

TEST(a_checkpointed_segment_keeps_what_goes_in)
{
    /* Without segments, backward needs the input, four results of Linear and four of GELU. A
       segment keeps none of the results inside it. */
    static const struct {
        uint64_t blocks, kept;
    } rows[] = {
        {0, 9 * RESULT}, {1, 5 * RESULT}, {2, 3 * RESULT}, {3, 3 * RESULT}, {4, 2 * RESULT}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct settings settings = of_sgd();
        struct fixture f;
        settings.checkpointing.together = rows[i].blocks;
        estimated(&f, FOUR_BLOCKS, settings);
        assert_int_equal(estimate_kept_bytes(&f.estimate), rows[i].kept);
        release(&f);
    }
}

/* If all four blocks are one segment, all results are live when backward begins. The segment
   runs again, except for its last layer, whose result is still live. */
TEST(a_segment_runs_again_before_its_backward)
{
    struct settings settings = of_sgd();
    uint64_t backward[2];
    for (uint64_t whole = 0; whole < 2; whole++) {
        struct fixture f;
        settings.checkpointing.together = whole ? 4 : 0;
        estimated(&f, FOUR_BLOCKS, settings);
        backward[whole] = at_peak_of(&f, SCHEDULE_backward, CATEGORY_activations);
        release(&f);
    }
    assert_int_equal(backward[1], backward[0]);
}

TEST(a_cache_is_not_made_where_its_block_is_checkpointed)
{
    struct settings settings = of_sgd();
    struct fixture f;
    settings.checkpointing.together = 1;
    estimated(&f, "{\"repeat\":2,\"layers\":[" LINEAR8 ",{\"type\":\"Cache\"}]}", settings);
    assert_int_equal(at_peak_of(&f, SCHEDULE_backward, CATEGORY_kv_cache), 0);
    release(&f);
}

TEST(autocast_keeps_short_copies_of_inputs_and_of_weights_that_hand_gradients_on)
{
    struct settings settings = of_sgd();
    struct fixture f;
    settings.amp = DTYPE_bfloat16;
    estimated(&f, LINEAR8 "," LINEAR8, settings);
    /* The input and its bfloat16 copy, and two bfloat16 results. */
    assert_int_equal(estimate_kept_bytes(&f.estimate), RESULT + RESULT / 2 + 2 * RESULT / 2);
    /* The bfloat16 copy of the second weight. The first weight's copy is not kept, because the
     * input needs no gradient. */
    assert_int_equal(f.estimate.forward_end.category_bytes[CATEGORY_temporaries], WEIGHT / 2);
    assert_int_equal(f.estimate.parameter_bytes, 2 * WEIGHT);
    release(&f);
}

TEST(autocast_leaves_norms_in_float32)
{
    struct settings settings = of_sgd();
    struct fixture f;
    settings.amp = DTYPE_float16;
    estimated(&f, LINEAR8 ",{\"type\":\"LayerNorm\"},{\"type\":\"GELU\"}", settings);
    assert_int_equal(f.estimate.plan.layers[0].output_bytes, RESULT / 2);
    assert_int_equal(f.estimate.plan.layers[1].output_bytes, RESULT);
    /* The layer saves a float32 copy of the input, and the mean and rstd of each of the 64 rows. */
    assert_int_equal(f.estimate.plan.layers[1].saved_bytes, RESULT + 2 * 64 * 4);
    assert_int_equal(f.estimate.plan.layers[2].output_bytes, RESULT);
    release(&f);
}

static uint64_t state_bytes(enum optimizer optimizer, const char *layers)
{
    struct settings settings = of_sgd();
    struct fixture f;
    settings.optimizer = optimizer;
    estimated(&f, layers, settings);
    const uint64_t bytes = at_peak_of(&f, SCHEDULE_optimizer, CATEGORY_optimizer);
    release(&f);
    return bytes;
}

TEST(states_are_factored_quantized_paged_or_of_matrices_only)
{
    assert_int_equal(state_bytes(OPTIMIZER_adafactor, "{\"type\":\"Linear\",\"out\":16}"),
                     4 * (16 + 8 + 16));
    assert_int_equal(state_bytes(OPTIMIZER_adam8bit, "{\"type\":\"Linear\",\"out\":512}"),
                     2 * (4096 + 4 * 16) + 2 * 512 * 4);
    assert_int_equal(state_bytes(OPTIMIZER_paged_adam8bit, "{\"type\":\"Linear\",\"out\":16384}"),
                     2 * 4 * 512 + 2 * (16384 + 4 * 64));
    assert_int_equal(state_bytes(OPTIMIZER_paged_adam, "{\"type\":\"Linear\",\"out\":16384}"),
                     2 * 4 * 16384);
    assert_int_equal(state_bytes(OPTIMIZER_muon, "{\"type\":\"Linear\",\"out\":16}"),
                     4 * (16 * 8 + 2 * 16));
}

/*
 * The model has two blocks of three 8 x 8 products. The batch is 10. Each weight has 256 bytes; the
 * input, each result and each gradient of a result have 320. Selective checkpointing keeps the
 * first and the third product of a block. The third product would be kept even without this
 * setting, because it is the next block's input. So the setting makes each block keep one more
 * result.
 */
TEST(a_second_run_finds_every_second_product)
{
    static const struct {
        bool selective;
        uint64_t kept;
    } rows[] = {{false, 1}, {true, 1 + 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct model model;
        struct estimate estimate;
        struct settings settings = settings_standard();
        settings.batch = 10;
        settings.optimizer = OPTIMIZER_sgd;
        settings.checkpointing =
            (struct checkpointing){.together = 1, .selective = rows[i].selective};
        model_must(&model, "[8]",
                   "{\"repeat\":2,\"layers\":[{\"type\":\"Linear\",\"out\":8,\"bias\":false},"
                   "{\"type\":\"Linear\",\"out\":8,\"bias\":false},"
                   "{\"type\":\"Linear\",\"out\":8,\"bias\":false}]}");
        estimate_must(&estimate, &model, &settings);
        assert_int_equal(estimate.forward_end.total_bytes, 6 * 256 + 320 * (1 + rows[i].kept + 1));
        /* The peak is in the first block: gradients of four weights; input, output, two results
         * that were kept or recomputed, and the gradients of two results. */
        assert_int_equal(estimate.phase_peaks[SCHEDULE_backward].total_bytes,
                         6 * 256 + 4 * 256 + 320 * 6);
        estimate_release(&estimate);
        model_release(&model);
    }
}

/* The logits are ten rows of 4 scores, 160 bytes. With "kept", the training loop holds them
   until the step ends; with "dropped", it does not hold them. */
TEST(logits_that_are_dropped_are_gone_before_backward)
{
    uint64_t bytes[2];
    for (enum logits logits = LOGITS_kept; logits <= LOGITS_dropped; logits++) {
        struct model model;
        struct estimate estimate;
        struct settings settings = settings_standard();
        settings.batch = 10;
        settings.logits = logits;
        model_must(&model, "[8]",
                   "{\"type\":\"Linear\",\"out\":4},{\"type\":\"CrossEntropyLoss\"}");
        estimate_must(&estimate, &model, &settings);
        bytes[logits] = estimate.forward_end.total_bytes;
        estimate_release(&estimate);
        model_release(&model);
    }
    assert_int_equal(bytes[LOGITS_kept] - bytes[LOGITS_dropped], 160);
}

TEST(a_type_that_autocast_cannot_have_is_refused)
{
    enum dtype dtype = DTYPE_float64;
    struct err err = {0};
    assert_int_equal(settings_parse_autocast("float32", &dtype, &err), -1);
    assert_non_null(strstr(err.message, "bfloat16 or float16, not float32"));
    assert_int_equal(dtype, DTYPE_float64);
    assert_int_equal(settings_parse_autocast("bf16", &dtype, &err), 0);
    assert_int_equal(dtype, DTYPE_bfloat16);
}

UNIT_MAIN(NULL, NULL)
