# SPDX-License-Identifier: MIT
"""With --events=late, an event completes only when the host waits for it. So the memory that record_stream keeps
appears both in PyTorch's own counters and in the recording. On a real card, the memory lies between that of a run with
done events and that of a run with late events."""
import pytest
from test_pytorch_replay import compare

from support.run import load_json

LATE = {"GPUMEMTRACE_EVENTS": "late"}
SCRIPTS = ["side_streams.py", "streams.py", "waiting.py"]


def driver_peak(recording):
    (device,) = recording.report()["devices"]
    return device["driver"]["peak_bytes"]


def told_peak(recording):
    return max(moment["devices"][0]["max_reserved"] for _, moment in recording.marked_moments())


@pytest.mark.parametrize("name", ["side_streams.py", "streams.py"])
def test_the_replay_of_late_events_equals_pytorchs_own_figures(name, dry_run):
    compare(dry_run(name, **LATE), waiting=True)


def test_the_replay_of_events_that_are_done_equals_pytorchs_own_figures(dry_run):
    compare(dry_run("side_streams.py"), waiting=True)  # blocks wait until the next allocation queries their events


@pytest.mark.parametrize("name", SCRIPTS)
def test_late_events_need_more_and_pytorch_says_so_too(name, dry_run):
    done, late = dry_run(name), dry_run(name, **LATE)
    assert driver_peak(late) > driver_peak(done)
    assert (driver_peak(done), driver_peak(late)) == (told_peak(done), told_peak(late))


@pytest.mark.parametrize("name", ["mlp.py", "gpt.py"])
def test_without_another_stream_they_need_the_same(name, dry_run):
    words = ["adam"] if name == "mlp.py" else []
    assert driver_peak(dry_run(name, *words, **LATE)) == driver_peak(dry_run(name, *words))


def test_a_report_of_both_says_what_a_card_lies_between(dry_run):
    runs = dry_run("side_streams.py"), dry_run("side_streams.py", **LATE)
    page = load_json("report", *(run.trace for run in runs))
    (row,) = page["job"]["bounds"]
    assert (row["device"], row["done_bytes"], row["late_bytes"]) == (0, *map(driver_peak, runs))
    assert [trace["trace"]["dry_run_events"] for trace in page["traces"]] == ["done", "late"]
