/* SPDX-License-Identifier: MIT */
/*
 * The parser of SPECs, which the simulated driver and the command line use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/sim_spec.h"

#define MIB ((uint64_t)1 << 20)
#define GIB ((uint64_t)1 << 30)

static struct sim_spec parse(const char *text)
{
    struct sim_spec spec;
    struct err err;
    if (sim_spec_parse(text, &spec, &err))
        fail_msg("'%s': %s", text, err.message);
    return spec;
}

static void a_bare_size_is_one_device_of_compute_capability_8_0(void **state)
{
    (void)state;
    const struct sim_spec spec = parse("16GiB");
    assert_int_equal(spec.device_count, 1);
    assert_int_equal(spec.total_bytes, 16 * GIB);
    assert_int_equal(spec.capability_major, 8);
    assert_int_equal(spec.capability_minor, 0);
    assert_string_equal(spec.device_name, "Simulated GPU (16 GiB)");
}

static void the_default_is_16GiB(void **state)
{
    (void)state;
    assert_int_equal(parse(SIM_SPEC_DEFAULT).total_bytes, 16 * GIB);
}

static void a_context_costs_300MiB_and_others_hold_nothing_unless_said(void **state)
{
    (void)state;
    const struct sim_spec spec = parse("80GiB");
    assert_int_equal(spec.context_bytes, 300 * MIB);
    assert_int_equal(spec.others_bytes, 0);
}

static void a_count_goes_before_an_x(void **state)
{
    (void)state;
    const struct sim_spec spec = parse("2x80GiB");
    assert_int_equal(spec.device_count, 2);
    assert_int_equal(spec.total_bytes, 80 * GIB);
    assert_int_equal(parse("64x1GiB").device_count, 64);
    assert_int_equal(parse("8xh100").device_count, 8);
}

static void options_follow_in_any_order(void **state)
{
    (void)state;
    const struct sim_spec one = parse("16GiB,others=3GiB,context=500MiB");
    const struct sim_spec other = parse("16GiB,context=500MiB,others=3GiB");
    assert_int_equal(one.others_bytes, 3 * GIB);
    assert_int_equal(one.context_bytes, 500 * MIB);
    assert_int_equal(other.others_bytes, one.others_bytes);
    assert_int_equal(other.context_bytes, one.context_bytes);
    assert_int_equal(parse("16GiB,context=0").context_bytes, 0);
}

static void memory_makes_a_card_smaller_and_leaves_all_else(void **state)
{
    struct sim_spec untouched = {.device_count = 7};
    struct err err = {0};
    (void)state;
    const struct sim_spec whole = parse("2xh100"), part = parse("2xh100,memory=24GiB");
    assert_int_equal(part.total_bytes, 24 * GIB);
    assert_string_equal(part.device_name, whole.device_name);
    assert_int_equal(part.context_bytes, whole.context_bytes);
    assert_int_equal(part.capability_major, 9);
    assert_int_equal(part.device_count, 2);
    assert_int_equal(sim_spec_parse("t4,memory=16GiB", &untouched, &err), -1);
    assert_non_null(strstr(err.message, "the card has less than that"));
    assert_int_equal(sim_spec_parse("any,memory=16GiB", &untouched, &err), -1);
    assert_int_equal(sim_spec_parse("t4,memory=100MiB", &untouched, &err), -1);
    assert_int_equal(untouched.device_count, 7);
}

/* The expected capacities are in hundredths of a GiB, as in PyTorch's message "total capacity of
   79.11 GiB". */
static void a_card_shows_what_was_published_and_its_capability(void **state)
{
    static const struct {
        const char *name;
        int centigib, major, minor;
    } cards[] = {
        {"h100", 7911, 9, 0},     {"h100-pcie", 7911, 9, 0}, {"h200", 13980, 9, 0},
        {"a100-40", 3939, 8, 0},  {"a100-80", 7925, 8, 0},   {"v100-16", 1578, 7, 0},
        {"v100-32", 3173, 7, 0},  {"t4", 1475, 7, 5},        {"l4", 2203, 8, 9},
        {"rtx-4090", 2364, 8, 9}, {"rtx-3090", 2370, 8, 6},  {"b200", 17835, 10, 0},
        {"a6000", 4754, 8, 6},    {"a10g", 2206, 8, 6},      {"a100-1g.5gb", 475, 8, 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        const struct sim_spec spec = parse(cards[i].name);
        assert_int_equal((spec.total_bytes * 100 + GIB / 2) / GIB, cards[i].centigib);
        assert_int_equal(spec.capability_major, cards[i].major);
        assert_int_equal(spec.capability_minor, cards[i].minor);
    }
}

static void a_card_may_be_written_without_hyphens(void **state)
{
    (void)state;
    assert_int_equal(parse("rtx4090").total_bytes, parse("rtx-4090").total_bytes);
    assert_int_equal(parse("4xrtx3090").device_count, 4);
}

static void a_card_brings_its_context_unless_said(void **state)
{
    (void)state;
    assert_int_equal(parse("rtx-3090").context_bytes, 256 * MIB);
    assert_int_equal(parse("rtx-3090,context=1GiB").context_bytes, GIB);
}

static void fractions_and_decimal_units_are_sizes_too(void **state)
{
    (void)state;
    assert_int_equal(parse("1.5GiB").total_bytes, 1536 * MIB);
    assert_int_equal(parse("16GB").total_bytes, 16000000000u);
}

static void any_has_no_limit_and_shows_1_tib(void **state)
{
    (void)state;
    const struct sim_spec spec = parse("2xany,others=3GiB");
    assert_true(spec.is_unlimited);
    assert_int_equal(spec.device_count, 2);
    assert_int_equal(spec.total_bytes, 1024 * GIB);
    assert_int_equal(spec.others_bytes, 3 * GIB);
    assert_string_equal(spec.device_name, "Simulated GPU (no limit)");
    assert_false(parse("1TiB").is_unlimited);
    assert_false(parse("h100").is_unlimited);
}

/* A refusal quotes the part of the text that is wrong, and leaves the caller's spec unchanged. */
static void refuse(const char *text, const char *quoted, const char *reason)
{
    struct sim_spec spec, before;
    struct err err = {0};
    memset(&spec, 0x5a, sizeof spec);
    before = spec;
    assert_int_equal(sim_spec_parse(text, &spec, &err), -1);
    assert_int_equal(err.code, ERR_USAGE);
    if (!strstr(err.message, quoted) || !strstr(err.message, reason))
        fail_msg("'%s' was refused with: %s", text, err.message);
    assert_memory_equal(&spec, &before, sizeof spec);
}

static void what_is_no_device_is_refused_and_quoted(void **state)
{
    (void)state;
    refuse("", "''", "neither a size nor a card");
    refuse("anything", "'anything'", "neither a size nor a card");
    refuse("h1000", "'h1000'", "neither a size nor a card");
    refuse("16 apples", "'16 apples'", "neither a size nor a card");
    refuse("2x", "'2x'", "neither a size nor a card");
    refuse("0x16GiB", "'0x16GiB'", "1 to 64 devices");
    refuse("65x16GiB", "'65x16GiB'", "1 to 64 devices");
    refuse("-1x16GiB", "'-1x16GiB'", "neither a size nor a card");
    refuse("99999999999999999999x16GiB", "x16GiB'", "1 to 64 devices");
}

static void what_is_no_option_is_refused_and_quoted(void **state)
{
    (void)state;
    refuse("16GiB,other=3GiB", "'other=3GiB'", "options are");
    refuse("16GiB,", "''", "options are");
    refuse("16GiB,others", "'others'", "options are");
    refuse("16GiB,others=", "'others='", "not a size");
    refuse("16GiB,context=lots", "'context=lots'", "not a size");
}

static void a_device_without_memory_left_is_refused(void **state)
{
    (void)state;
    refuse("16GiB,others=16GiB", "others=16GiB", "leave no memory");
    refuse("0", "'0'", "leave no memory");
    refuse("100MiB", "'100MiB'", "leave no memory");
    refuse("16GiB,others=15GiB,context=1GiB", "context=1GiB", "leave no memory");
    refuse("1GiB,others=8589934591GiB,context=2GiB", "others", "leave no memory");
}

static void a_text_without_end_is_refused(void **state)
{
    char text[1024];
    (void)state;
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuse(text, "…", "too long");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bare_size_is_one_device_of_compute_capability_8_0),
        cmocka_unit_test(the_default_is_16GiB),
        cmocka_unit_test(a_context_costs_300MiB_and_others_hold_nothing_unless_said),
        cmocka_unit_test(a_count_goes_before_an_x),
        cmocka_unit_test(memory_makes_a_card_smaller_and_leaves_all_else),
        cmocka_unit_test(options_follow_in_any_order),
        cmocka_unit_test(a_card_shows_what_was_published_and_its_capability),
        cmocka_unit_test(a_card_may_be_written_without_hyphens),
        cmocka_unit_test(a_card_brings_its_context_unless_said),
        cmocka_unit_test(fractions_and_decimal_units_are_sizes_too),
        cmocka_unit_test(any_has_no_limit_and_shows_1_tib),
        cmocka_unit_test(what_is_no_device_is_refused_and_quoted),
        cmocka_unit_test(what_is_no_option_is_refused_and_quoted),
        cmocka_unit_test(a_device_without_memory_left_is_refused),
        cmocka_unit_test(a_text_without_end_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
