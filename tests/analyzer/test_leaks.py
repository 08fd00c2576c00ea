# SPDX-License-Identifier: MIT
"""What is never freed, and what grows with every step."""
import re

import pytest

from support.run import load_json, run_command
from support.tracefile import Trace


@pytest.fixture
def trace(tmp_path):
    return Trace(tmp_path / "trace.db")


def ask(command, trace):
    return load_json(command, trace.path if trace.path.exists() else trace.write())


def leaks(trace):
    return ask("leaks", trace)["devices"][0]["leaks"]


def growing(trace):
    return [
        (site["frames"][0]["function"], site["bytes_per_step"], site["first_bytes"], site["last_bytes"])
        for site in leaks(trace)["growing"]
    ]


def verdict(trace):
    row = leaks(trace)["growth"][0]
    return row["verdict"], row["steps"], row["steps_end_with"]


def says(trace, command="leaks"):
    """The first sentence of the answer."""
    return ask(command, trace)["answer"][0]


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


def test_a_fall_on_the_way_does_not_hide_growth(trace):
    held, stack = [], trace.stack("pool")

    def step(number):
        held.append(trace.alloc(10, stack=stack))
        if number == 5:
            trace.free(held.pop())
            trace.free(held.pop())

    train(trace, 8, step)
    # Ends 2 to 8: 20 30 40 30 40 50 60. Of the 21 slopes between two of them the median is 6.
    assert growing(trace) == [("pool", 6, 20, 60)]


def test_a_cache_that_empties_itself_does_not_grow(trace):
    held, stack = [], trace.stack("cache")

    def step(number):
        held.append(trace.alloc(1 << 20, stack=stack))
        while number % 9 == 0 and held:
            trace.free(held.pop())

    train(trace, 50, step)
    assert growing(trace) == []
    assert verdict(trace) == ("no leak", 50, "gpumemtrace_step()")


def test_bytes_that_vary_more_than_they_grow_tell_nothing(trace):
    held, stack = [], trace.stack("batch")

    def step(number):
        held.append(trace.alloc((number * 41 % 101 + number) << 20, stack=stack))
        if len(held) > 1:
            trace.free(held.pop(0))

    train(trace, 30, step)
    assert verdict(trace)[0] == "cannot tell"
    assert re.fullmatch(r"Cannot tell whether memory leaks: live bytes differ so much from step to step that a leak of up "
                        r"to [\d.]+ MiB per step would not show in 30 steps\.", says(trace))


def test_three_steps_are_too_few_to_tell(trace):
    leak = trace.stack("leak")
    train(trace, 3, lambda _: trace.alloc(7, stack=leak))
    assert growing(trace) == []
    assert verdict(trace) == ("cannot tell", 3, "gpumemtrace_step()")
    assert says(trace) == "Cannot tell whether memory leaks: 3 steps are too few, it takes at least 4."


def test_a_program_without_steps_in_which_nothing_repeats_tells_nothing(trace):
    for number in range(5):
        trace.alloc(100, stack=trace.stack(f"once_{number}"))
    assert verdict(trace) == ("cannot tell", None, None)
    assert says(trace).startswith("Cannot tell whether memory leaks: the program marks no steps, and no phase or allocation "
                                  "that repeats shows where one begins. Call gpumemtrace_step()")


def test_without_steps_an_allocation_that_repeats_tells_how_long_one_is(trace):
    batch, work, leak = trace.stack("batch"), trace.stack("work"), trace.stack(("leak.py", 7, "keep"))
    trace.alloc(1 << 20, stack=trace.stack("load"))
    for _ in range(100):
        held = trace.alloc(4096, stack=batch)
        for _ in range(3):
            trace.free(trace.alloc(999, stack=work))
        trace.alloc(512, stack=leak)
        trace.free(held)
    assert verdict(trace) == ("leak", 100, "an allocation that repeats")
    (site,) = leaks(trace)["growing"]
    assert (site["frames"][0]["function"], site["bytes_per_step"]) == ("keep", 512)
    assert says(trace).startswith("Leak: 512 B per step (±2 B, 100 steps) by leak.py:7 keep")


def test_a_loop_that_only_fills_memory_has_no_steps_and_is_no_leak(trace):
    layer, scratch = trace.stack(("load.py", 7, "layer")), trace.stack("scratch")
    for _ in range(100):
        trace.alloc(1 << 20, stack=layer)
    trace.free(trace.alloc(4096, stack=scratch))
    assert verdict(trace) == ("cannot tell", None, None)
    assert growing(trace) == [] and "Leak" not in says(trace, "report")


def test_allocations_without_stacks_say_nothing_of_steps(trace):
    for _ in range(20):
        trace.alloc(100)
    assert verdict(trace) == ("cannot tell", None, None)


def test_a_leak_without_a_stack_says_so(trace):
    train(trace, 10, lambda _: trace.alloc(100))
    assert says(trace) == "Leak: 100 B per step (±0 B, 10 steps) by (no stack was taken)."


def test_a_call_stack_that_takes_over_what_another_gives_back_is_no_leak(trace):
    old, new, held = trace.stack("old"), trace.stack("new"), []
    for _ in range(40):
        held.append(trace.alloc(1 << 20, stack=old))

    def step(_):
        trace.free(held.pop())
        trace.alloc(1 << 20, stack=new)

    train(trace, 20, step)
    assert [name for name, *_ in growing(trace)] == ["new"]
    assert verdict(trace)[0] == "no leak"


def test_what_would_fill_the_card_only_after_ten_million_steps_is_not_shouted(trace):
    trace.device(0, "GPU-0", "card", 16 << 30)
    leak = trace.stack("counter")
    train(trace, 20, lambda _: trace.alloc(512, stack=leak))
    assert growing(trace) == [("counter", 512, 1024, 10240)]
    assert says(trace) == ("No leak: 512 B per step (20 steps) would fill the card only after more than ten million "
                           "steps.")
    assert "Leak" not in says(trace, "report")


def test_a_known_cache_is_named_and_no_leak(trace):
    trace.rows["module"].append((1, "/opt/lib/libcublas.so.12", None, 0x10000, 0x10000, 0x20000))
    workspace = trace.stack(0x10100, ("train.py", 9, "main"))
    train(trace, 10, lambda _: trace.alloc(8 << 20, stack=workspace))
    (site,) = leaks(trace)["growing"]
    assert site["known_cache"] == "cuBLAS (a workspace for each handle and stream)"
    text = says(trace)
    assert text.startswith("No leak: ") and run_command("leaks", trace.path, "--fail").returncode == 0
    assert "8.00 MiB per step is kept by cuBLAS" in load_json("leaks", trace.path)["answer"][1]


def test_the_first_line_names_the_leak_its_line_and_when_the_card_is_full(trace):
    trace.device(0, "GPU-0", "card", 16 << 30)
    leak, other = trace.stack(("train.py", 40, "main")), trace.stack(("train.py", 50, "main"))

    def step(_):
        trace.alloc(12 << 20, stack=leak)
        trace.alloc(4 << 20, stack=other)

    train(trace, 200, step)
    # 16 GiB - 200 x 16 MiB = 13 184 MiB, at 16 MiB a step.
    line = ("Leak: 16.00 MiB per step (±0 B, 200 steps), 12.00 MiB of it by train.py:40 main; the card is "
            "full after about 820 more steps.")
    assert says(trace) == line
    assert says(trace, "report") == line
    assert load_json("leaks", trace.path)["next"] == f"gpumemtrace peak --at=end {trace.path}"


def test_a_leak_outside_the_pool_is_the_drivers_and_segments_are_the_pools(trace):
    leak, grown, segment = trace.stack(("raw.py", 3, "keep")), trace.stack(("net.py", 5, "keep")), trace.stack("segment")

    def step(number):
        trace.tensor(trace.alloc(20 << 20, stack=segment), 1 << 20, stack=grown)
        trace.alloc(2 << 20, stack=leak)

    train(trace, 20, step)
    assert says(trace) == ("Leak: 2.00 MiB per step (±0 B, 20 steps) in the driver's memory, outside the pytorch pool by "
                           "raw.py:3 keep.")
    assert [row["verdict"] for row in leaks(trace)["growth"]] == ["leak", "leak"]


def test_churn_is_what_a_step_allocates_and_frees_again(trace):
    work, held, late = trace.stack("work"), [], trace.stack("late")

    def step(number):
        for _ in range(number):
            trace.free(trace.alloc(10, stack=work))
        held.append(trace.alloc(1000, stack=late))  # lives into the next step
        if len(held) > 1:
            trace.free(held.pop(0))

    train(trace, 5, step)
    # Counted from the end of step 2: 3 + 4 + 5 blocks.
    (site,) = leaks(trace)["churn"]
    assert (site["frames"][0]["function"], site["bytes"], site["count"], site["steps"], site["bytes_per_step"]) == (
        "work", 120, 12, 3, 40)
    assert "freed again" not in run_command("leaks", trace.path).stdout
    assert "Allocated and freed again in every step" in run_command("leaks", "--churn", trace.path).stdout


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
        assert text.count('"rises"') == expected
    else:
        growing = text[text.index("Growing with every step"):text.index("Live at exit")]
        assert growing.count("leak.py:") == expected


# --- steps that only a phase shows ---


def run_batch(trace, thread, kept=512, temporaries=1):
    """A worker's batch, of tensors that are made equally often: they may be those of layers."""
    with trace.phase("batch", source=1, thread=thread):
        with trace.phase("load", source=1, thread=thread):
            held = [trace.tensor((1 << 40) + (thread << 20) + i * 1024, 1024, thread=thread, stack=trace.stack(("worker.py", 4 + i, "work")))
                    for i in range(temporaries)]
        if kept:
            trace.tensor((1 << 41) + len(trace.events) * 512, kept, thread=thread, stack=trace.stack(("worker.py", 9, "keep")))
        for address in held:
            trace.tensor_free(address, thread=thread)


def one_worker(trace):
    for _ in range(40):
        run_batch(trace, 2)


def two_workers(trace):
    for _ in range(20):
        run_batch(trace, 2)
        run_batch(trace, 3)


def a_worker_after_the_other(trace):
    for number in range(40):
        run_batch(trace, 2 + number // 2)


def a_worker_inside_a_phase_of_the_main_thread(trace):
    trace.push("train", thread=1)
    one_worker(trace)
    trace.pop(thread=1)


def epochs(trace):
    for _ in range(8):
        with trace.phase("epoch", thread=2):
            for _ in range(5):
                run_batch(trace, 2)


@pytest.mark.parametrize("way", [one_worker, two_workers, a_worker_after_the_other, a_worker_inside_a_phase_of_the_main_thread, epochs])
def test_a_workers_phases_that_repeat_are_steps(trace, way):
    way(trace)
    assert verdict(trace) == ("leak", 40, "a phase that repeats")
    row = leaks(trace)["growth"][0]
    assert (row["step_phase"], row["step_site"]) == ("batch", None)
    assert row["leak_bytes_per_step"] == pytest.approx(512, rel=0.02)
    assert "worker.py:9 keep" in says(trace)


def test_phases_that_repeat_and_keep_nothing_are_no_leak(trace):
    for _ in range(40):
        run_batch(trace, 2, kept=0)
    assert verdict(trace) == ("no leak", 40, "a phase that repeats")


def test_steps_of_the_main_thread_are_stronger_than_a_workers_phases(trace):
    for _ in range(20):
        with trace.phase("optimizer", thread=1):
            run_batch(trace, 2)
            run_batch(trace, 2)
    assert verdict(trace) == ("leak", 20, "the phase named optimizer")
    assert leaks(trace)["growth"][0]["leak_bytes_per_step"] == 1024


@pytest.mark.parametrize("name, count", [("batch", 7), ("aten::mm", 40), ("epoch", 40)])
def test_few_phases_and_those_of_functions_and_epochs_tell_no_steps(trace, name, count):
    for number in range(count):
        with trace.phase(name, thread=2):
            trace.tensor((1 << 40) + 512 * number, 512)
    assert verdict(trace)[2] is None


def test_phases_of_a_short_part_of_the_run_tell_no_steps(trace):
    for number in range(10):
        with trace.phase("load"):
            trace.tensor((1 << 40) + 512 * number, 512)
    for _ in range(200):
        trace.tensor_free(trace.tensor(1 << 41, 512))
    assert verdict(trace)[2] is None
