# SPDX-License-Identifier: MIT
"""Memory that is never freed, and memory that grows with every step."""
import re

import pytest

from support.run import load_json, run_command, texts_of
from support.tracefile import MIB, Trace


def ask(command, trace):
    return load_json(command, trace.written())


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
    """Returns the first sentence of the command's answer."""
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
    """Runs per_step(step), which makes the events of one step, and after that adds the event that ends the step."""
    for step in range(1, steps + 1):
        per_step(step)
        trace.step(step)


def test_a_stack_that_keeps_more_after_every_step_grows(trace):
    leak, work = trace.stack("leak"), trace.stack("work")

    def step(_):
        trace.alloc(7, stack=leak)
        trace.free(trace.alloc(1000, stack=work))

    train(trace, 5, step)
    # Growth is measured from the live bytes at the ends of steps 2 to 5: 14, 21, 28, 35.
    assert growing(trace) == [("leak", 7, 14, 35)]


def test_what_is_built_up_once_does_not_grow(trace):
    model, optimizer = trace.stack("model"), trace.stack("optimizer")
    trace.alloc(100, stack=model)
    train(trace, 6, lambda step: step == 1 and trace.alloc(50, stack=optimizer))
    assert growing(trace) == []


def test_a_cache_that_fills_up_early_does_not_grow(trace):
    cache = trace.stack("cache")
    train(trace, 8, lambda step: step <= 4 and trace.alloc(50, stack=cache))
    # From step 2 on there are seven ends. Live bytes grow only before the ends of steps 3 and 4: 2 of 6 intervals.
    assert growing(trace) == []


def test_growth_in_every_other_step_is_growth(trace):
    slow = trace.stack("slow")
    train(trace, 6, lambda step: step % 2 and trace.alloc(6, stack=slow))
    # After steps 2 to 6, the live bytes are 6, 12, 12, 18, 18. This is growth by 12 bytes in 4 intervals.
    assert growing(trace) == [("slow", 3, 6, 18)]


def test_a_fall_on_the_way_does_not_hide_growth(trace):
    held, stack = [], trace.stack("pool")

    def step(number):
        held.append(trace.alloc(10, stack=stack))
        if number == 5:
            trace.free(held.pop())
            trace.free(held.pop())

    train(trace, 8, step)
    # At the ends of steps 2 to 8, the live bytes are 20 30 40 30 40 50 60. The median of the 21 slopes between two of
    # these ends is 6.
    assert growing(trace) == [("pool", 6, 20, 60)]


def test_a_cache_that_empties_itself_does_not_grow(trace):
    held, stack = [], trace.stack("cache")

    def step(number):
        held.append(trace.alloc(1 << 20, stack=stack))
        while number % 9 == 0 and held:
            trace.free(held.pop())

    train(trace, 50, step)
    assert verdict(trace) == ("no leak", 50, "gpumemtrace_step()")
    assert says(trace) == "No leak: +1.00 MiB per step by cache, freed at once every 9 steps."
    assert run_command("check", "--max-growth-per-step=1KiB", trace.path).returncode == 0


def test_a_line_that_rises_and_is_swept_is_named_although_the_whole_does_not_grow(trace):
    trace.alloc(1 << 30)
    swept, held = trace.stack("swept"), []

    def step(number):
        held.append(trace.alloc(1 << 15, stack=swept))
        while number % 8 == 0 and held:
            trace.free(held.pop())

    train(trace, 60, step)
    answer = ask("leaks", trace)
    assert "do not grow" in texts_of(answer, "what")
    assert texts_of(answer, "why") == "swept holds 32.00 KiB more per step; it is freed at once now and then."


def test_bytes_that_vary_more_than_they_grow_tell_nothing(trace):
    held, stack = [], trace.stack("batch")

    def step(number):
        held.append(trace.alloc((number * 41 % 101 + number) << 20, stack=stack))
        if len(held) > 1:
            trace.free(held.pop(0))

    train(trace, 30, step)
    assert verdict(trace)[0] == "cannot tell"
    assert says(trace) == "Cannot tell whether memory leaks: live bytes differ much from step to step."
    assert re.fullmatch(r"A leak of up to [\d.]+ MiB per step would not show in 30 steps\.", ask("leaks", trace)["answer"][1])


def test_three_steps_are_too_few_to_tell(trace):
    leak = trace.stack("leak")
    train(trace, 3, lambda _: trace.alloc(7, stack=leak))
    assert growing(trace) == []
    assert verdict(trace) == ("cannot tell", 3, "gpumemtrace_step()")
    assert says(trace) == "Cannot tell whether memory leaks: 3 steps are too few, at least 4 are needed."


def test_a_program_without_steps_in_which_nothing_repeats_tells_nothing(trace):
    for number in range(5):
        trace.alloc(100, stack=trace.stack(f"once_{number}"))
    assert verdict(trace) == ("cannot tell", None, None)
    assert says(trace) == "Cannot tell whether memory leaks: the program marks no steps."
    assert texts_of(load_json("leaks", trace.path), "do").startswith("Call gpumemtrace_step()")


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
    assert says(trace) == "Leak: 512 B per step by leak.py:7 keep."


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
    assert says(trace) == "Leak: 100 B per step by (no stack was taken)."


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
    assert texts_of(ask("leaks", trace), "why") == "new holds 1.00 MiB more per step; other lines hold less."


def test_what_would_fill_the_card_only_after_ten_million_steps_is_not_shouted(trace):
    trace.device(0, "GPU-0", "card", 16 << 30)
    leak = trace.stack("counter")
    train(trace, 20, lambda _: trace.alloc(512, stack=leak))
    assert growing(trace) == [("counter", 512, 1024, 10240)]
    assert says(trace) == "No leak: 512 B per step would fill the card after more than ten million steps."
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
    # The room that is left is 16 GiB - 200 x 16 MiB = 13 184 MiB, and each step takes 16 MiB.
    lines = ["Leak: 16.00 MiB per step: 12.00 MiB by train.py:40, 4.00 MiB by :50.",
             "3.12 GiB of it is live after 200 steps, kept since the first step; the card is full after about 820 more steps."]
    for command in ("leaks", "report"):
        assert ask(command, trace)["answer"] == lines
    assert load_json("leaks", trace.path)["next"] == f"gpumemtrace peak --at=end {trace.path}"


def test_a_helper_that_other_lines_allocate_with_too_is_not_named_as_the_leak(trace):
    """The helper's other caller allocates only once, so that it gets no row on the page."""
    first, second, kept = (trace.stack(("/me/a.c", 6, "get"), ("/me/a.c", 8, "request"), f"call {number}") for number in range(3))
    trace.alloc(MIB, stack=trace.stack(("/me/a.c", 6, "get"), ("/me/a.c", 12, "main")))
    for number in range(100):
        for address in [trace.alloc(3 * MIB, stack=first), trace.alloc(5 * MIB, stack=second)]:
            trace.free(address)
        if number % 3 == 0:
            trace.alloc(MIB, stack=kept)
    assert " by a.c:8 request" in says(trace)


def test_a_leak_that_is_let_go_of_before_the_end_is_looked_for_at_the_peak(trace):
    held, stack = [], trace.stack(("leak.py", 7, "keep"))
    train(trace, 20, lambda step: held.append(trace.alloc(MIB, stack=stack)))
    for block in held:
        trace.free(block)
    assert says(trace).startswith("Leak: 1.00 MiB per step")
    assert load_json("leaks", trace.path)["next"] == f"gpumemtrace peak {trace.path}"


def test_a_leak_outside_the_pool_is_the_drivers_and_segments_are_the_pools(trace):
    leak, grown, segment = trace.stack(("raw.py", 3, "keep")), trace.stack(("net.py", 5, "keep")), trace.stack("segment")

    def step(number):
        trace.tensor(trace.alloc(20 << 20, stack=segment), 1 << 20, stack=grown)
        trace.alloc(2 << 20, stack=leak)

    train(trace, 20, step)
    assert says(trace) == "Leak: 2.00 MiB per step by raw.py:3 keep in the driver's memory, outside the pytorch pool."
    assert [row["verdict"] for row in leaks(trace)["growth"]] == ["leak", "leak"]


def test_churn_is_what_a_step_allocates_and_frees_again(trace):
    work, held, late = trace.stack("work"), [], trace.stack("late")

    def step(number):
        for _ in range(number):
            trace.free(trace.alloc(10, stack=work))
        held.append(trace.alloc(1000, stack=late))  # this block is freed in the next step
        if len(held) > 1:
            trace.free(held.pop(0))

    train(trace, 5, step)
    # Blocks are counted from the end of step 2 on: 3 + 4 + 5 blocks.
    (site,) = leaks(trace)["churn"]
    assert (site["frames"][0]["function"], site["bytes"], site["count"], site["steps"], site["bytes_per_step"]) == (
        "work", 120, 12, 3, 40)
    assert "freed again" not in run_command("leaks", trace.path).stdout
    assert "Allocated and freed again in every step" in run_command("leaks", "--churn", trace.path).stdout


def test_a_forward_operator_of_another_pool_is_no_caller_of_this_pools_lines(trace):
    block = ("/me/model.py", 7, "block")
    work, forward, backward = (trace.stack(*frames) for frames in (
        [block, ("/me/train.py", 12, "main")], [block, ("/me/train.py", 30, "build")], [("/me/train.py", 40, "main")]))
    trace.event("autograd-node", object=7, address=1, size=0)
    trace.tensor(1 << 40, 512, "other", stack=forward)

    def step(_):
        trace.tensor_free(trace.tensor(1 << 30, 4096, "mine", stack=work), "mine")
        trace.event("autograd-node", object=7, address=1, size=1)
        trace.tensor_free(trace.tensor(1 << 30, 512, "mine", stack=backward), "mine")
        trace.event("autograd-node", object=0, address=1, size=0)

    train(trace, 6, step)
    assert {site["site"] for site in leaks(trace)["churn"]} == {"model.py:7 block", "train.py:40 main"}


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


def of_lines(trace):
    """Records a loop without marked steps, in which one line sometimes keeps a block."""
    first, second, kept = (trace.stack(("loop.py", line, "work")) for line in (3, 4, 5))
    for step in range(90):
        yield
        trace.free(trace.alloc(4096, stack=first))
        trace.free(trace.alloc(512, stack=second))
        trace.free(trace.alloc(512, stack=second))
        yield
        if step % 2:
            trace.alloc(512, stack=kept)


def of_phases(trace):
    """Records two phases of the same depth. The steps are taken from the phase that covers more memory events."""
    for _ in range(40):
        with trace.phase("log"):
            trace.free(trace.alloc(512, stack=trace.stack(("loop.py", 9, "log"))))
            yield
        run_batch(trace, 2)


@pytest.mark.parametrize("loop", [of_lines, of_phases])
def test_events_that_change_no_memory_leave_the_growth_without_marked_steps_alone(tmp_path, loop):
    plain, noisy = Trace(tmp_path / "plain.db"), Trace(tmp_path / "noisy.db")
    for _ in loop(plain):
        pass
    for number, _ in enumerate(loop(noisy)):
        for _ in range(40 if number < 40 else 3):
            noisy.event("mark", object=noisy.string("working"))
    answers = [leaks(trace) for trace in (plain, noisy)]
    assert answers[0]["growth"][0]["verdict"] == "leak"
    assert answers[0] == answers[1]


# --- tensors kept for a backward that never comes ---

CALL = ("torch/nn/modules/module.py", 1553, "Module._call_impl")


def keep(trace, stack, number, is_of_graph=True):
    """Allocates a tensor inside an operator that autograd records."""
    if is_of_graph:
        trace.event("autograd-node", address=1, object=number + 1, size=0)
    trace.tensor((1 << 40) + number * MIB, MIB, stack=stack)
    trace.event("autograd-node", address=1)


@pytest.mark.parametrize("is_of_graph", [False, True])
def test_one_forward_that_repeats_a_line_is_no_leak_as_long_as_no_backward_came(trace, is_of_graph):
    """A mixture has thirty experts. Each of them makes an index of tokens twice and frees it."""
    trace.alloc(256 * MIB)
    index, expert = (trace.stack(("moe.py", line, "route")) for line in (8, 9))
    other = trace.stack(("moe.py", 7, "route"))
    for number in range(30):
        trace.tensor_free(trace.tensor(1 << 50, 512, stack=other))
        for _ in range(2):
            trace.tensor_free(trace.tensor(1 << 50, 512, stack=index))
        keep(trace, expert, number, is_of_graph)
    assert verdict(trace)[:2] == ("cannot tell" if is_of_graph else "leak", 30)
    points = load_json("report", trace.path, "--series")["series"]["layers"][0]["points"]
    assert any(points["step"]) != is_of_graph
    if is_of_graph:
        assert says(trace) == "Cannot tell whether memory leaks: memory waits for a backward that never came."
        assert ask("leaks", trace)["answer"][2] == (
            "Each time that a line repeats (30 times), 1.00 MiB more is kept by moe.py:9 route.")  # fmt: skip


@pytest.mark.parametrize("has_batch, expected", [(True, ("leak", 20)), (False, ("cannot tell", None))])
def test_a_model_whose_outputs_keep_their_graphs_leaks_where_each_call_has_a_batch(trace, has_batch, expected):
    trace.alloc(256 * MIB)
    batch = trace.stack(("eval.py", 5, "main"))
    layers = [trace.stack(("model.py", line, "Net.forward"), CALL, ("eval.py", 6, "main")) for line in (3, 4)]
    for step in range(20):
        if has_batch:
            trace.tensor((1 << 45) + step * 4096, 4096, stack=batch)
        for number, layer in enumerate(layers * 2):
            keep(trace, layer, 4 * step + number)
    assert verdict(trace)[:2] == expected
    if has_batch:
        assert leaks(trace)["growth"][0]["leak_bytes_per_step"] == pytest.approx(4 * MIB, rel=0.1)


# --- steps known only from a phase ---


def run_batch(trace, thread, kept=512, temporaries=1):
    """Runs a worker's batch. All its tensors are made equally often, so that they may come from the layers of a
    model."""
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


def copy_to_larger(trace, stack, size_of):
    """Returns a function that runs a step. The step replaces one buffer by a copy of size_of(step) bytes."""
    held = []

    def step(number):
        held.append(trace.alloc(size_of(number), stack=stack))
        if len(held) > 1:
            trace.free(held.pop(0))

    return step


def test_a_buffer_that_each_step_makes_larger_grows_and_is_no_leak(trace):
    trace.device(0, "GPU-0", "card", 1 << 30)
    train(trace, 20, copy_to_larger(trace, trace.stack(("chat.py", 7, "generate")), lambda step: step << 20))
    assert verdict(trace)[0] == "grows" and leaks(trace)["growing"][0]["enlarged"]
    # At the peak, the buffers of 19 and 20 MiB are live. Each peak is 2 MiB higher than the one before, so that the
    # rest of the card lasts for 985 / 2 more steps.
    assert says(trace) == "No leak, but each block is 1.00 MiB larger than the last, by chat.py:7 generate."
    assert "The card is full after about 490 more steps." in ask("leaks", trace)["answer"]
    assert says(trace, "report").startswith("Peak 39.00 MiB")
    text = run_command("leaks", trace.path).stdout
    assert "larger blocks replace those before" in text and "Give it its final size at once, or a limit." in " ".join(text.split())
    assert run_command("leaks", "--fail", trace.path).returncode == 0
    assert run_command("check", "--max-growth-per-step=1MiB", trace.path).returncode == 0
    assert run_command("check", "--max-growth-per-step=1023KiB", trace.path).returncode == 1


def test_a_block_that_is_forgotten_now_and_then_is_a_leak_though_all_of_them_get_larger(trace):
    stack, held = trace.stack("cache"), []

    def step(number):
        held.append(trace.alloc(number << 20, stack=stack))
        if len(held) > 1 and number % 5:
            trace.free(held.pop(0))

    train(trace, 40, step)
    assert verdict(trace)[0] == "leak" and not leaks(trace)["growing"][0]["enlarged"]


def test_a_leak_beside_a_buffer_that_gets_larger_is_named_alone(trace):
    copy = copy_to_larger(trace, trace.stack("generate"), lambda step: step << 20)
    stack = trace.stack(("leak.py", 7, "keep"))
    train(trace, 20, lambda step: (copy(step), trace.alloc(4096, stack=stack)))
    assert says(trace) == "Leak: 4.00 KiB per step by leak.py:7 keep."
    assert leaks(trace)["growth"][0]["enlarged_bytes_per_step"] == 1 << 20


def test_the_pool_of_graphs_is_one_block_of_which_nothing_is_known_and_may_leak(trace):
    graph = trace.stack("launch")
    train(trace, 20, lambda step: trace.graph_usage(step << 20, step << 20, stack=graph))
    assert verdict(trace)[0] == "leak"
