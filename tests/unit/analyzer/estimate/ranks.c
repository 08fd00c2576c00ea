/* SPDX-License-Identifier: MIT */
/*
 * The memory of one of two GPUs, with every byte added up by hand. The model has four weights
 * without biases, two of them in blocks. "in" and "out" are the root unit of FSDP.
 *
 *     in 8 x 8, block 8 x 8, block 8 x 8, out 8 x 4      256, 256, 256, 128 bytes in float32;
 *                                                        a rank's shard is half of each
 *
 * With batch 10, the input and each result have 320 bytes, except the last result, which has 160.
 * SGD has no state. Two steps are run.
 */
#include "estimated.h"

#define LINEAR(out) "{\"type\":\"Linear\",\"bias\":false,\"out\":" #out "}"
#define LAYERS LINEAR(8) ",{\"name\":\"h\",\"repeat\":2,\"layers\":[" LINEAR(8) "]}," LINEAR(4)

struct fixture {
    struct model model;
    struct estimate estimate;
};

static void estimated(struct fixture *fixture, struct settings settings)
{
    settings.batch = 10;
    settings.optimizer = OPTIMIZER_sgd;
    model_must(&fixture->model, "[8]", LAYERS);
    estimate_must(&fixture->estimate, &fixture->model, &settings);
}

static void release(struct fixture *fixture)
{
    estimate_release(&fixture->estimate);
    model_release(&fixture->model);
}

static struct settings shared(enum parallel parallel)
{
    struct settings settings = settings_standard();
    settings.parallel = parallel;
    settings.gpus = 2;
    return settings;
}

static uint64_t phase_peak(const struct fixture *fixture, enum schedule_phase phase)
{
    return fixture->estimate.phase_peaks[phase].total_bytes;
}

/* --- DistributedDataParallel --- */

/* The weights have 896 bytes and the gradients 896. At first there are broadcast buffers of 896
   bytes; later there are buckets of 896 instead. The input has 320 bytes, the output 160. */
TEST(ddp_holds_buckets_besides_gradients)
{
    struct fixture f;
    estimated(&f, shared(PARALLEL_ddp));
    assert_int_equal(phase_peak(&f, SCHEDULE_init), 896 + 896);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 896 + 896 + 896 + 320 + 160);
    assert_int_equal(
        f.estimate.phase_peaks[SCHEDULE_optimizer].category_bytes[CATEGORY_communication], 896);
    release(&f);
}

/* The gradients are views of the buckets, which stay while the next batch runs forward. */
TEST(gradients_that_are_views_of_buckets_are_there_once_and_stay)
{
    struct fixture f;
    estimated(&f, shared(PARALLEL_ddp_view));
    assert_int_equal(phase_peak(&f, SCHEDULE_data), 896 + 896 + 320);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 896 + 896 + 320 + 160);
    assert_int_equal(f.estimate.phase_peaks[SCHEDULE_data].category_bytes[CATEGORY_gradients], 896);
    release(&f);
}

/* From the second step on, buckets are filled beginning with the last layer: the first bucket
   has 1 MiB + 4 B, the second 4 B. Rounding to 512 B adds 508 B to each. */
TEST(the_first_bucket_is_small_and_no_tensor_is_cut)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_ddp);
    settings.optimizer = OPTIMIZER_sgd;
    model_must(&f.model, "[1]", LINEAR(1) "," LINEAR(262145));
    estimate_must(&f.estimate, &f.model, &settings);
    const struct estimate_moment *second = &f.estimate.forward_end;
    assert_int_equal(second->category_bytes[CATEGORY_communication], (1 << 20) + 4 + 4);
    assert_int_equal(second->rounding_bytes[CATEGORY_communication], 508 + 508);
    release(&f);
}

/* --- FSDP 2 --- */

/*
 * The shards have 448 bytes: the root unit's 192, each block's 128.
 *
 * The peak of forward is in block 2: shards, input, the root's weights 384, three results of 320,
 * block 2's weights 256 and its all-gather buffer 256. The first block's buffer is freed by then.
 *
 * The peak of backward is in block 2, too: shards, input, output 160, the root's weights 384, the
 * gradient of out 128, the results of in and block 1, two gradients of results, block 2's weights
 * and their gradient, and the all-gather buffer of block 1, which comes next.
 */
TEST(fsdp_gathers_a_block_at_a_time_and_keeps_the_rest)
{
    struct fixture f;
    estimated(&f, shared(PARALLEL_fsdp2));
    assert_int_equal(phase_peak(&f, SCHEDULE_init), 448);
    assert_int_equal(phase_peak(&f, SCHEDULE_data), 448 + 320);
    assert_int_equal(phase_peak(&f, SCHEDULE_forward), 448 + 320 + 384 + 3 * 320 + 256 + 256);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward),
                     448 + 320 + 160 + 384 + 128 + 2 * 320 + 2 * 320 + 256 + 256 + 256);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 448 + 448 + 320 + 160);
    release(&f);
}

/*
 * The model computes in bfloat16, and gradients are reduced in float32. The peak of backward is in
 * block 1: shards 448, input 160, output 80, the root's weights 192, out's gradient 64, in's result
 * 160, two gradients of results, the block's weights 128 and their gradient 128; the float32
 * gradient of block 2 that is being reduced 256, and this rank's shard of it 128.
 */
TEST(fsdp_computes_in_one_type_and_reduces_in_another)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_fsdp2);
    settings.param_dtype = DTYPE_bfloat16;
    settings.reduce_dtype = DTYPE_float32;
    estimated(&f, settings);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward),
                     448 + 160 + 80 + 192 + 64 + 160 + 2 * 160 + 128 + 128 + 256 + 128);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 448 + 448 + 160 + 80);
    release(&f);
}

/*
 * The weights are "in" 8 x 8, blocks 8 x 8 and 8 x 16, "out" 16 x 2, with 256, 256, 512 and 128
 * bytes. A rank's shards have half of that, 576 bytes. At the end of forward there are also the
 * input 320, results of 320, 320 and 640, and the output 80.
 */
TEST(reshard_says_which_weights_stay_for_backward)
{
    static const struct {
        enum reshard reshard;
        uint64_t kept;
    } rows[] = {{RESHARD_auto, 256 + 128},
                {RESHARD_always, 0},
                {RESHARD_never, 256 + 256 + 512 + 128},
                {RESHARD_but_last, 512}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fixture f;
        struct settings settings = shared(PARALLEL_fsdp2);
        settings.reshard = rows[i].reshard;
        settings.batch = 10;
        settings.optimizer = OPTIMIZER_sgd;
        model_must(
            &f.model, "[8]",
            LINEAR(8) ",{\"name\":\"h\",\"repeat\":2,\"layers\":["
                      "{\"type\":\"Linear\",\"bias\":false,\"out\":\"8 + 8 * index\"}]}," LINEAR(
                          2));
        estimate_must(&f.estimate, &f.model, &settings);
        assert_int_equal(f.estimate.forward_end.total_bytes,
                         576 + 320 + 320 + 320 + 640 + 80 + rows[i].kept);
        release(&f);
    }
}

/*
 * In FSDP 1, the root unit and each block are one flat parameter each, of 384, 256 and 256 bytes.
 * This rank has half of each. The root's weights are still gathered when forward ends.
 */
TEST(a_flat_unit_is_gathered_in_place_and_its_gradients_are_put_together)
{
    struct fixture f;
    estimated(&f, shared(PARALLEL_fsdp1));
    assert_int_equal(f.estimate.load.requested_bytes, 448);
    assert_int_equal(phase_peak(&f, SCHEDULE_forward), 448 + 320 + 384 + 3 * 320 + 256);
    assert_int_equal(f.estimate.forward_end.total_bytes, 448 + 320 + 384 + 3 * 320 + 160);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 448 + 448 + 320 + 160);
    release(&f);
}

/* The root's flat parameter has 64 elements of in, then 32 of out; the first of three ranks has 32,
 * all of them from in. A block's 64 elements are padded, so that each rank has 22. */
TEST(a_flat_units_first_rank_has_whole_parameters_and_a_part_of_the_last)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_fsdp1);
    settings.gpus = 3;
    estimated(&f, settings);
    assert_int_equal(f.estimate.plan.parameters[0].elements, 96 / 3);
    assert_int_equal(f.estimate.plan.parameters[3].elements, 0);
    assert_int_equal(f.estimate.plan.units[1].gather_bytes, 4 * 22);
    release(&f);
}

/* 8 rows cannot be divided equally among 3 ranks: the first rank has 3 rows, and the gathered
   weight is padded to 9 rows. */
TEST(the_first_rank_has_the_larger_part)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_fsdp2);
    settings.gpus = 3;
    estimated(&f, settings);
    assert_int_equal(phase_peak(&f, SCHEDULE_init), 4 * (3 * 3 * 8 + 2 * 8));
    assert_int_equal(f.estimate.plan.parameters[0].gathered_bytes, 4 * 9 * 8);
    assert_int_equal(f.estimate.plan.parameters[0].gradient_bytes, 4 * 8 * 8);
    release(&f);
}

/* --- ZeRO --- */

enum { BUCKET = 2 * 500000000 };

/*
 * Stage 2, in bfloat16: the weights have 448 bytes. The float32 copy of this rank's half, which the
 * optimizer updates, has 448. At the end of backward there are also the bucket and a copy of its
 * 448 used bytes. During the optimizer's step there are also this rank's half of the gradients,
 * 224, and the float32 copy of this half, 448.
 */
TEST(zero_keeps_a_part_of_what_is_updated_and_a_bucket_for_backward)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_zero2);
    settings.param_dtype = DTYPE_bfloat16;
    estimated(&f, settings);
    assert_int_equal(f.estimate.load.requested_bytes, 448 + 448);
    assert_int_equal(f.estimate.forward_end.total_bytes, 448 + 448 + 160 + 3 * 160 + 80);
    assert_true(phase_peak(&f, SCHEDULE_backward) >= 448 + 448 + 160 + 80 + BUCKET + 448);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 448 + 448 + 160 + 80 + 224 + 448);
    release(&f);
}

/* In stage 3 the bucket stays, and so does this rank's half of the weights (224 bytes), of the
   gradients (224) and of the float32 copy (448). All blocks (448) stay gathered until backward. */
TEST(zero_3_keeps_parts_and_the_bucket)
{
    struct fixture f;
    struct settings settings = shared(PARALLEL_zero3);
    settings.param_dtype = DTYPE_bfloat16;
    estimated(&f, settings);
    assert_int_equal(f.estimate.load.requested_bytes, 224 + 224 + 448 + BUCKET);
    assert_int_equal(f.estimate.forward_end.total_bytes,
                     224 + 224 + 448 + BUCKET + 160 + 3 * 160 + 80 + 448);
    release(&f);
}

/* --- settings that exclude each other --- */

static void refused(struct settings settings, const char *part)
{
    struct err err = {0};
    assert_int_equal(settings_check(&settings, &err), -1);
    if (!strstr(err.message, part))
        fail_msg("'%s' lacks '%s'", err.message, part);
}

TEST(what_is_not_estimated_is_refused_and_not_ignored)
{
    struct settings settings = settings_standard();
    struct err err = {0};
    enum parallel parallel;
    assert_int_equal(settings_check(&settings, &err), 0);
    settings.gpus = 8;
    refused(settings, "--parallel=HOW");
    settings = shared(PARALLEL_ddp);
    settings.gpus = 1;
    refused(settings, "--gpus=N, 2 or more");
    settings = shared(PARALLEL_ddp);
    settings.param_dtype = DTYPE_bfloat16;
    refused(settings, "'--param-dtype' needs --parallel=fsdp2");
    settings = shared(PARALLEL_ddp);
    settings.reshard = RESHARD_never;
    refused(settings, "'--reshard' needs --parallel=fsdp2");
    settings = shared(PARALLEL_fsdp1);
    settings.reshard = RESHARD_always;
    refused(settings, "FULL_SHARD or SHARD_GRAD_OP");
    settings = shared(PARALLEL_fsdp2);
    settings.optimizer = OPTIMIZER_muon;
    refused(settings, "Muon");
    settings = shared(PARALLEL_fsdp2);
    settings.checkpointing.together = 2;
    refused(settings, "--checkpointing=2");
    assert_int_equal(parallel_parse("megatron", &parallel, &err), -1);
    assert_non_null(strstr(
        err.message, "'megatron' is not estimated; known are none, dp, dp-other, ddp, ddp-view"));
}

UNIT_MAIN(NULL, NULL)
