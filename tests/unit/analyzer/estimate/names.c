/* SPDX-License-Identifier: MIT */
/* Names of element types and optimizers as people write them. */
#include "analyzer/util/name_list.h"

#include <string.h>

#include "analyzer/estimate/layer/dtype.h"
#include "analyzer/estimate/model/optimizer.h"
#include "tests/unit/unit_test.h"

static void assert_dtype(const char *text, enum dtype expected, uint64_t bytes)
{
    enum dtype dtype = DTYPE_COUNT;
    struct err err = {0};
    if (dtype_parse(text, &dtype, &err))
        fail_msg("%s", err.message);
    assert_int_equal(dtype, expected);
    assert_int_equal(dtype_bytes(dtype), bytes);
}

TEST(element_types_have_their_usual_names)
{
    assert_dtype("float32", DTYPE_float32, 4);
    assert_dtype("fp32", DTYPE_float32, 4);
    assert_dtype("torch.float32", DTYPE_float32, 4);
    assert_dtype("FP16", DTYPE_float16, 2);
    assert_dtype("half", DTYPE_float16, 2);
    assert_dtype("bf16", DTYPE_bfloat16, 2);
    assert_dtype("torch.bfloat16", DTYPE_bfloat16, 2);
    assert_dtype("double", DTYPE_float64, 8);
}

TEST(an_unknown_element_type_lists_those_there_are)
{
    static const char *const wrong[] = {"float8", "", "fp", "float32,fp32", "torch."};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        enum dtype dtype = DTYPE_COUNT;
        struct err err = {0};
        assert_int_equal(dtype_parse(wrong[i], &dtype, &err), -1);
        assert_int_equal(dtype, DTYPE_COUNT);
        assert_int_equal(err.code, ERR_USAGE);
        assert_non_null(strstr(err.message, "float32, float64, float16, bfloat16"));
    }
}

static void assert_optimizer(const char *text, enum optimizer expected, unsigned states)
{
    enum optimizer optimizer = OPTIMIZER_COUNT;
    struct err err = {0};
    if (optimizer_parse(text, &optimizer, &err))
        fail_msg("%s", err.message);
    assert_int_equal(optimizer, expected);
    assert_int_equal(optimizer_kind(optimizer)->states, states);
}

TEST(optimizers_keep_their_states)
{
    assert_optimizer("sgd", OPTIMIZER_sgd, 0);
    assert_optimizer("momentum", OPTIMIZER_momentum, 1);
    assert_optimizer("Adam", OPTIMIZER_adam, 2);
    assert_optimizer("AdamW", OPTIMIZER_adamw, 2);
    assert_optimizer("adam-fused", OPTIMIZER_adam_fused, 2);
    assert_optimizer("amsgrad", OPTIMIZER_amsgrad, 3);
    assert_optimizer("rmsprop", OPTIMIZER_rmsprop, 1);
    assert_optimizer("adagrad", OPTIMIZER_adagrad, 1);
    assert_optimizer("lion", OPTIMIZER_lion, 1);
}

TEST(an_unknown_optimizer_lists_those_there_are)
{
    enum optimizer optimizer = OPTIMIZER_COUNT;
    struct err err = {0};
    assert_int_equal(optimizer_parse("lamb", &optimizer, &err), -1);
    assert_int_equal(optimizer, OPTIMIZER_COUNT);
    assert_non_null(strstr(err.message, "'lamb'"));
    assert_non_null(strstr(err.message, "sgd, momentum, adam, adamw"));
}

TEST(a_name_is_found_whole_or_not_at_all)
{
    assert_true(name_list_has("a,bc,d", "a"));
    assert_true(name_list_has("a,bc,d", "BC"));
    assert_true(name_list_has("a,bc,d", "d"));
    assert_false(name_list_has("a,bc,d", "b"));
    assert_false(name_list_has("a,bc,d", "a,bc"));
    assert_false(name_list_has("a,bc,d", ""));
    assert_false(name_list_has("", "a"));
}

UNIT_MAIN(NULL, NULL)
