# SPDX-License-Identifier: MIT
"""The gate for continuous integration: which limits hold, which exit status says so."""
import json
import xml.etree.ElementTree

import pytest

from support.run import run_command
from support.tracefile import MIB, Trace


@pytest.fixture
def trace(tmp_path):
    """Peak 30 MiB, 20 MiB of it in forward; 10 MiB are left at the exit."""
    trace = Trace(tmp_path / "trace.db")
    trace.alloc(10 * MIB, stack=trace.stack("weights"))
    with trace.phase("forward"):
        passing = trace.alloc(10 * MIB, stack=trace.stack("activation"))
    trace.alloc(10 * MIB, stack=trace.stack("late"))
    trace.free(passing)
    trace.free(trace.next_address - 10 * MIB)
    trace.exit()
    trace.write()
    return trace


def check(*arguments):
    return run_command("check", *arguments)


def checks(*arguments):
    completed = check(*arguments, "--json")
    document = json.loads(completed.stdout)
    assert document["passed"] == (completed.returncode == 0)
    return [(c["subject"], c["passed"], c["measured_bytes"], c["limit_bytes"]) for c in document["checks"]]


def test_a_peak_within_its_limit_passes(trace):
    assert checks(trace.path, "--max-peak=30MiB") == [
        ("device 0 driver peak", True, 30 * MIB, 30 * MIB)
    ]


def test_one_byte_above_the_limit_is_broken_and_exits_1(trace):
    limit = 30 * MIB - 1
    completed = check(trace.path, f"--max-peak={limit}")
    assert completed.returncode == 1
    assert "BROKEN" in completed.stdout and "weights" in completed.stdout
    assert completed.stderr == ""


@pytest.mark.parametrize("option", ["--max-peak=", "--max-peak=phase:forward=", "--max-leak="])
def test_a_limit_that_no_trace_could_reach_is_refused(trace, option):
    assert check(trace.path, f"{option}9223372036854775807").returncode == 0
    completed = check(trace.path, f"{option}9223372036854775808")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "the most is 9223372036854775807 bytes" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


def test_it_opens_with_the_limit_that_is_broken_by_most_and_who_holds_it(trace):
    def opening(*options):
        document = json.loads(check(trace.path, *options, "--json").stdout)
        return document["answer"], (document["next"] or "").replace(str(trace.path), "FILE")

    peak = "device 0 driver peak is 30.00 MiB, the limit is"
    who = "Most at the peak is held by weights (10.00 MiB)."
    assert opening("--max-peak=30MiB") == ([f"The limit holds: {peak} 30.00 MiB."], "")
    assert opening("--max-peak=3MiB") == ([f"The limit is broken: {peak} 3.00 MiB.", who], "gpumemtrace peak FILE")
    assert opening("--max-peak=60MiB", "--max-leak=1GiB") == (
        ["All 2 limits hold; nearest to its limit of 60.00 MiB is device 0 driver peak: 30.00 MiB."], "")  # fmt: skip
    assert opening("--max-peak=3MiB", "--max-peak=1GiB") == (
        [f"1 of 2 limits are broken: {peak} 3.00 MiB.", who], "gpumemtrace peak FILE")  # fmt: skip
    assert opening("--max-peak=29MiB", "--max-leak=0") == (
        ["2 of 2 limits are broken, worst: device 0 driver live at exit is 10.00 MiB, the limit is 0 B."],
        "gpumemtrace peak --at=end FILE")  # fmt: skip


def test_limits_may_be_repeated_and_name_a_phase(trace):
    assert checks(trace.path, "--max-peak=1GiB", "--max-peak=phase:forward=20MiB", "--max-peak=phase:forward=19MiB") == [
        ("device 0 driver peak", True, 30 * MIB, 1 << 30),
        ("device 0 driver peak in forward", True, 20 * MIB, 20 * MIB),
        ("device 0 driver peak in forward", False, 20 * MIB, 19 * MIB),
    ]  # fmt: skip


def test_max_leak_limits_what_is_live_at_exit(trace):
    assert checks(trace.path, "--max-leak=10MiB") == [
        ("device 0 driver live at exit", True, 10 * MIB, 10 * MIB)
    ]
    assert check(trace.path, "--max-leak=10485759").returncode == 1


def test_a_gate_guards_the_live_bytes_of_the_leading_layer(tmp_path):
    trace = Trace(tmp_path / "pool.db")
    segment = trace.alloc(100 * MIB)
    trace.tensor(segment, 3 * MIB)
    trace.write()
    assert checks(trace.path, "--max-peak=4MiB") == [("device 0 pytorch pool peak", True, 3 * MIB, 4 * MIB)]
    assert checks(trace.path, "--max-peak=4MiB", "--layer=driver") == [
        ("device 0 driver peak", False, 100 * MIB, 4 * MIB)
    ]


def test_each_device_is_held_against_the_limit_unless_one_is_named(tmp_path):
    trace = Trace(tmp_path / "two.db")
    trace.alloc(5, device=0)
    trace.alloc(9, device=1)
    trace.write()
    assert [c[1:3] for c in checks(trace.path, "--max-peak=7")] == [(True, 5), (False, 9)]
    assert [c[1:3] for c in checks(trace.path, "--max-peak=7", "--device=0")] == [(True, 5)]


# --- baseline ---


def write(path, *blocks):
    trace = Trace(path)
    for size, *frames in blocks:
        trace.alloc(size, stack=trace.stack(*frames))
    trace.write()
    return path


def test_a_baseline_may_be_exceeded_by_the_tolerance(tmp_path):
    base = write(tmp_path / "base.db", (1000, "a"))
    for size, options, passed in [
        (1020, (), True), (1021, (), False), (1100, ("--tolerance=10%",), True),
        (1101, ("--tolerance=0.1",), False), (1001, ("--tolerance=0%",), False), (1, (), True),
    ]:  # fmt: skip
        path = write(tmp_path / f"{size}.db", (size, "a"))
        ((subject, result, measured, _),) = checks(path, f"--baseline={base}", *options)
        assert (subject, result, measured) == ("device 0 driver peak against the baseline", passed, size)


def test_the_stacks_that_grew_are_named_the_most_first(tmp_path):
    base = write(tmp_path / "base.db", (100, "a", "main"), (50, "b", "main"), (10, "gone"))
    now = write(tmp_path / "now.db", (70, "b", "main"), (100, "a", "main"), (500, "new"))
    completed = check(now, f"--baseline={base}", "--json")
    assert completed.returncode == 1
    (device,) = json.loads(completed.stdout)["devices"]
    assert [(g["frames"][0]["function"], g["before_bytes"], g["after_bytes"], g["delta_bytes"]) for g in device["grown"]] == [
        ("new", 0, 500, 500), ("b", 50, 70, 20),
    ]  # fmt: skip
    assert json.loads(completed.stdout)["answer"][1] == "What grew most since the baseline is by new (+500 B)."


def test_a_stack_is_compared_as_a_whole_whatever_phases_it_was_in(tmp_path):
    paths = []
    for name, sizes in (("base", (100, 100)), ("now", (100, 150))):
        trace = Trace(tmp_path / f"{name}.db")
        for phase, size in zip(("a", "b"), sizes):
            with trace.phase(phase):
                trace.alloc(size, stack=trace.stack("site"))
        paths.append(trace.write())
    completed = check(paths[1], f"--baseline={paths[0]}", "--json")
    ((grown,),) = [device["grown"] for device in json.loads(completed.stdout)["devices"]]
    assert (grown["before_bytes"], grown["after_bytes"]) == (200, 250)


def test_a_device_the_baseline_did_not_use_has_a_limit_of_nothing(tmp_path):
    base = write(tmp_path / "base.db", (100, "a"))
    trace = Trace(tmp_path / "now.db")
    trace.alloc(1, device=1)
    ((_, passed, measured, limit),) = checks(trace.write(), f"--baseline={base}")
    assert (passed, measured, limit) == (False, 1, 0)


# --- what cannot be told ---


def assert_refused(completed, *parts):
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert len(completed.stderr.splitlines()) == 1
    for part in parts:
        assert part in completed.stderr


def test_without_a_limit_there_is_nothing_to_check(trace):
    assert_refused(check(trace.path), "nothing to check", "--max-peak")


@pytest.mark.parametrize("limit", ["x", "-1", "phase:=1", "phase:forward", "phase:forward=x", "1XB", ""])
def test_a_limit_that_is_no_size_is_refused(trace, limit):
    assert_refused(check(trace.path, f"--max-peak={limit}"))


def test_a_phase_that_does_not_exist_cannot_pass(trace):
    assert_refused(check(trace.path, "--max-peak=phase:warmup=1GiB"), "warmup")


@pytest.mark.parametrize("meta", [{"complete": 0}, {"lost_events": 1}])
def test_a_trace_that_is_not_whole_exits_2_unless_allowed(tmp_path, meta):
    trace = Trace(tmp_path / "part.db", **meta)
    trace.alloc(5)
    trace.write()
    assert_refused(check(trace.path, "--max-peak=1GiB"), "--allow-incomplete")
    assert check(trace.path, "--max-peak=1GiB", "--allow-incomplete").returncode == 0
    assert check(trace.path, "--max-peak=1", "--allow-incomplete").returncode == 1


def test_a_baseline_that_is_not_whole_is_refused_too(trace, tmp_path):
    base = Trace(tmp_path / "base.db", complete=0)
    base.alloc(1 << 30)
    base.write()
    assert_refused(check(trace.path, f"--baseline={base.path}"), "base.db")


def test_a_baseline_that_is_no_trace_is_refused(trace):
    assert_refused(check(trace.path, "--baseline=/etc/passwd"), "/etc/passwd")


def test_asking_for_a_pool_where_there_is_none_cannot_pass(trace):
    assert_refused(check(trace.path, "--max-peak=1GiB", "--layer=pool"), "pool")


# --- formats ---


def test_junit_has_a_test_case_per_check(trace):
    completed = check(trace.path, "--max-peak=1", "--max-leak=1GiB", "--format=junit")
    assert completed.returncode == 1
    suite = xml.etree.ElementTree.fromstring(completed.stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == (
        "device 0 driver peak is 30.00 MiB (31457280 bytes), the limit is 1 B (1 bytes)"
    )


def test_several_traces_are_checked_in_one_go(trace, tmp_path):
    other = write(tmp_path / "other.db", (5, "a"))
    completed = check(trace.path, other, "--max-peak=1MiB", "--json")
    document = json.loads(completed.stdout)
    assert completed.returncode == 1
    assert [(c["trace"], c["passed"]) for c in document["checks"]] == [
        (str(trace.path), False), (str(other), True),
    ]  # fmt: skip


def test_a_program_that_used_no_gpu_is_within_any_limit(tmp_path):
    trace = Trace(tmp_path / "idle.db")
    trace.exit()
    assert check(trace.write(), "--max-peak=0").returncode == 0


def growing_trace(path, per_step, steps=10):
    trace = Trace(path)
    stack = trace.stack(("train.py", 4, "keep"))
    for step in range(1, steps + 1):
        trace.alloc(per_step(step), stack=stack)
        trace.step(step)
    trace.exit()
    trace.write()
    return path


def test_growth_per_step_is_limited(tmp_path):
    trace = growing_trace(tmp_path / "trace.db", lambda _: 1000)
    assert checks(trace, "--max-growth-per-step=1000") == [("device 0 driver growth per step", True, 1000, 1000)]
    assert checks(trace, "--max-growth-per-step=999") == [("device 0 driver growth per step", False, 1000, 999)]
    assert check(trace, "--max-growth-per-step=999").returncode == 1


def test_growth_that_a_trace_cannot_tell_is_exit_2(tmp_path):
    completed = check(growing_trace(tmp_path / "trace.db", lambda _: 1000, steps=3), "--max-growth-per-step=1GiB")
    assert completed.returncode == 2
    assert completed.stderr.endswith("cannot tell how much memory grows per step: it has too few steps\n")
