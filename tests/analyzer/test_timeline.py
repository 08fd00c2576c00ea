# SPDX-License-Identifier: MIT
"""Live bytes over time. The timeline is thinned without losing a peak."""

import pytest

from support.run import load_json, run_command

MIB = 1 << 20


def rows(trace, *options):
    (device,) = load_json("timeline", trace.written(), *options)["devices"]
    return device["timeline"]


def samples(trace, *options):
    return [(row["time_ns"], row["live_bytes"], row["lowest_bytes"]) for row in rows(trace, *options)]


def text_rows(trace, *options):
    text = run_command("timeline", trace.written(), *options).stdout
    return text.split("Live over time\n")[1].split("\n\n")[0].splitlines()[1:]


def test_each_row_holds_the_most_and_the_least_of_its_time(trace):
    a = trace.alloc(10)  # 1000 ns
    trace.alloc(5)  # 2000
    trace.free(a)  # 3000
    trace.alloc(1)  # 4000
    # Each row covers 2048 ns. The first row begins at 1000 ns.
    assert [row["begin"] for row in rows(trace, "--samples=2")] == [1000, 3048]
    assert samples(trace, "--samples=2") == [(2000, 15, 0), (4000, 6, 5)]


def test_it_begins_at_the_first_allocation(trace):
    for _ in range(1000):
        trace.step(1)
    trace.alloc(7)
    trace.alloc(5)
    assert [row["begin"] for row in rows(trace, "--samples=2")] == [1_001_000, 1_001_000 + 512]


def test_time_without_a_change_has_no_row(trace):
    trace.alloc(7)
    for _ in range(1000):
        trace.step(1)
    trace.alloc(5)
    assert samples(trace, "--samples=100") == [(1000, 7, 0), (1_002_000, 12, 7)]
    assert len(text_rows(trace)) == 2


def test_a_peak_between_two_rows_is_not_lost(trace):
    trace.alloc(1)
    for _ in range(500):
        trace.free(trace.alloc(2))
    spike = trace.alloc(1_000_000)
    trace.free(spike)
    for _ in range(500):
        trace.free(trace.alloc(2))
    for axis in ("time", "event"):
        result = samples(trace, "--samples=10", f"--axis={axis}")
        assert 5 <= len(result) <= 10
        assert max(live for _, live, _ in result) == 1_000_001


def test_the_number_of_rows_is_bounded(trace):
    for _ in range(2000):
        trace.free(trace.alloc(2))
    assert 250 <= len(samples(trace)) <= 500
    assert 20 <= len(text_rows(trace)) <= 40


@pytest.mark.parametrize("most", [1, 2, 17, 40, 1000])
@pytest.mark.parametrize("axis", ["time", "event"])
def test_no_time_stands_twice(trace, most, axis):
    for _ in range(300):
        trace.alloc(3)
    result = rows(trace, f"--samples={most}", f"--axis={axis}")
    for key in ("begin", "time_ns", "seq"):
        values = [row[key] for row in result]
        assert values == sorted(set(values)), key
    shown = [line.split()[0] for line in text_rows(trace, f"--samples={most}", f"--axis={axis}")]
    assert len(shown) == len(set(shown)) == len(result)


def test_without_events_there_is_no_timeline(trace):
    assert load_json("timeline", trace.write())["devices"] == []


def test_more_rows_than_anyone_can_use_are_refused(trace):
    trace.alloc(1)
    trace.write()
    for command in ("timeline", "frag"):
        completed = run_command(command, trace.path, "--samples=1000001")
        assert completed.returncode == 2
        assert "--samples=1000001: at most" in completed.stderr


def test_csv_has_a_line_per_row(trace):
    trace.alloc(3)
    with trace.phase("work"):
        trace.alloc(4)
    lines = run_command("timeline", trace.write(), "--format=csv", "--axis=event").stdout.splitlines()
    assert lines[0] == "device,layer,pool,begin,time_ns,seq,step,live_bytes,lowest_bytes,phase"
    assert lines[1:] == ["0,driver,,1,1000,1,,3,0,", "0,driver,,3,3000,3,,7,3,work"]


def test_a_row_names_the_phase_of_its_highest_moment(trace):
    with trace.phase("epoch"):
        with trace.phase("forward"):
            kept = trace.alloc(10)
        with trace.phase("backward"):
            trace.free(kept)
    trace.alloc(1)
    phases = [(row["live_bytes"], row["phase"]) for row in rows(trace, "--axis=event")]
    # The row of the free begins with the bytes that were live at the end of forward.
    assert phases == [(10, "epoch/forward"), (10, "epoch/forward"), (1, None)]
    assert "(outside any)" in text_rows(trace, "--axis=event")[-1]


def test_from_and_to_show_a_part_and_what_was_live_when_it_began(trace):
    sizes = [100 * number for number in range(1, 11)]
    for size in sizes:
        trace.alloc(size)
    by_time = samples(trace, "--from=4us", "--to=6us")
    by_event = samples(trace, "--from=4", "--to=6", "--axis=event")
    assert by_time == by_event == [(4000, 1000, 600), (5000, 1500, 1000), (6000, 2100, 1500)]
    document = load_json("timeline", trace.path, "--from=4us", "--to=6us")
    assert document["answer"] == ["The driver held at most 2.05 KiB there, 6.00 us after the start.",
                                  "The highest moment was outside any phase; 2.05 KiB was live at its end."]  # fmt: skip


def test_a_part_in_which_nothing_changes_shows_what_was_live(trace):
    trace.alloc(5)
    for _ in range(10):
        trace.step(1)
    trace.alloc(5)
    assert samples(trace, "--from=4us", "--to=6us") == [(4000, 5, 5)]


@pytest.mark.parametrize("options", [["--from=1s"], ["--from=1s", "--to=2s"], ["--to=0"]])
def test_a_part_without_anything_is_an_error_that_says_where_the_trace_ends(trace, options):
    for _ in range(10):
        trace.alloc(1)
    completed = run_command("timeline", trace.write(), *options)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "the last event is 10, 10.0 us after the start" in completed.stderr


@pytest.mark.parametrize("options", [["--from=6us", "--to=5us"], ["--from=6", "--to=5"], ["--axis=step", "--from=6", "--to=5"]])
def test_bounds_that_are_reversed_are_called_so(trace, options):
    for _ in range(10):
        trace.alloc(1)
    completed = run_command("timeline", trace.write(), *options)
    said = f"{options[-2]} lies after {options[-1]}: give the earlier one as --from"
    assert completed.returncode == 2 and said in completed.stderr


@pytest.fixture
def moments(trace):
    """Runs the phase "work" twice, with a higher peak the second time. After it come a peak outside of phases, a
    failure, and a last block."""
    for size in (10, 30):
        trace.alloc(1)  # 1, 6
        with trace.phase("work"):  # 2 to 5, 7 to 10
            piece = trace.alloc(size)  # 3, 8
            trace.free(piece)  # 4, 9
    high = trace.alloc(50)  # 11
    trace.free(high)  # 12
    trace.fail(999)  # 13
    trace.alloc(1)  # 14
    return trace


@pytest.mark.parametrize(
    "options, first, last",
    [
        (["--from=peak"], 11, 14), (["--to=peak"], 1, 11), (["--from=peak", "--to=oom:1"], 11, 12), (["--from=oom:1"], 13, 14),
        (["--from=end"], 14, 14), (["--to=end"], 1, 14), (["--from=phase:work", "--to=phase:work"], 7, 9),
        (["--from=phase:work"], 7, 14), (["--to=phase:work"], 1, 9), (["--from=3", "--to=phase:work"], 3, 9),
        (["--axis=time", "--from=phase:work", "--to=peak"], 7, 11),
    ],
)  # fmt: skip
def test_a_part_ends_at_any_moment_and_of_a_phase_at_the_highest_occurrence(moments, options, first, last):
    shown = [row["seq"] for row in rows(moments, "--axis=event", *options)]
    assert (shown[0], shown[-1]) == (first, last)


def test_a_moment_of_a_part_is_that_of_the_layer_and_device_that_are_shown(trace):
    segment = trace.alloc(100, device=0)  # 1
    trace.alloc(10, device=1)  # 2
    trace.tensor(segment, 5, device=0)  # 3
    trace.fail(999, device=1)  # 4
    assert [row["seq"] for row in rows(trace, "--axis=event", "--device=0", "--layer=driver", "--to=peak")] == [1]
    completed = run_command("timeline", trace.path, "--device=0", "--from=oom:1")
    assert completed.returncode == 2 and "--from=oom:1: the device that is shown has no such moment" in completed.stderr


@pytest.mark.parametrize(
    "option, said",
    [
        ("--from=phase:wrok", "--from=phase:wrok: the trace has no phase of that name; did you mean 'work'?"),
        ("--to=phse:work", "--to=phse:work: not understood; did you mean 'phase:work'?"),
        ("--to=oom:2", "--to=oom:2: the trace has no such moment: 1 allocation failed"),
        ("--from=paek", "--from=paek: not understood; did you mean 'peak'?"),
        ("--from=soon", "--from=soon: not understood; it takes peak, end, a time (1.5s), a sequence number, phase:NAME or oom:N"),
    ],
)
def test_a_part_that_is_not_understood_is_an_error(moments, option, said):
    completed = run_command("timeline", moments.write(), option)
    assert completed.returncode == 2 and said in completed.stderr


def test_by_phase_and_category_each_row_adds_up_at_its_highest_moment(trace):
    with trace.phase("forward"):
        weights = trace.alloc(100)
        passing = trace.alloc(30)
        trace.free(passing)
        trace.free(weights)
    trace.alloc(50)
    by_phase = rows(trace, "--by=phase", "--axis=event")
    assert [(row["live_bytes"], row["phase_of_birth"], row["bytes"]) for row in by_phase] == [
        (100, "forward", 100), (130, "forward", 130), (130, "forward", 130), (100, "forward", 100), (50, None, 50),
    ]  # fmt: skip
    by_category = rows(trace, "--by=category", "--axis=event")
    assert [row["category"] for row in by_category] == ["temporaries"] * 4 + ["other"]
    for row in by_category:
        assert row["live_bytes"] == sum(r["bytes"] for r in by_category if r["seq"] == row["seq"])
    assert "forward 130 B" in text_rows(trace, "--by=phase", "--axis=event")[1]


def test_text_shows_the_driver_beside_a_pool(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 3 * MIB)
    trace.tensor(segment + 4 * MIB, 2 * MIB)
    lines = text_rows(trace, "--axis=event")
    assert [line.split()[:5] for line in lines] == [
        ["2", "3.00", "MiB", "20.00", "MiB"], ["3", "5.00", "MiB", "20.00", "MiB"]]  # fmt: skip


def test_the_answer_says_what_peaked_when_and_what_was_left(trace):
    trace.device(total_bytes=1 << 30)
    with trace.phase("step"):
        trace.free(trace.alloc(3 * MIB))
    trace.alloc(MIB)
    document = load_json("timeline", trace.write())
    assert document["answer"] == ["The driver peaked at 3.00 MiB of 1.00 GiB, 2.00 us after the start.",
                                  "The highest moment was in phase step; 1.00 MiB was live at the end."]  # fmt: skip


def steps(trace, ends):
    """Records four steps with a temporary block of 10, 30, 50 and 70 bytes. Each step keeps one byte."""
    for number in range(4):
        with trace.phase("forward"):
            passing = trace.alloc(10 + 20 * number)
        with trace.phase("optimizer") if ends == "optimizer" else trace.phase("update"):
            trace.free(passing)
            trace.alloc(1)
        if ends == "event":
            trace.step(number)
    return trace


@pytest.mark.parametrize("ends", ["event", "optimizer"])
def test_by_steps_a_row_is_a_step(trace, ends):
    found = [(row["begin"], row["step"], row["live_bytes"]) for row in rows(steps(trace, ends), "--axis=step")]
    assert found == [(1, 1, 10), (2, 2, 31), (3, 3, 52), (4, 4, 73)]
    assert [line.split()[0] for line in text_rows(trace, "--axis=step")] == ["1", "2", "3", "4"]


def test_of_many_steps_a_row_names_the_step_of_its_highest_moment(trace):
    found = [(row["begin"], row["step"], row["live_bytes"]) for row in rows(steps(trace, "event"), "--axis=step",
                                                                            "--samples=2")]  # fmt: skip
    assert found == [(1, 2, 31), (3, 4, 73)]


def test_a_part_may_be_given_in_steps(trace):
    steps(trace, "event")
    found = [(row["begin"], row["live_bytes"]) for row in rows(trace, "--axis=step", "--from=2", "--to=3")]
    assert found == [(2, 31), (3, 52)]


def test_without_steps_there_is_no_axis_of_steps(trace):
    trace.alloc(1)
    completed = run_command("timeline", trace.write(), "--axis=step")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "the program marks no steps: gpumemtrace_step()" in completed.stderr


def test_the_event_that_ends_the_last_round_belongs_to_it(trace):
    batch, work = trace.stack(("loop.py", 3, "batch")), trace.stack(("loop.py", 5, "work"))
    for _ in range(20):
        held = trace.alloc(4096, stack=batch)
        for _ in range(3):
            trace.free(trace.alloc(999, stack=work))
        trace.free(held)
    points = load_json("report", trace.written(), "--series")["series"]["layers"][0]["points"]
    assert load_json("steps", trace.path)["devices"][0]["steps"]["step_count"] == 20
    assert points["step"][-1] == 20 and len(set(points["step"])) == 20


def test_the_points_of_a_series_end_at_what_was_left_while_another_device_went_on(trace):
    left = trace.alloc(10 * MIB)
    for _ in range(2):
        trace.free(trace.alloc(90 * MIB))
        for _ in range(5):
            trace.free(trace.alloc(MIB, device=1))
    trace.free(left)
    points = load_json("report", trace.written(), "--series")["series"]["layers"][0]["points"]
    sizes = [bytes_ // MIB for bytes_ in points["live_bytes"]]
    assert list(zip(points["seq"], sizes)) == [(1, 10), (2, 100), (3, 100), (3, 10), (14, 100), (15, 100), (15, 10), (26, 10), (26, 0)]
