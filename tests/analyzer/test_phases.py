# SPDX-License-Identifier: MIT
"""Phases: the phase to which each event belongs, and the sums in each row."""
import pytest

from support.run import load_json, run_command

FIGURES = "entry_bytes peak_bytes allocated_bytes freed_bytes kept_bytes".split()


def rows(trace):
    """Returns {path: (count, entry, peak, allocated, freed, kept)} of the leading layer."""
    (device,) = load_json("phases", trace.write())["devices"]
    leading = [row for row in device["phases"] if row["layer"] == device["leading_layer"]]
    return {row["path"]: (row["count"], *(row[key] for key in FIGURES)) for row in leading}


def test_a_phase_has_entry_peak_allocated_freed_and_kept_bytes(trace):
    before = trace.alloc(100)
    with trace.phase("work"):
        trace.alloc(30)  # this block stays live
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
    # The phase of the worker opened inside the phase of the main thread, which covers the whole process.
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
    trace.pop(source=1, range_id=1)  # inner is still open
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


def sorts_inside_a_step(trace):
    with trace.phase("step", source=1):
        trace.push("cub::DeviceRadixSort", source=1, range_id=7, domain="CCCL")
        trace.alloc(4)
        trace.pop(source=1, range_id=7)
        trace.push("load", source=1, range_id=8, domain="my loader")
        trace.alloc(2)
        trace.pop(source=1, range_id=8)
    return trace


def test_a_range_of_a_librarys_own_domain_is_no_phase(trace):
    result = rows(sorts_inside_a_step(trace))
    assert result == {"step": (1, 0, 6, 6, 0, 6), "step/load": (1, 4, 6, 2, 0, 2)}
    document = load_json("phases", trace.path)
    assert document["library_ranges"] == 1 and document["warnings"] == []
    assert "1 NVTX range of a library" in run_command("phases", trace.path).stdout


def test_with_nvtx_all_ranges_of_libraries_are_phases(trace):
    sorts_inside_a_step(trace).write()
    (device,) = load_json("phases", "--nvtx=all", trace.path)["devices"]
    assert [row["path"] for row in device["phases"]] == ["step", "step/cub::DeviceRadixSort", "step/load"]
    assert load_json("phases", "--nvtx=all", trace.path)["library_ranges"] == 0
    (device,) = load_json("report", trace.path)["devices"]
    assert {site["phase"] for site in device["sites_at_peak"]} == {"step", "step/load"}


@pytest.mark.parametrize("domain", ["NCCL", "nccl", "NCCL.net", "com.nvidia.nccl.proxy", "cub"])
def test_a_librarys_domain_is_known_in_any_case_and_by_its_first_words(trace, domain):
    trace.push("inside", source=1, range_id=1, domain=domain)
    trace.alloc(1)
    trace.pop(source=1, range_id=1)
    assert set(rows(trace)) == {None}


@pytest.mark.parametrize("domain", [None, "ncclient", "cube", "mine", "my nccl"])
def test_any_other_domain_is_the_programs(trace, domain):
    trace.push("inside", source=1, range_id=1, domain=domain)
    trace.alloc(1)
    trace.pop(source=1, range_id=1)
    assert set(rows(trace)) == {"inside"}


EACH = [f"{figure}_{which}_bytes" for figure in ("peak", "allocated", "kept") for which in ("median", "highest", "last")
        if (figure, which) != ("peak", "highest")]  # fmt: skip


def test_a_phase_has_median_highest_and_last_of_its_occurrences(trace):
    for size, kept in ((10, 1), (70, 2), (30, 3), (20, 4)):
        with trace.phase("step"):
            trace.free(trace.alloc(size))
            trace.alloc(kept)
    (device,) = load_json("phases", trace.write())["devices"]
    (step,) = device["phases"]
    # Allocated: 11, 72, 33, 24. Peaks: 10, 1 + 70, 3 + 30, 6 + 20.
    assert [step[key] for key in EACH] == [26, 26, 24, 72, 24, 2, 4, 4]
    assert (step["peak_bytes"], step["peak_occurrence"], step["allocated_bytes"]) == (71, 2, 140)
    assert step["median_error_ratio"] == 0


def test_what_began_before_a_layer_had_anything_counts_as_nothing(trace):
    for _ in range(3):
        with trace.phase("step"):
            trace.step(1)
    with trace.phase("step"):
        trace.tensor(trace.alloc(100), 10)
    (device,) = load_json("phases", trace.write())["devices"]
    for row in device["phases"]:
        assert (row["count"], row["allocated_median_bytes"], row["peak_occurrence"]) == (4, 0, 4)


def test_of_very_many_different_occurrences_the_median_says_how_exact_it_is(trace):
    sizes = [1000 + 7 * number for number in range(1001)]
    for size in sizes:
        with trace.phase("step"):
            trace.free(trace.alloc(size))
    (device,) = load_json("phases", trace.write())["devices"]
    (step,) = device["phases"]
    median, error = step["allocated_median_bytes"], step["median_error_ratio"]
    assert 0 < error <= 2**-5
    assert median <= sizes[500] <= median * (1 + error)
    assert (step["allocated_highest_bytes"], step["allocated_last_bytes"]) == (sizes[-1], sizes[-1])


def test_a_sum_larger_than_the_card_says_that_it_is_a_sum(trace):
    trace.device(total_bytes=100 << 20)
    for _ in range(3):
        with trace.phase("step"):
            trace.free(trace.alloc(50 << 20))
    with trace.phase("end"):
        trace.free(trace.alloc(100 << 20))
    text = run_command("phases", trace.write()).stdout
    (step,) = [line for line in text.splitlines() if line.startswith("  step")]
    (end,) = [line for line in text.splitlines() if line.startswith("  end")]
    assert "150.00 MiB (sum)" in step and "(sum)" not in end
    assert "A sum may exceed the card" in text


def test_text_shows_a_phase_below_the_one_around_it(trace):
    with trace.phase("epoch"):
        with trace.phase("forward"):
            trace.alloc(1)
    with trace.phase("eval"):
        trace.alloc(1)
    with trace.phase("epoch"):
        with trace.phase("backward"):
            trace.alloc(1)
    lines = run_command("phases", trace.write()).stdout.split("Phases\n")[1].splitlines()[1:5]
    assert [line.split("  0 ")[0].rstrip("0123456789 B") for line in lines] == [
        "  epoch", "    forward", "    backward", "  eval"]  # fmt: skip


def test_the_answer_names_the_phase_and_the_occurrence_of_the_peak(trace):
    trace.device(total_bytes=1 << 30)
    for size in (1, 3, 2):
        with trace.phase("step"):
            trace.free(trace.alloc(size << 20))
    document = load_json("phases", trace.write())
    assert document["answer"] == [
        "The driver peaked at 3.00 MiB of 1.00 GiB in phase step, in occurrence 2 of 3.",
        "Each step allocates 2.00 MiB (median; 3.00 MiB at most) and keeps 0 B.",
    ]
    assert document["next"] == f"gpumemtrace peak {trace.path}"


def test_a_phase_has_median_highest_and_last_of_what_a_step_of_it_allocates(trace):
    for number, sizes in enumerate(((1, 2), (10, 20, 30), (5,), ())):
        for size in sizes:
            with trace.phase("layer"):
                trace.free(trace.alloc(size))
        trace.step(number)
    with trace.phase("layer"):  # this phase belongs to a step that does not end
        trace.alloc(1000)
    (device,) = load_json("phases", trace.write())["devices"]
    (layer,) = device["phases"]
    assert [layer[key] for key in ("count", "steps", "allocated_median_bytes")] == [7, 3, 10]
    per_step = [layer[f"allocated_per_step_{which}_bytes"] for which in ("median", "highest", "last")]
    assert per_step == [5, 60, 5]


def test_what_came_before_the_steps_were_known_belongs_to_the_first(trace):
    for _ in range(3):
        with trace.phase("forward"):  # if the program had no marks, this phase would end a step
            trace.free(trace.alloc(10))
    trace.step(1)
    with trace.phase("forward"):
        trace.free(trace.alloc(10))
    trace.step(2)
    (device,) = load_json("phases", trace.write())["devices"]
    (forward,) = device["phases"]
    assert [forward[f"allocated_per_step_{which}_bytes"] for which in ("median", "highest", "last")] == [10, 30, 10]


def test_without_steps_nothing_is_said_per_step(trace):
    with trace.phase("work"):
        trace.alloc(1)
    (device,) = load_json("phases", trace.write())["devices"]
    assert device["phases"][0]["steps"] is None and device["phases"][0]["allocated_per_step_last_bytes"] is None
