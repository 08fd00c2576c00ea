/* SPDX-License-Identifier: MIT */
/*
 * The parser of SPECs, which the simulated driver and the command line use.
 */
#include <string.h>

#include "common/sim_spec.h"
#include "tests/unit/unit_test.h"

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

TEST(a_bare_size_is_one_device_of_compute_capability_8_0)
{
    const struct sim_spec spec = parse("16GiB");
    assert_int_equal(spec.device_count, 1);
    assert_int_equal(spec.total_bytes, 16 * GIB);
    assert_int_equal(spec.capability_major, 8);
    assert_int_equal(spec.capability_minor, 0);
    assert_string_equal(spec.device_name, "Simulated GPU (16 GiB)");
}

TEST(the_default_is_16GiB)
{
    assert_int_equal(parse(SIM_SPEC_DEFAULT).total_bytes, 16 * GIB);
}

TEST(a_context_costs_300MiB_and_others_hold_nothing_unless_said)
{
    const struct sim_spec spec = parse("80GiB");
    assert_int_equal(spec.context_bytes, 300 * MIB);
    assert_int_equal(spec.others_bytes, 0);
}

TEST(a_count_goes_before_an_x)
{
    const struct sim_spec spec = parse("2x80GiB");
    assert_int_equal(spec.device_count, 2);
    assert_int_equal(spec.total_bytes, 80 * GIB);
    assert_int_equal(parse("64x1GiB").device_count, 64);
    assert_int_equal(parse("8xh100").device_count, 8);
}

TEST(options_follow_in_any_order)
{
    const struct sim_spec one = parse("16GiB,others=3GiB,context=500MiB");
    const struct sim_spec other = parse("16GiB,context=500MiB,others=3GiB");
    assert_int_equal(one.others_bytes, 3 * GIB);
    assert_int_equal(one.context_bytes, 500 * MIB);
    assert_int_equal(other.others_bytes, one.others_bytes);
    assert_int_equal(other.context_bytes, one.context_bytes);
    assert_int_equal(parse("16GiB,context=0").context_bytes, 0);
}

TEST(memory_makes_a_card_smaller_and_leaves_all_else)
{
    struct sim_spec untouched = {.device_count = 7};
    struct err err = {0};
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
TEST(a_card_shows_what_was_published_and_its_capability)
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
    for (size_t i = 0; i < sizeof cards / sizeof cards[0]; i++) {
        const struct sim_spec spec = parse(cards[i].name);
        assert_int_equal((spec.total_bytes * 100 + GIB / 2) / GIB, cards[i].centigib);
        assert_int_equal(spec.capability_major, cards[i].major);
        assert_int_equal(spec.capability_minor, cards[i].minor);
    }
}

TEST(a_card_may_be_written_without_hyphens)
{
    assert_int_equal(parse("rtx4090").total_bytes, parse("rtx-4090").total_bytes);
    assert_int_equal(parse("4xrtx3090").device_count, 4);
}

TEST(a_card_brings_its_context_unless_said)
{
    assert_int_equal(parse("rtx-3090").context_bytes, 256 * MIB);
    assert_int_equal(parse("rtx-3090,context=1GiB").context_bytes, GIB);
}

TEST(fractions_and_decimal_units_are_sizes_too)
{
    assert_int_equal(parse("1.5GiB").total_bytes, 1536 * MIB);
    assert_int_equal(parse("16GB").total_bytes, 16000000000u);
}

TEST(any_has_no_limit_and_shows_1_tib)
{
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

TEST(what_is_no_device_is_refused_and_quoted)
{
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

TEST(what_is_no_option_is_refused_and_quoted)
{
    refuse("16GiB,other=3GiB", "'other=3GiB'", "options are");
    refuse("16GiB,", "''", "options are");
    refuse("16GiB,others", "'others'", "options are");
    refuse("16GiB,others=", "'others='", "not a size");
    refuse("16GiB,context=lots", "'context=lots'", "not a size");
}

TEST(a_device_without_memory_left_is_refused)
{
    refuse("16GiB,others=16GiB", "others=16GiB", "leave no memory");
    refuse("0", "'0'", "leave no memory");
    refuse("100MiB", "'100MiB'", "leave no memory");
    refuse("16GiB,others=15GiB,context=1GiB", "context=1GiB", "leave no memory");
    refuse("1GiB,others=8589934591GiB,context=2GiB", "others", "leave no memory");
}

TEST(a_text_without_end_is_refused)
{
    char text[1024];
    memset(text, '1', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    refuse(text, "…", "too long");
}

UNIT_MAIN(NULL, NULL)
