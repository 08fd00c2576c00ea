# SPDX-License-Identifier: MIT
"""If the control flow of a program depends on values read from the card, the program still runs to its end in a dry
run, with sizes that are possible on a card. The dry run names exactly the lines that read a value which it did not
compute."""
import pytest
from test_pytorch_dry_run import looked
from test_pytorch_values import guessing_lines
from test_pytorch_values_alike import sequences

from support.pytorch_builds import SCRIPTS

DECISIONS = SCRIPTS / "strangers/decisions.py"


@pytest.fixture(name="saw")
def fixture_saw(dry_run):
    return lambda part: looked(dry_run(DECISIONS, part))


def lines_of(*codes):
    lines = DECISIONS.read_text(encoding="utf-8").splitlines()
    return {f"decisions.py:{number}" for code in codes for number, line in enumerate(lines, 1) if code in line}


def test_a_graph_is_pooled_by_halves_and_its_edges_stay_within_its_nodes(saw):
    before = 4000
    for nodes, edges, are_within in saw("graph"):
        assert before // 4 < nodes < before and edges and are_within
        before = nodes


def test_a_beam_search_ends_and_its_words_are_of_its_vocabulary(saw):
    seen = saw("beams")
    assert seen["words"] and seen["rows"] == 20 and 2 <= seen["length"] <= 40


def test_a_policy_takes_every_action_and_fills_its_buffer(saw):
    seen = saw("policy")
    assert seen["actions"] == [0, 1, 2, 3, 4, 5] and seen["steps"] == 64 and 0 < seen["episodes"] < 64


def test_a_detector_finds_some_boxes_and_keeps_fewer(saw):
    for pixels, above, kept in saw("detector"):
        assert 0 < kept < above < pixels


def test_sequences_without_padding_are_exactly_as_long_as_they_are(dry_run):
    recording = dry_run(DECISIONS, "packing")
    assert looked(recording) == {"joined": 800, "ends": 800, "padded": [16, 95, 256], "lengths": True}
    assert guessing_lines(recording) == {}


def test_a_critic_that_trains_until_its_distance_is_small_ends_and_its_line_is_named(dry_run):
    recording = dry_run(DECISIONS, "critic")
    assert 1 <= looked(recording) < 1000
    assert set(guessing_lines(recording)) == lines_of("distance = abs(")


def test_a_router_of_depths_chooses_each_token_once(saw):
    seen = saw("depths")
    assert seen["chosen"] == [[128, True]] * 4
    assert seen["above"] == [1024, 1024, 2048]


def test_batches_are_cut_to_their_longest_sequence(saw):
    seen = saw("lengths")
    assert seen["cut"] == [30, 40, 50]
    for frames, longest in seen["frames"]:
        assert frames == longest > 0


def test_clusters_come_to_rest_and_hold_every_point(saw):
    seen = saw("clusters")
    assert 1 <= seen["rounds"] < 3000 and seen["counts"][0] == 20000 and seen["counts"][1] > 0


def test_a_loop_that_waits_for_a_loss_to_rest_ends(saw):
    assert 1 <= saw("rest") < 3000


def test_speculation_goes_on_by_at_least_a_token(saw):
    seen = saw("speculation")
    assert seen["tokens"] >= 40 and seen["calls"] <= 32


def test_a_mask_that_is_computed_anew_selects_as_many(saw):
    assert saw("recomputed") == [256, [513, 1024]]


def test_what_was_set_is_known_and_stays_when_the_rest_is_guessed(dry_run):
    recording = dry_run(DECISIONS, "pieces")
    seen = looked(recording)
    assert seen["back"] == seen["scattered"] == [2, 1, 3, 0]
    assert seen["known"] == seen["whole"][:4] == [2.0] * 4
    assert seen["whole"] == seen["again"] and all(0 < value <= 1 for value in seen["whole"][4:] + seen["added"])
    assert len(guessing_lines(recording)) == 2


def test_counts_of_what_nobody_knows_sum_to_all_of_it(saw):
    assert saw("counts") == {"parts": [37500] * 8, "matrix": 1 << 19, "edges": 400}


def test_what_is_drawn_with_unknown_parameters_is_of_its_distribution(saw):
    assert saw("draws") == [[], [5], [5]]


def test_what_a_graph_may_have_written_is_unknown_and_not_what_lay_there_before(dry_run):
    recording = dry_run(DECISIONS, "replayed")
    before, written, beside = looked(recording)
    assert before == [7.0] * 4
    assert all(0 < value <= 1 for value in written + beside)
    assert set(guessing_lines(recording)) == lines_of("return [before, still.tolist()")


def test_a_scale_of_the_programs_own_is_halved_only_by_what_overflows(saw):
    assert saw("scales") == {"unknown": [False, False], "scale": 16384.0, "steps": 2}


@pytest.mark.parametrize("part", ["critic", "depths"])
def test_where_no_shape_depends_on_a_value_allocations_are_those_without_values(dry_run, part):
    """Compares the first 60 events, which come before any shape or loop depends on a value."""
    with_values, without = (sequences(dry_run(DECISIONS, part, **settings))[0] for settings in ({}, {"GPUMEMTRACE_VALUES": "none"}))
    same = 60
    assert len(without) > same and with_values[:same] == without[:same]
