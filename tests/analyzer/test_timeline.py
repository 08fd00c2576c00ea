# SPDX-License-Identifier: MIT
"""Live bytes over time, thinned without losing a peak."""
import pytest

from support.run import load_json, run_command
from support.tracefile import Trace


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db")


def samples(trace, *options):
    if not trace.path.exists():
        trace.write()
    (device,) = load_json("timeline", trace.path, *options)["devices"]
    return [(s["time_ns"], s["live_bytes"], s["lowest_bytes"]) for s in device["timeline"]]


def test_each_sample_holds_the_most_and_the_least_of_its_time(trace):
    a = trace.alloc(10)  # 1000 ns
    trace.alloc(5)  # 2000
    trace.free(a)  # 3000
    trace.alloc(1)  # 4000
    # 4001 ns in two cuts of 2001: until 2000 and until 4001.
    assert samples(trace, "--samples=2") == [(2000, 15, 0), (4002, 15, 5)]


def test_a_peak_between_two_samples_is_not_lost(trace):
    trace.alloc(1)
    for _ in range(500):
        trace.free(trace.alloc(2))
    spike = trace.alloc(1_000_000)
    trace.free(spike)
    for _ in range(500):
        trace.free(trace.alloc(2))
    result = samples(trace, "--samples=10")
    assert len(result) == 10
    assert max(live for _, live, _ in result) == 1_000_001


def test_the_number_of_samples_is_bounded(trace):
    for _ in range(2000):
        trace.free(trace.alloc(2))
    assert len(samples(trace)) == 500
    rows = [line for line in run_command("timeline", trace.path).stdout.splitlines() if "##" in line]
    assert len(rows) == 40


def test_times_rise(trace):
    for _ in range(100):
        trace.alloc(3)
    times = [time for time, *_ in samples(trace, "--samples=17")]
    assert times == sorted(times)


def test_without_events_there_is_no_timeline(trace):
    assert load_json("timeline", trace.write())["devices"] == []


def test_more_samples_than_anyone_can_use_are_refused(trace):
    trace.alloc(1)
    trace.write()
    for command in ("timeline", "frag"):
        completed = run_command(command, trace.path, "--samples=1000001")
        assert completed.returncode == 2
        assert "--samples=1000001: at most" in completed.stderr


def test_csv_has_a_line_per_sample(trace):
    trace.alloc(3)
    trace.alloc(4)
    lines = run_command("timeline", trace.write(), "--format=csv", "--samples=2").stdout.splitlines()
    assert lines[0].split(",") == ["device", "layer", "pool", "time_ns", "live_bytes", "lowest_bytes"]
    assert lines[1:] == ["0,driver,,1000,3,0", "0,driver,,2000,7,3"]
