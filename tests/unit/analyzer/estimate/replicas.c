/* SPDX-License-Identifier: MIT */
/*
 * The memory of each of two GPUs with DataParallel, with every byte added up by hand. The model has
 * four weights without biases.
 *
 *     in 8 x 8, 8 x 8, 8 x 8, out 8 x 4      in float32: 256, 256, 256, 128 bytes
 *
 * With batch 10 on each GPU, the input and each result have 320 bytes, except the last result,
 * which has 160. SGD has no state.
 */
#include "estimated.h"

#define LINEAR(out) "{\"type\":\"Linear\",\"bias\":false,\"out\":" #out "}"
#define LAYERS LINEAR(8) "," LINEAR(8) "," LINEAR(8) "," LINEAR(4)
enum { WEIGHTS = 896, INPUT = 320, RESULT = 320, OUTPUT = 160, LABELS = 8 * 10 };

struct fixture {
    struct model model;
    struct estimate estimate;
};

static void estimated(struct fixture *fixture, enum parallel parallel, enum logits logits,
                      const char *layers)
{
    struct settings settings = settings_standard();
    settings.parallel = parallel;
    settings.gpus = 2;
    settings.batch = 10;
    settings.logits = logits;
    settings.optimizer = OPTIMIZER_sgd;
    model_must(&fixture->model, "[8]", layers);
    estimate_must(&fixture->estimate, &fixture->model, &settings);
}

static void release(struct fixture *fixture)
{
    estimate_release(&fixture->estimate);
    model_release(&fixture->model);
}

static uint64_t phase_peak(const struct fixture *fixture, enum schedule_phase phase)
{
    return fixture->estimate.phase_peaks[phase].total_bytes;
}

/* At the end of backward the first GPU holds its gradients, their copy in one buffer, and the sum
 * of both GPUs' gradients. */
TEST(the_first_gpu_has_the_input_and_the_output_of_all_and_the_sum_of_gradients)
{
    struct fixture f;
    estimated(&f, PARALLEL_dp, LOGITS_kept, LAYERS);
    assert_int_equal(phase_peak(&f, SCHEDULE_init), WEIGHTS);
    assert_int_equal(phase_peak(&f, SCHEDULE_data), WEIGHTS + 2 * INPUT);
    assert_int_equal(phase_peak(&f, SCHEDULE_forward),
                     WEIGHTS + 2 * INPUT + 3 * RESULT + OUTPUT + 2 * OUTPUT);
    assert_int_equal(f.estimate.forward_end.total_bytes,
                     WEIGHTS + 2 * INPUT + 3 * RESULT + 2 * OUTPUT);
    assert_int_equal(phase_peak(&f, SCHEDULE_backward),
                     WEIGHTS + 2 * INPUT + 2 * OUTPUT + 3 * WEIGHTS);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer),
                     WEIGHTS + 2 * INPUT + 2 * OUTPUT + WEIGHTS);
    release(&f);
}

TEST(another_gpu_has_weights_for_a_pass_only_and_no_states)
{
    struct fixture f;
    estimated(&f, PARALLEL_dp_other, LOGITS_kept, LAYERS);
    assert_int_equal(phase_peak(&f, SCHEDULE_init), 0);
    assert_int_equal(phase_peak(&f, SCHEDULE_data), INPUT);
    assert_int_equal(f.estimate.forward_end.total_bytes, WEIGHTS + INPUT + 3 * RESULT);
    assert_int_equal(phase_peak(&f, SCHEDULE_optimizer), 0);
    release(&f);
}

/*
 * The training loop computes one loss for the outputs of both GPUs, on the first GPU: log_softmax
 * takes 2 * 160 bytes, the labels 2 * 80. The other GPU gets only the gradient of its output.
 */
TEST(a_loss_that_the_loop_computes_is_of_all_outputs_on_the_first_gpu)
{
    struct fixture f;
    estimated(&f, PARALLEL_dp, LOGITS_dropped, LAYERS ",{\"type\":\"CrossEntropyLoss\"}");
    assert_int_equal(phase_peak(&f, SCHEDULE_data), WEIGHTS + 2 * INPUT + 2 * LABELS);
    assert_in_range(f.estimate.forward_end.total_bytes,
                    WEIGHTS + 2 * INPUT + 2 * LABELS + 3 * RESULT + 2 * OUTPUT,
                    WEIGHTS + 2 * INPUT + 2 * LABELS + 3 * RESULT + 2 * OUTPUT + 8);
    release(&f);
    estimated(&f, PARALLEL_dp_other, LOGITS_dropped, LAYERS ",{\"type\":\"CrossEntropyLoss\"}");
    assert_int_equal(f.estimate.forward_end.total_bytes, WEIGHTS + INPUT + 3 * RESULT);
    release(&f);
}

UNIT_MAIN(NULL, NULL)
