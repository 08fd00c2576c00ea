# SPDX-License-Identifier: MIT
"""Phases: which one an event belongs to, and what each row sums."""
import pytest

from support.run import load_json, run_command
from support.tracefile import Trace

FIGURES = "entry_bytes peak_bytes allocated_bytes freed_bytes kept_bytes".split()


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db")


def rows(trace):
    """{path: (count, entry, peak, allocated, freed, kept)} of the leading layer."""
    (device,) = load_json("phases", trace.write())["devices"]
    leading = [row for row in device["phases"] if row["layer"] == device["leading_layer"]]
    return {row["path"]: (row["count"], *(row[key] for key in FIGURES)) for row in leading}


def test_a_phase_has_entry_peak_allocated_freed_and_kept_bytes(trace):
    before = trace.alloc(100)
    with trace.phase("work"):
        trace.alloc(30)  # kept
        passing = trace.alloc(20)  # 150: the peak
        trace.free(passing)
        trace.free(before)
    assert rows(trace)["work"] == (1, 100, 150, 50, 120, 30)


def test_a_nested_phase_counts_in_the_ones_around_it(trace):
    with trace.phase("epoch"):
        trace.alloc(1)
        with trace.phase("forward"):
            trace.alloc(2)
    assert rows(trace) == {"epoch": (1, 0, 3, 3, 0, 3), "epoch/forward": (1, 1, 3, 2, 0, 2)}


def test_a_row_sums_its_occurrences_and_takes_the_entry_of_the_first(trace):
    for size in (10, 40):
        with trace.phase("step"):
            trace.free(trace.alloc(size))
            trace.alloc(5)
    assert rows(trace) == {"step": (2, 0, 45, 60, 50, 10)}


def test_what_happens_outside_any_phase_has_a_row_without_name(trace):
    trace.alloc(7)
    with trace.phase("work"):
        trace.alloc(1)
    (device,) = load_json("phases", trace.write())["devices"]
    work, outside = device["phases"]
    assert work["name"] == "work" and work["source"] == "api"
    assert (outside["name"], outside["path"], outside["source"]) == (None, None, None)
    assert [outside[key] for key in FIGURES] == [0, 7, 7, 0, 7]


def test_an_event_belongs_to_the_innermost_phase_of_its_own_thread(trace):
    trace.push("main", thread=1)
    trace.push("worker", thread=2)
    trace.alloc(10, thread=1)
    trace.alloc(20, thread=2)
    # The worker's phase opened inside the main thread's, which covers the process.
    assert rows(trace) == {"main": (1, 0, 30, 30, 0, 30), "main/worker": (1, 0, 30, 20, 0, 20)}


def test_a_thread_without_a_phase_counts_in_the_one_most_recently_opened(trace):
    trace.push("a", thread=1)
    trace.push("b", thread=2)
    trace.alloc(10, thread=3)
    trace.pop(thread=2)
    trace.alloc(5, thread=3)
    assert rows(trace) == {"a": (1, 0, 15, 15, 0, 15), "a/b": (1, 0, 10, 10, 0, 10)}


def test_a_pop_ends_the_innermost_phase_of_its_thread_and_source(trace):
    trace.push("api", source=0)
    trace.push("nvtx", source=1)
    trace.pop(source=0)
    trace.alloc(4)
    result = rows(trace)
    assert result["api"] == (1, 0, 0, 0, 0, 0)
    assert result["api/nvtx"] == (1, 0, 4, 4, 0, 4)


def test_a_range_with_a_number_ends_on_any_thread_whatever_was_opened_since(trace):
    trace.push("range", source=1, range_id=9, thread=1)
    trace.push("inner", source=1, thread=1)
    trace.pop(source=1, range_id=9, thread=2)
    trace.alloc(4, thread=1)
    result = rows(trace)
    assert result["range"] == (1, 0, 0, 0, 0, 0)
    assert result["range/inner"] == (1, 0, 4, 4, 0, 4)


def test_the_peak_inside_a_phase_counts_what_came_before_a_later_phase_ended(trace):
    trace.push("outer", source=1, range_id=1)
    trace.push("inner", source=1, range_id=2)
    block = trace.alloc(50)
    trace.free(block)
    trace.pop(source=1, range_id=1)  # while inner is still open
    trace.alloc(10)
    trace.pop(source=1, range_id=2)
    result = rows(trace)
    assert result["outer"][2] == 50
    assert result["outer/inner"][2] == 50


def test_the_peak_of_a_phase_is_its_own_where_an_older_one_ends_inside_it(trace):
    trace.free(trace.alloc(100))
    trace.push("older", source=1, range_id=1)
    trace.push("younger", source=1, range_id=2)
    trace.pop(source=1, range_id=1)
    trace.alloc(10)
    trace.pop(source=1, range_id=2)
    result = rows(trace)
    assert result["older"][2] == 0
    assert result["older/younger"][2] == 10


def test_a_pop_without_a_push_is_a_warning(trace):
    trace.pop()
    trace.alloc(1)
    document = load_json("phases", trace.write())
    assert any("1 phase ends had no beginning" in warning for warning in document["warnings"])


def test_the_same_name_at_two_places_is_two_paths_and_the_source_is_named(trace):
    with trace.phase("forward"):
        trace.alloc(1)
    with trace.phase("eval", source=1):
        with trace.phase("forward"):
            trace.alloc(2)
    (device,) = load_json("phases", trace.write())["devices"]
    assert [(row["path"], row["name"], row["source"]) for row in device["phases"]] == [
        ("forward", "forward", "api"), ("eval", "eval", "nvtx"), ("eval/forward", "forward", "api"),
    ]  # fmt: skip


def test_a_phase_left_open_lasts_until_the_end(trace):
    trace.push("work")
    trace.alloc(6)
    assert rows(trace) == {"work": (1, 0, 6, 6, 0, 6)}


def test_ranges_that_are_opened_forever_do_not_nest_without_end(trace):
    for number in range(3000):
        trace.push("leaky", source=1, range_id=number + 1)
        trace.alloc(1)
    paths = rows(trace)
    assert len(paths) == 1024
    assert sum(row[0] for row in paths.values()) == 3000
    assert paths["leaky"][3] == 3000


def test_without_phases_people_are_told_so(trace):
    trace.alloc(1)
    completed = run_command("phases", trace.write())
    assert completed.returncode == 0
    assert "named no phases" in completed.stdout
