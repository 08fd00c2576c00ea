# SPDX-License-Identifier: MIT
"""What is never freed, and what grows with every step."""
import pytest

from support.run import load_json, run_command
from support.tracefile import Trace


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db")


def leaks(trace):
    return load_json("leaks", trace.write())["devices"][0]["leaks"]


def growing(trace):
    return [
        (site["frames"][0]["function"], site["bytes_per_step"], site["first_bytes"], site["last_bytes"])
        for site in leaks(trace)["growing"]
    ]


def test_what_is_live_at_exit_is_listed_by_site(trace):
    kept, freed = trace.stack("kept"), trace.stack("freed")
    trace.alloc(10, stack=kept)
    trace.free(trace.alloc(99, stack=freed))
    late = trace.alloc(5, stack=kept)
    trace.exit()
    trace.free(late)
    result = leaks(trace)
    assert result["totals"] == [
        {"layer": "driver", "pool": None, "live_at_exit_bytes": 15, "blocks": 2}
    ]
    assert [(s["bytes"], s["count"], s["frames"][0]["function"]) for s in result["live_at_exit"]] == [
        (15, 2, "kept")
    ]


def train(trace, steps, per_step):
    """per_step(step) makes the events of one step; the step's own event follows."""
    for step in range(1, steps + 1):
        per_step(step)
        trace.step(step)


def test_a_stack_that_keeps_more_after_every_step_grows(trace):
    leak, work = trace.stack("leak"), trace.stack("work")

    def step(_):
        trace.alloc(7, stack=leak)
        trace.free(trace.alloc(1000, stack=work))

    train(trace, 5, step)
    # Ends 2 to 5 are looked at: 14, 21, 28, 35.
    assert growing(trace) == [("leak", 7, 14, 35)]


def test_what_is_built_up_once_does_not_grow(trace):
    model, optimizer = trace.stack("model"), trace.stack("optimizer")
    trace.alloc(100, stack=model)
    train(trace, 6, lambda step: step == 1 and trace.alloc(50, stack=optimizer))
    assert growing(trace) == []


def test_a_cache_that_fills_up_early_does_not_grow(trace):
    cache = trace.stack("cache")
    train(trace, 8, lambda step: step <= 4 and trace.alloc(50, stack=cache))
    # Seven ends from the second on: rises at 3 and 4, that is 2 of 6 intervals.
    assert growing(trace) == []


def test_growth_in_every_other_step_is_growth(trace):
    slow = trace.stack("slow")
    train(trace, 6, lambda step: step % 2 and trace.alloc(6, stack=slow))
    # After steps 2 to 6: 6, 12, 12, 18, 18; 12 bytes in 4 intervals.
    assert growing(trace) == [("slow", 3, 6, 18)]


def test_what_falls_once_does_not_grow(trace):
    held, stack = [], trace.stack("pool")

    def step(number):
        held.append(trace.alloc(10, stack=stack))
        if number == 5:
            trace.free(held.pop())
            trace.free(held.pop())

    train(trace, 8, step)
    assert growing(trace) == []


def test_three_steps_are_too_few_to_tell(trace):
    leak = trace.stack("leak")
    train(trace, 3, lambda _: trace.alloc(7, stack=leak))
    assert growing(trace) == []


def test_without_step_events_phases_named_step_end_the_steps(trace):
    leak = trace.stack("leak")
    for _ in range(4):
        with trace.phase("Step"):
            trace.alloc(7, stack=leak)
    assert growing(trace) == [("leak", 7, 14, 28)]


def test_fail_exits_1_only_when_something_grows(tmp_path):
    for name, size, status in (("leaky", 7, 1), ("sound", 0, 0)):
        trace = Trace(tmp_path / f"{name}.db")
        stack = trace.stack("x")
        train(trace, 5, lambda _, size=size: size and trace.alloc(size, stack=stack))
        trace.alloc(1)
        trace.write()
        assert run_command("leaks", trace.path, "--fail").returncode == status
        assert run_command("leaks", trace.path).returncode == 0


def test_the_report_names_growth_to_people(trace):
    leak = trace.stack("forgotten_list")
    train(trace, 5, lambda _: trace.alloc(7, stack=leak))
    trace.exit()
    text = run_command("report", trace.write()).stdout
    assert "Growing with every step" in text and "forgotten_list" in text


@pytest.mark.parametrize("options, expected", [([], 10), (["--top=11"], 11), (["--json"], 12)])
def test_text_shows_ten_growing_call_stacks_unless_asked_for_more(trace, options, expected):
    leaking = [trace.stack(("leak.py", line, f"leak_{line}")) for line in range(1, 13)]
    for step in range(1, 6):
        for stack in leaking:
            trace.alloc(100, stack=stack)
        trace.step(step)
    trace.write()
    text = run_command("leaks", trace.path, *options).stdout
    if "--json" in options:
        assert text.count('"bytes_per_step"') == expected
    else:
        growing = text[text.index("Growing with every step"):text.index("Live at exit")]
        assert growing.count("leak.py:") == expected
