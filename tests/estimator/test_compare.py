# SPDX-License-Identifier: MIT
"""`gpumemtrace compare`: it shows measured and estimated figures side by side, for a hand-written trace and a real one.

The hand-written trace is one step of a linear layer with 32 inputs and 16 outputs, without bias, for batch 100 and SGD.
The weights have 2048 bytes, the input has 12800, and the output and its gradient have 6400 each.
"""
import json

import pytest

from support.run import ROOT, load_json
from support.tracefile import Trace

WEIGHTS, INPUT, OUTPUT = 4 * 32 * 16, 4 * 100 * 32, 4 * 100 * 16
PEAK = WEIGHTS + INPUT + OUTPUT + OUTPUT + WEIGHTS


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps({
        "schema": "gpumemtrace.model/1", "input": [32], "batch": 100, "optimizer": "sgd",
        "layers": [{"type": "Linear", "in": 32, "out": 16, "bias": False}]}))
    return path


def record_step(trace, extra=0, alloc="alloc"):
    """Records one step with the sizes of the estimate. The forward pass holds `extra` more bytes."""
    with trace.phase("init"):
        trace.alloc(WEIGHTS)
    with trace.phase("data"):
        trace.alloc(INPUT)
    with trace.phase("forward"):
        output = trace.alloc(OUTPUT)
        if extra:
            trace.alloc(extra)
    with trace.phase("backward"):
        gradient = trace.alloc(OUTPUT)
        weight_gradient = trace.alloc(WEIGHTS)
        trace.free(gradient)
    with trace.phase("optimizer"):
        trace.free(weight_gradient)
    trace.free(output)
    return trace


@pytest.fixture
def trace(tmp_path):
    return record_step(Trace(tmp_path / "step.db")).write()


def compare(trace, model, *options):
    result = load_json("compare", trace, model, *options)
    assert result["schema"] == "gpumemtrace.compare/1"
    return result


def rows(device, table, key):
    return {row[key]: row for row in device[table]}


def test_a_run_as_estimated_differs_by_nothing(trace, model):
    device = compare(trace, model)["devices"][0]
    assert device["peak"] == {
        "measured_bytes": PEAK, "estimated_bytes": PEAK, "difference_bytes": 0, "ratio": 1.0,
        "measured_phase": "backward", "estimated_at": "backward of layer 0 (Linear)"}
    for row in device["categories"] + device["phases"]:
        assert row["difference_bytes"] in (0, None), row


def test_each_category_has_its_own_bytes_on_both_sides(trace, model):
    categories = rows(compare(trace, model)["devices"][0], "categories", "category")
    for category, size in (("parameters", WEIGHTS), ("input", INPUT), ("activations", OUTPUT),
                           ("temporaries", OUTPUT), ("gradients", WEIGHTS), ("optimizer", 0)):
        assert categories[category]["measured_bytes"] == size
        assert categories[category]["estimated_bytes"] == size


def test_each_phase_has_its_own_peak_on_both_sides(trace, model):
    phases = rows(compare(trace, model)["devices"][0], "phases", "phase")
    for phase, size in (("init", WEIGHTS), ("data", WEIGHTS + INPUT),
                        ("forward", WEIGHTS + INPUT + OUTPUT), ("backward", PEAK),
                        ("optimizer", PEAK - OUTPUT)):
        assert phases[phase]["measured_bytes"] == phases[phase]["estimated_bytes"] == size


def test_what_the_run_holds_beyond_the_estimate_shows_in_its_category(tmp_path, model):
    trace = record_step(Trace(tmp_path / "more.db"), extra=5000).write()
    device = compare(trace, model)["devices"][0]
    assert device["peak"]["difference_bytes"] == 5000
    assert device["peak"]["ratio"] == pytest.approx((PEAK + 5000) / PEAK, abs=1e-4)
    categories = rows(device, "categories", "category")
    assert categories["activations"]["difference_bytes"] == 5000
    assert categories["parameters"]["difference_bytes"] == 0
    assert rows(device, "phases", "phase")["data"]["difference_bytes"] == 0
    assert rows(device, "phases", "phase")["forward"]["difference_bytes"] == 5000


def test_what_the_estimate_asks_and_the_run_lacks_is_negative(trace, model):
    device = compare(trace, model, "--optimizer=adam-fused")["devices"][0]
    optimizer = rows(device, "categories", "category")["optimizer"]
    assert optimizer["measured_bytes"] == 0
    assert optimizer["difference_bytes"] == -2 * WEIGHTS
    assert optimizer["ratio"] == 0


def test_options_change_the_estimated_side_only(trace, model):
    peak = compare(trace, model, "--batch=200")["devices"][0]["peak"]
    assert peak["measured_bytes"] == PEAK
    assert peak["estimated_bytes"] == 2 * WEIGHTS + 2 * (INPUT + OUTPUT + OUTPUT)


def test_what_is_not_modelled_is_unknown_and_not_zero(trace, model):
    categories = rows(compare(trace, model)["devices"][0], "categories", "category")
    for category in ("workspace", "context", "other"):
        assert categories[category]["measured_bytes"] == 0
        assert categories[category]["estimated_bytes"] is None
        assert categories[category]["ratio"] is None


def make_normalization(tmp_path):
    path = tmp_path / "norm.json"
    path.write_text(json.dumps({
        "schema": "gpumemtrace.model/1", "input": [8], "optimizer": "sgd",
        "layers": [{"type": "BatchNorm1d"}]}))
    return path


def test_buffers_are_counted_with_parameters_where_the_trace_cannot_tell(tmp_path):
    trace = Trace(tmp_path / "a.db")
    with trace.phase("init"):
        trace.alloc(64 + 72)
    device = compare(trace.write(), make_normalization(tmp_path))["devices"][0]
    categories = rows(device, "categories", "category")
    assert device["buffers_are_parameters"] is True
    assert categories["parameters"]["measured_bytes"] == 136
    assert categories["parameters"]["estimated_bytes"] == 136
    assert categories["buffers"]["estimated_bytes"] is None


def test_buffers_stand_alone_where_the_trace_can_tell(tmp_path):
    trace = Trace(tmp_path / "b.db")
    with trace.phase("init"):
        trace.alloc(64)
    with trace.phase("buffers"):
        trace.alloc(72)
    device = compare(trace.write(), make_normalization(tmp_path))["devices"][0]
    categories = rows(device, "categories", "category")
    assert device["buffers_are_parameters"] is False
    assert categories["parameters"]["difference_bytes"] == 0
    assert categories["buffers"]["measured_bytes"] == categories["buffers"]["estimated_bytes"] == 72


def test_phases_are_found_by_their_own_name_wherever_they_nest(tmp_path, model):
    trace = Trace(tmp_path / "nested.db")
    with trace.phase("epoch"):
        with trace.phase("train_forward"):
            trace.alloc(1000)
        with trace.phase("Optimizer.step"):
            trace.alloc(500)
    phases = rows(compare(trace.write(), model)["devices"][0], "phases", "phase")
    assert phases["forward"]["measured_bytes"] == 1000
    assert phases["optimizer"]["measured_bytes"] == 1500
    assert phases["init"]["measured_bytes"] is None


def test_a_framework_pool_is_compared_with_its_segments_too(tmp_path, model):
    trace = Trace(tmp_path / "pool.db")
    segment = trace.alloc(2 << 20)
    with trace.phase("init"):
        trace.tensor(segment, WEIGHTS)
    device = compare(trace.write(), model)["devices"][0]
    assert (device["layer"], device["pool"]) == ("pool", "pytorch")
    assert device["peak"]["measured_bytes"] == WEIGHTS
    assert device["reserved"]["measured_bytes"] == 2 << 20
    assert device["reserved"]["estimated_bytes"] == 2 << 20


def test_the_driver_layer_has_no_segments_to_compare(trace, model):
    reserved = compare(trace, model)["devices"][0]["reserved"]
    assert set(reserved.values()) == {None}


def test_the_table_of_layers_is_shown_when_asked_for(gpumemtrace, trace, model):
    assert "  Linear  " not in gpumemtrace("compare", trace, model).stdout
    assert "  Linear  " in gpumemtrace("compare", trace, model, "--layers").stdout
    assert len(compare(trace, model)["layers"]) == 1


@pytest.mark.parametrize("extra, difference", [(0, "as estimated"), (5000, "16.8 % more")])
def test_text_says_the_difference_in_its_first_line(gpumemtrace, tmp_path, model, extra, difference):
    trace = record_step(Trace(tmp_path / "step.db"), extra).write()
    completed = gpumemtrace("compare", trace, model)
    assert completed.returncode == 0, completed.stderr
    first = completed.stdout.splitlines()[0]
    assert first.startswith("Device 0, driver: the peak was ")
    assert first.endswith(f", estimated 29.00 KiB: {difference}.")


def test_bad_input_is_refused_in_one_line(gpumemtrace, trace, model, tmp_path):
    for operands, part in (
        ([trace], "TRACE MODEL"),
        ([trace, model, model], "TRACE MODEL"),
        ([trace, tmp_path / "no.json"], "no.json"),
        ([tmp_path / "no.db", model], "no.db"),
        ([model, trace], "step.db"),
        ([trace, model, "--device=7"], "device 7"),
        ([trace, model, "--optimizer=magic"], "'magic'"),
    ):
        completed = gpumemtrace("compare", *operands)
        assert completed.returncode == 2
        assert completed.stdout == ""
        assert len(completed.stderr.splitlines()) == 1
        assert completed.stderr.startswith("gpumemtrace: compare: ")
        assert part in completed.stderr


def test_the_sample_training_loop_is_within_5_percent_of_its_estimate(record, sample):
    recording = record(sample("train"), spec="4GiB")
    device = compare(recording.trace, ROOT / "samples" / "train.json")["devices"][0]
    assert device["peak"]["ratio"] == pytest.approx(1, abs=0.05)
    for row in device["phases"]:
        assert row["ratio"] == pytest.approx(1, abs=0.05), row
    for row in device["categories"]:
        if row["estimated_bytes"]:
            assert row["ratio"] == pytest.approx(1, abs=0.05), row
