# SPDX-License-Identifier: MIT
"""Departures of a run from its estimate, and the names of these departures. The runs are made-up steps of one linear
layer: 32 inputs, 16 outputs, batch 100, SGD.

The weights have 2048 bytes, the input has 12800, and the output and its gradient have 6400 each.
"""
import json

import pytest

from support.run import load_json, run_command
from support.tracefile import Trace

WEIGHTS, INPUT, OUTPUT = 4 * 32 * 16, 4 * 100 * 32, 4 * 100 * 16
PEAK = WEIGHTS + INPUT + OUTPUT + OUTPUT + WEIGHTS
MIB = 1 << 20


@pytest.fixture
def write(tmp_path):
    def write(name="model.json", **fields):
        path = tmp_path / name
        path.write_text(json.dumps({
            "schema": "gpumemtrace.model/1", "name": "one layer", "input": [32], "batch": 100, "optimizer": "sgd",
            "layers": [{"type": "Linear", "in": 32, "out": 16, "bias": False}], **fields}))
        return path

    return write


@pytest.fixture
def model(write):
    return write()


def record_step(trace, alloc, free, extra=0, weights=WEIGHTS):
    """Records the same step as the estimate, except that the forward pass holds `extra` more bytes."""
    def line(number, function):
        return {"stack": trace.stack(("/home/me/train.py", number, function))}

    with trace.phase("init"):
        alloc(weights, **line(3, "build"))
    with trace.phase("data"):
        alloc(INPUT, **line(7, "load"))
    with trace.phase("forward"):
        alloc(OUTPUT, **line(10, "forward"))
        if extra:
            alloc(extra, **line(11, "keep"))
    with trace.phase("backward"):
        gradient = alloc(OUTPUT, **line(12, "step"))
        weight_gradient = alloc(weights, **line(12, "step"))
        free(gradient)
    with trace.phase("optimizer"):
        free(weight_gradient)
    return trace.write()


def driver_step(path, **how):
    trace = Trace(path)
    return record_step(trace, trace.alloc, trace.free, **how)


def pool_step(path, **how):
    """Records the step in a pool whose blocks are rounded, in the form in which PyTorch reports them."""
    trace = Trace(path)
    place = [trace.alloc(2 * MIB)]

    def alloc(size, **columns):
        rounded = -(-size // 512) * 512
        address, place[0] = place[0], place[0] + rounded
        return trace.tensor(address, rounded, **columns)

    return record_step(trace, alloc, trace.tensor_free, **how)


def departures(trace, model, *options):
    device = load_json("compare", trace, model, *options)["devices"][0]
    rows = {row["name"]: row["bytes"] for row in device["departures"]}
    assert sum(rows.values()) == device["peak"]["difference_bytes"]
    assert list(map(abs, rows.values())) == sorted(map(abs, rows.values()), reverse=True)
    return rows


def answer(trace, model, *options):
    return load_json("compare", trace, model, *options)["answer"]


def test_a_run_as_estimated_departs_nowhere(tmp_path, model):
    trace = driver_step(tmp_path / "step.db")
    assert departures(trace, model) == {} and len(answer(trace, model)) == 1


def test_the_largest_departure_has_the_line_that_holds_it(tmp_path, model):
    trace = driver_step(tmp_path / "more.db", extra=5000)
    assert departures(trace, model) == {"activations": 5000}
    assert answer(trace, model)[1:] == [
        "Largest departure: Activations, 4.88 KiB more than estimated in backward (estimated for backward of layer 0 (Linear)).",
        "Most of the run's bytes of this kind are held by train.py:10 forward (6.25 KiB)."]
    trace = driver_step(tmp_path / "much.db", extra=50000)
    assert answer(trace, model)[2] == "Most of the run's bytes of this kind are held by train.py:11 keep (48.83 KiB)."


def test_what_the_run_lacks_is_named_too(tmp_path, model):
    trace = driver_step(tmp_path / "step.db")
    assert departures(trace, model, "--optimizer=adam-fused") == {"optimizer": -2 * WEIGHTS}
    assert answer(trace, model, "--optimizer=adam-fused")[1].endswith(
        "Optimizer states, 4.00 KiB less than estimated in backward (estimated for backward of layer 0 (Linear)); "
        "the run has none at its peak.")


def test_blocks_of_a_framework_are_rounded_and_those_of_the_driver_are_not(tmp_path, model):
    rounding = 2 * (-OUTPUT % 512)  # the rounding of the output and of its gradient
    assert departures(pool_step(tmp_path / "pool.db"), model) == {"rounding": rounding}


def test_a_workspace_that_the_estimate_has_and_the_run_has_not(tmp_path, model):
    assert departures(driver_step(tmp_path / "step.db"), model, "--workspace=1MiB") == {"workspace": -MIB}


def test_what_nobody_models_is_called_so(tmp_path, model):
    trace = Trace(tmp_path / "other.db")
    trace.alloc(7000)
    record_step(trace, trace.alloc, trace.free)
    device = load_json("compare", tmp_path / "other.db", model)["devices"][0]
    assert device["departures"] == [{"name": "other", "bytes": 7000, "why": "not modelled"}]


def test_peaks_in_different_phases_are_a_reason_of_their_own(tmp_path, write):
    model = write(optimizer="adamw", batch=1)
    trace = driver_step(tmp_path / "step.db")
    assert load_json("compare", trace, model)["devices"][0]["peak"]["estimated_at"] == "optimizer step"
    phases = {row["phase"]: row["estimated_bytes"] for row in load_json("compare", trace, model)["devices"][0]["phases"]}
    assert departures(trace, model)["moment"] == phases["backward"] - phases["optimizer"]


def test_buffers_that_the_trace_cannot_tell_are_no_departure(tmp_path, write):
    model = write(layers=[{"type": "BatchNorm1d"}], input=[8], batch=1, optimizer="sgd")
    trace = Trace(tmp_path / "norm.db")
    with trace.phase("init"):
        trace.alloc(64 + 72)
    assert "buffers" not in departures(trace.write(), model)


def test_segments_and_context_stand_beyond_what_was_live(tmp_path, model):
    trace = Trace(tmp_path / "pool.db")
    trace.card(1 << 34, 300 * MIB)
    place = trace.alloc(2 * MIB)
    with trace.phase("init"):
        trace.tensor(place, WEIGHTS)
    rows = {row["name"]: row for row in load_json("compare", trace.write(), model, "--context=287MiB")["devices"][0]["beyond"]}
    assert rows["segments"]["measured_bytes"] == 2 * MIB - WEIGHTS
    assert rows["segments"]["estimated_bytes"] == 2 * MIB - (PEAK + 2 * (-OUTPUT % 512))
    assert (rows["context"]["measured_bytes"], rows["context"]["estimated_bytes"]) == (300 * MIB, 287 * MIB)


# --- another model ---------------------------------------------------------------------------------

ANOTHER = "This does not look like a run of one layer."


@pytest.mark.parametrize("step", [driver_step, pool_step])
def test_a_run_of_another_model_is_told(tmp_path, model, step):
    first, why, *_ = answer(step(tmp_path / "other.db", weights=64 * WEIGHTS), model)
    assert first == ANOTHER and why.startswith("Of its 1 parameter tensors (2.00 KiB) 0 have a block of their size")
    assert "128.00 KiB count as parameters there." in why


@pytest.mark.parametrize("tolerance, status", [("2%", 1), ("100000%", 0)])
def test_a_check_tells_of_another_model_whether_its_limit_holds_or_not(tmp_path, model, tolerance, status):
    for weights, is_told in ((64 * WEIGHTS, True), (WEIGHTS, False)):
        trace = driver_step(tmp_path / f"{weights}.db", weights=weights, extra=50000)
        completed = run_command("check", f"--estimate={model}", f"--tolerance={tolerance}", trace)
        assert completed.returncode == status and (ANOTHER in completed.stdout) == is_told


@pytest.mark.parametrize("step", [driver_step, pool_step])
def test_a_run_of_the_model_is_not_called_another_however_it_departs(tmp_path, model, step):
    assert not any("does not look like" in line for line in answer(step(tmp_path / "more.db", extra=50000), model))


def model_trace(path, *weights):
    trace = Trace(path)
    with trace.phase("init"):
        for size in weights:
            trace.alloc(size)
    return trace.write()


def test_sizes_met_by_chance_do_not_make_another_model_the_run_s(tmp_path, model):
    """One of the run's parameters has a size that also occurs in the model, but most of its parameters do not."""
    first = answer(model_trace(tmp_path / "larger.db", WEIGHTS, 700000, 90000), model)[0]
    assert first.startswith("This does not look like a run of one layer")


def test_a_copy_of_the_weights_makes_no_other_model(tmp_path, model):
    assert not any("does not look like" in line for line in answer(model_trace(tmp_path / "average.db", WEIGHTS, WEIGHTS), model))


def test_parameters_that_nothing_calls_so_are_known_by_their_sizes(tmp_path, model):
    trace = Trace(tmp_path / "bare.db")
    for size in (WEIGHTS, 500, 70000):
        trace.alloc(size)
    assert not any("does not look like" in line for line in answer(trace.write(), model))


def test_parameters_in_one_piece_are_known_by_their_sum(tmp_path, write):
    two = write(layers=[{"type": "Linear", "out": 16, "bias": False}, {"type": "Linear", "out": 32, "bias": False}])
    assert "does not look like" not in answer(driver_step(tmp_path / "slab.db", weights=2 * WEIGHTS), two)[0]


def test_the_text_has_the_departures_with_their_reasons(tmp_path, model):
    trace = driver_step(tmp_path / "more.db", extra=5000)
    text = run_command("compare", trace, model, "--workspace=1MiB").stdout
    assert "From the estimated peak to the run's, by name" in text and "  Activations" in text
    assert "less than estimated" in text and "more than estimated" in text
