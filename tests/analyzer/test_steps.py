# SPDX-License-Identifier: MIT
"""The step that is higher than all other steps, and the reason for it."""
import contextlib

import pytest
from test_leaks import CALL, keep, says, verdict

from support.run import load_json, run_command, sentences_of, texts_of
from support.tracefile import MIB

GIB = 1 << 30


def ask(trace):
    return load_json("steps", trace.written())


def steps(trace):
    return ask(trace)["devices"][0]["steps"]


def train(trace, count, extra=lambda step: None, scale=lambda step: 1):
    """Records steps of 10 blocks of 10 MiB each, in addition to 100 MiB that are always live. scale(step) multiplies
    the sizes of the blocks; extra(step) adds events."""
    trace.alloc(100 * MIB, stack=trace.stack(("train.py", 5, "load")))
    stacks = [trace.stack(("train.py", 20 + layer, f"layer_{layer}")) for layer in range(10)]
    for step in range(1, count + 1):
        held = [trace.alloc(10 * MIB * scale(step), stack=stack) for stack in stacks]
        extra(step)
        for address in held:
            trace.free(address)
        trace.step(step)


def test_steps_that_are_alike_are_said_to_be(trace):
    train(trace, 50)
    assert ask(trace)["answer"] == [
        "No step stands out: step 1 of 50 peaked highest, at 200.00 MiB, a typical one at 200.00 MiB."
    ]
    assert steps(trace)["outlier"]["cause"] is None


def test_a_longer_batch_is_the_same_call_stacks_times_k(trace):
    train(trace, 50, scale=lambda step: 3 if step == 17 else 1)
    outlier = steps(trace)["outlier"]
    assert (outlier["step"], outlier["peak_bytes"], outlier["typical_peak_bytes"]) == (17, 400 * MIB, 200 * MIB)
    assert (outlier["cause"], outlier["more_ratio"]) == ("more bytes at the same call stacks", 3)
    assert ask(trace)["answer"] == [
        "Step 17 of 50 peaked at 400.00 MiB, 2.0 times the 200.00 MiB of a typical step.",
        "In step 17, the same call stacks allocated 3.00 times as much as in other steps, the largest part by train.py:20 "
        "layer_0 (+20.00 MiB): a longer batch or more of the same.",
    ]


def test_people_read_one_row_for_call_stacks_of_one_text(trace):
    functional = "/usr/lib/python3/dist-packages/torch/nn/functional.py"
    stacks = [trace.stack((functional, line, "linear"), ("/home/me/train.py", 8, "forward")) for line in (100, 200, 300)]
    for step in range(1, 21):
        for address in [trace.alloc((30 if step == 9 else 10) * MIB, stack=stack) for stack in stacks]:
            trace.free(address)
        trace.step(step)
    assert len(steps(trace)["outlier_sites"]) == 3
    text = run_command("steps", trace.path).stdout
    table = text.split("Allocated beyond a typical step\n")[1].split("\n\n")[0].splitlines()
    assert table[1].split() == ["90.00", "MiB", "30.00", "MiB"]
    assert table[-1].strip() == "… and 2 other call stacks of that line"


def test_call_stacks_that_other_steps_do_not_have_are_another_path(trace):
    evaluate = trace.stack(("eval.py", 12, "evaluate"))
    train(trace, 50, extra=lambda step: step == 30 and trace.free(trace.alloc(300 * MIB, stack=evaluate)))
    assert steps(trace)["outlier"]["cause"] == "new call stacks"
    assert ask(trace)["answer"][1] == (
        "In step 30, call stacks that other steps do not have allocated 300.00 MiB, most of it by eval.py:12 evaluate "
        "(300.00 MiB): another path through the program."
    )
    (site,) = steps(trace)["outlier_sites"]
    assert (site["bytes"], site["typical_bytes"], site["frames"][0]["function"]) == (300 * MIB, 0, "evaluate")


def test_a_rising_line_is_a_leak(trace):
    leak = trace.stack(("train.py", 40, "keep"))
    train(trace, 50, extra=lambda _: trace.alloc(10 * MIB, stack=leak))
    answer = ask(trace)
    assert answer["answer"][0] == (
        "Step 50 of 50 peaked at 700.00 MiB, 1.5 times the 460.00 MiB of a typical step."
    )
    assert answer["answer"][1].endswith("a rising line, a leak.")
    assert answer["next"].startswith("gpumemtrace leaks ")


def test_what_one_step_left_to_the_next_is_told_from_a_leak(trace):
    left = []

    def extra(step):
        if step == 20:
            left.append(trace.alloc(200 * MIB, stack=trace.stack(("eval.py", 7, "summary"))))
        elif step == 23:
            trace.free(left.pop())

    train(trace, 50, extra=extra, scale=lambda step: 2 if step == 21 else 1)
    answer = sentences_of(ask(trace))
    assert answer[1] == (
        "300.00 MiB was live when step 21 began, typically 100.00 MiB: memory of earlier steps was kept."
    )
    assert answer[2] == (
        "At the peak 200.00 MiB of the previous step is still live; eval.py:7 summary holds most of it."
    )


def test_the_first_step_holds_what_is_made_once(trace):
    train(trace, 20, extra=lambda step: step == 1 and trace.free(trace.alloc(GIB)))
    assert ask(trace)["answer"][1] == "It is the first step, which also makes everything that is made only once."


def test_ages_add_up_to_the_peak(trace):
    held = []

    def extra(step):
        held.append(trace.alloc(32 * MIB, stack=trace.stack(("train.py", 88, "output"))))
        if len(held) > 4:
            trace.free(held.pop(0))

    train(trace, 10, extra=extra)
    ages = {row["age"]: (row["bytes"] // MIB, row["blocks"]) for row in steps(trace)["ages"]}
    # Step 5 is the first step in which five outputs are live: its own output, and the outputs of four earlier steps.
    assert ages == {
        "this step": (132, 11), "the step before": (32, 1), "two steps before": (32, 1),
        "earlier steps": (32, 1), "the first step, and before": (132, 2),
    }  # fmt: skip
    assert sum(bytes_ for bytes_, _ in ages.values()) * MIB == steps(trace)["outlier"]["peak_bytes"]


def test_a_step_that_keeps_more_at_once_did_not_allocate_more(trace):
    """Each step makes the same three blocks. All but step 12 free each block before they make the next one."""
    line = trace.stack(("train.py", 3, "forward"))
    for step in range(1, 21):
        for count in [3] if step == 12 else [1, 1, 1]:
            for block in [trace.alloc(10 * MIB, stack=line) for _ in range(count)]:
                trace.free(block)
        trace.step(step)
    answer = ask(trace)
    assert steps(trace)["outlier"]["cause"] == "more live at once"
    assert answer["answer"][1] == "In step 12, the call stacks allocated no more than in other steps, but more of it was live at once."


def test_a_step_that_died_is_the_one_that_is_asked_about(trace):
    trace.device(0, "GPU-0", "card", GIB)
    train(trace, 30)
    longer = trace.stack(("train.py", 20, "layer_0"))
    trace.alloc(80 * MIB, stack=longer)
    trace.fail(900 * MIB, stack=longer)
    answer = ask(trace)
    assert answer["answer"][0] == "Step 31 did not end: 900.00 MiB was refused; it peaked at 180.00 MiB, typically 200.00 MiB."
    assert answer["answer"][1] == (
        "In step 31, the same call stacks asked for blocks 8.00 times as large as in other steps, most of it by "
        "train.py:20 layer_0 (+70.00 MiB): a longer batch or sequence."
    )
    assert answer["next"].startswith("gpumemtrace oom ")


def test_blocks_that_grow_with_every_step_are_of_no_longer_batch(trace):
    train(trace, 30, scale=lambda step: step)
    assert ask(trace)["answer"][1].endswith(" layer_0 (+145.00 MiB): larger from step to step.")


def opened(trace, command):
    return sentences_of(load_json(command, trace.path))


def test_a_failure_is_explained_by_its_step(trace):
    """The step failed before its memory exceeded the peak of the other steps. Its blocks are a third larger than those
    of the other steps."""
    trace.device(0, "GPU-0", "card", GIB)
    train(trace, 30)
    for layer in range(3):
        trace.alloc(40 * MIB // 3, stack=trace.stack(("train.py", 20 + layer, f"layer_{layer}")))
    trace.fail(40 * MIB // 3, stack=trace.stack(("train.py", 23, "layer_3")))
    outlier = steps(trace)["outlier"]
    assert (outlier["cause"], outlier["larger_ratio"]) == ("more bytes at the same call stacks", 1.33333)
    why = "In step 31, the same call stacks asked for blocks 1.33 times as large as in other steps"
    assert any(why in sentence for sentence in opened(trace, "report"))
    assert any(why in sentence for sentence in opened(trace, "oom"))


def test_a_failure_in_a_step_like_all_others_is_not_blamed_on_it(trace):
    trace.device(0, "GPU-0", "card", GIB)
    train(trace, 30)
    trace.alloc(10 * MIB, stack=trace.stack(("train.py", 20, "layer_0")))
    trace.fail(10 * MIB, stack=trace.stack(("train.py", 21, "layer_1")))
    assert steps(trace)["outlier"]["cause"] is None
    assert not any("step 31" in sentence for sentence in opened(trace, "oom"))


def test_a_failure_of_a_request_that_is_large_by_itself_is_not_blamed_on_the_step(trace):
    trace.device(0, "GPU-0", "card", GIB)
    train(trace, 30)
    trace.alloc(20 * MIB, stack=trace.stack(("train.py", 20, "layer_0")))
    trace.fail(900 * MIB, stack=trace.stack(("train.py", 21, "layer_1")))
    assert steps(trace)["outlier"]["cause"] == "more bytes at the same call stacks"
    assert not any("step 31" in sentence for sentence in opened(trace, "oom"))


def test_a_failure_after_a_leak_names_what_leaks(trace):
    trace.device(0, "GPU-0", "card", GIB)
    leak = trace.stack(("train.py", 40, "keep"))
    train(trace, 50, extra=lambda _: trace.alloc(10 * MIB, stack=leak))
    trace.fail(400 * MIB, stack=trace.stack(("train.py", 20, "layer_0")))
    trace.write()
    answer = opened(trace, "report")
    assert any(
        sentence.startswith("600.00 MiB was live when step 51 began") and "a rising line, a leak; " in sentence
        for sentence in answer
    )
    assert any("10.00 MiB" in sentence and "train.py:40 keep" in sentence for sentence in answer)


def test_retries_flushed_bytes_and_driver_calls_are_counted_per_step(trace):
    segments = [trace.alloc(20 * MIB)]
    trace.tensor(segments[0], MIB)
    for step in range(1, 11):
        if step > 5:
            trace.fail(30 * MIB)
            trace.free(segments.pop(), "linear")
            segments.append(trace.alloc(30 * MIB))
            trace.tensor(segments[0] + step * MIB, MIB)
        trace.step(step)
    row = steps(trace)
    assert [step["driver_calls"] for step in row["steps"]] == [1] + [0] * 4 + [3] * 5
    assert [step["retries"] for step in row["steps"]] == [0] * 5 + [1] * 5
    assert row["steady"]["retries_per_step"] == round(5 / 9, 6)
    assert row["steady"]["driver_calls_per_step"] == round(15 / 9, 5)
    assert row["steady"]["flushed_bytes_per_step"] == round((20 + 4 * 30) * MIB / 9)
    assert row["steady"]["driver_ns_per_step"] is None


def test_the_time_in_the_driver_is_that_of_the_steps_after_the_first(trace):
    for step in range(1, 6):
        seq = trace.events[-1][0] + 1 if trace.events else 1
        trace.alloc(MIB)
        trace.rows.setdefault("call_duration", []).append((seq, 1000 * step))
        trace.step(step)
    assert steps(trace)["steady"]["driver_ns_per_step"] == (2000 + 3000 + 4000 + 5000) // 4


def test_many_steps_are_at_most_129_rows_and_none_of_their_peaks_is_lost(trace):
    train(trace, 1000, scale=lambda step: 2 if step == 777 else 1)
    rows = steps(trace)["steps"]
    assert len(rows) == 126  # one row for the first step, and one row for each window of eight steps
    assert (rows[0]["first_step"], rows[0]["last_step"], rows[-1]["last_step"]) == (1, 1, 1000)
    assert all(after["first_step"] == before["last_step"] + 1 for before, after in zip(rows, rows[1:]))
    assert [row["highest_step"] for row in rows if row["peak_bytes"] > 200 * MIB] == [777]
    text = run_command("steps", trace.path).stdout
    assert text[text.index("Over the run"):].count("MiB       ") < 200 and " 777 " in text


def test_a_trace_without_steps_says_how_to_name_them(trace):
    trace.alloc(MIB)
    assert ask(trace)["answer"][0] == "The trace has no steps, and nothing that repeats shows where one begins."
    assert texts_of(ask(trace), "do").startswith("Call gpumemtrace_step() at the end of each")
    assert "steps" not in ask(trace)["devices"][0]


def infer(trace, lines, caller=("run.py", 9, "<module>"), count=20):
    """Records a program without marks that calls a model `count` times. In each call, each line of the model's forward
    calls a layer `layers` times."""
    call = ("torch/nn/modules/module.py", 1553, "Module._call_impl")
    for _ in range(count):
        for line, layers, function in lines:
            for _ in range(layers):
                layer = ("torch/nn/modules/linear.py", 125, "Linear.forward")
                trace.free(trace.alloc(MIB, stack=trace.stack(layer, call, ("model.py", line, function), call, caller)))


def test_a_layer_that_is_called_in_a_loop_is_no_step(trace):
    infer(trace, [(5, 1, "Net.forward"), (6, 12, "Net.forward"), (7, 12, "Net.forward"), (8, 12, "Net.forward")])
    assert (steps(trace)["step_count"], steps(trace)["step_site"]) == (20, "run.py:9 <module>")


def test_another_call_of_the_model_now_and_then_is_not_the_rhythm(trace):
    for _ in range(10):
        infer(trace, [(5, 1, "Net.forward"), (6, 12, "Net.forward")], count=9)
        infer(trace, [(5, 1, "Net.forward")], caller=("run.py", 12, "<module>"), count=1)
    assert steps(trace)["step_count"] == 90


@pytest.mark.parametrize("lines", [
    [(5, 16, "Sequential.forward")],  # sixteen layers in one call, or sixteen calls
    [(5, 1, "Sequential.forward")],
    [(5, 8, "Net.forward")],
])  # fmt: skip
def test_layers_that_may_repeat_within_a_step_tell_no_steps(trace, lines):
    infer(trace, lines)
    assert ask(trace)["answer"][0].startswith("The trace has no steps")


def test_what_a_backward_takes_is_headed_by_its_forward_line(trace):
    trace.rows["module"].append((1, "/me/libtorch_cpu.so", None, 0x10000, 0x10000, 0x20000))
    trace.name(0x10010, (None, 1, "torch::autograd::generated::MmBackward0::apply"))
    apply, segment, held = trace.stack(0x10010), trace.alloc(64 * MIB), []
    for step in range(1, 6):
        for node, size in ((2 * step, 8 * MIB), (2 * step + 1, 4 * MIB)):
            line = 10 + node % 2
            trace.event("autograd-node", address=1, object=node, size=0)
            trace.tensor_free(trace.tensor(segment, MIB, stack=trace.stack(("train.py", line, "forward"))))
            trace.event("autograd-node", address=1, object=node, size=1)
            held.append(trace.tensor(segment + len(held) % 4 * 16 * MIB, size, stack=apply))
        trace.event("autograd-node", address=1)
        for address in held[:-2]:
            trace.tensor_free(address)
        held = held[-2:]
        trace.step(step)
    page = load_json("steps", trace.write())["devices"][0]["steps"]
    assert {row["most_site"] for row in page["ages"]} == {f"MmBackward0 of train.py:{line} forward" for line in (10, 11)}


def test_without_marks_a_step_begins_at_an_allocation_that_repeats(trace):
    batch, work = trace.stack(("train.py", 5, "load_batch")), trace.stack(("train.py", 8, "forward"))
    trace.alloc(100 * MIB, stack=trace.stack(("train.py", 1, "load")))
    for step in range(1, 31):
        held = trace.alloc(10 * MIB, stack=batch), trace.alloc((200 if step == 17 else 20) * MIB, stack=work)
        for address in held:
            trace.free(address)
    outlier = steps(trace)["outlier"]
    assert (outlier["step"], outlier["peak_bytes"], outlier["typical_peak_bytes"]) == (17, 310 * MIB, 130 * MIB)
    assert (steps(trace)["step_count"], steps(trace)["step_site"]) == (30, "train.py:5 load_batch")
    assert steps(trace)["steps_end_with"] == "an allocation that repeats"
    assert sentences_of(ask(trace))[-1] == (
        "The program marks no steps, so a step is taken to begin each time that train.py:5 load_batch allocates after other "
        "lines."
    )


def optimize(trace, line, named):
    """Allocates as an optimizer does when `line` calls it. The allocation of `load` ends the inferred phase."""
    step = trace.stack(("/lib/torch/optim/adam.py", 500, "Adam.step"), ("train.py", line, "train"))
    with trace.phase("optimizer") if named else contextlib.nullcontext():
        trace.free(trace.alloc(512, stack=step))
    trace.free(trace.alloc(512, stack=trace.stack(("train.py", 9, "load"))))


# Each letter is a step of the optimizer with that letter. If the second optimizer starts late, the iterations before it
# is known do not count, unless the first one never comes back.
@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize(
    "turns, expected",
    [
        ("A" * 24, 24),
        ("AB" * 24, 24),
        ("AAB" * 24, 24),
        ("AABB" * 24, 24),
        ("ABC" * 24, 24),
        ("A" * 12 + "AB" * 12, 24),
        ("A" * 12 + "AAB" * 24, 22),
        ("A" * 12 + "AAAAAAAAB" * 24, 22),
        (("A" * 16 + "B") * 3, 48),
        ("A" + "B" * 23, 24),
        ("A" * 20 + "B" * 20, 40),
        ("A" * 8 + "B" * 8, 16),
        ("AAAABBBBCCC", 11),
        ("AABB", 1),
        ("".join(letter * 3 for letter in "ABCDEFGHIJKLMNOPQ"), 1),  # too many to tell apart
    ],
)
def test_optimizers_that_take_turns_end_one_step(trace, turns, expected, named):
    for letter in turns:
        optimize(trace, 10 + ord(letter), named)
    assert len(steps(trace)["steps"]) == expected


@pytest.mark.parametrize("count", [4, 24])
def test_an_optimizer_that_allocates_in_its_first_step_alone_hides_no_step(trace, count):
    """SGD with momentum allocates only in its first step. Backward ends all steps, including the first ones."""
    backward = trace.stack("backward (autograd)")
    optimizer = trace.stack(("/lib/torch/optim/sgd.py", 500, "SGD.step"), ("train.py", 9, "train"))
    batch, kept = trace.stack(("train.py", 5, "load")), trace.stack(("train.py", 7, "keep"))
    for step in range(count):
        trace.free(trace.alloc(MIB, stack=batch))
        trace.alloc(512, stack=kept)
        trace.free(trace.alloc(MIB, stack=backward))
        if not step:
            trace.alloc(MIB, stack=optimizer)
    trace.free(trace.alloc(MIB, stack=batch))
    trace.write()
    assert (steps(trace)["step_count"], steps(trace)["steps_end_with"]) == (count, "backward, as the stacks show it")
    growth = load_json("leaks", trace.path)["devices"][0]["leaks"]["growth"][0]
    # Four steps are too few for a leak, because the first two do not count.
    assert (growth["steps"], growth["leak_bytes_per_step"]) == (count, 512 if count > 4 else 0)
    rows = load_json("timeline", trace.path, "--axis=step")["devices"][0]["timeline"]
    assert rows[-1]["step"] == count + 1
    phases = {row["path"]: row for row in load_json("phases", trace.path)["devices"][0]["phases"]}
    assert phases["backward"]["steps"] == count
    points = load_json("report", trace.path, "--series")["series"]["layers"][0]["points"]
    assert sorted(set(points["step"])) == list(range(1, count + 2))


def compute(trace, lines, count=20):
    """Allocates tensors in functions without a model. In each of `count` rounds, each line allocates `times` times."""
    trace.alloc(64 * MIB)
    for _ in range(count):
        for line, times, function in lines:
            for _ in range(times):
                stack = trace.stack(("net.py", line, function))
                trace.tensor_free(trace.tensor(1 << 40, 512, stack=stack))


@pytest.mark.parametrize("lines, expected", [
    ([(4, 1, "net"), (5, 1, "net")], None),  # twenty layers, or twenty steps
    ([(4, 12, "net"), (5, 12, "net")], 20),  # twelve times the one, then twelve times the other
    ([(9, 1, "main"), (4, 12, "net"), (5, 12, "net")], 20),
])  # fmt: skip
def test_tensors_that_all_repeat_as_often_may_be_those_of_layers(trace, lines, expected):
    compute(trace, lines)
    assert steps(trace).get("step_count") == expected if expected else "steps" not in ask(trace)["devices"][0]


# --- layers of one forward ---


def call_40_layers(trace, calls_loss):
    """Runs one forward. The weights of the model were moved to the card before. Each of 40 layers makes two tensors,
    which are kept."""
    trace.alloc(256 * MIB)
    moved = trace.stack(("train.py", 4, "main"))
    for number in range(40):
        trace.tensor((1 << 45) + number * 4096, 4096, stack=moved)
    inner, outer = (trace.stack(("model.py", line, "Block.forward"), CALL, ("model.py", 9, "Net.forward"), CALL, ("train.py", 5, "main"))
                    for line in (3, 4))  # fmt: skip
    for number in range(40):
        keep(trace, inner, 2 * number)
        keep(trace, outer, 2 * number + 1)
    if calls_loss:
        keep(trace, trace.stack(("train.py", 6, "main")), 80)


def test_a_forward_that_calls_a_layer_often_is_not_taken_for_steps(trace):
    call_40_layers(trace, calls_loss=False)
    assert verdict(trace)[0] == "cannot tell"
    assert "kept from steps before" not in run_command("report", trace.path).stdout


@pytest.mark.parametrize("name", ["backward", "optimizer", "step"])
def test_what_ends_a_step_and_has_only_begun_is_one_step(trace, name):
    call_40_layers(trace, calls_loss=True)
    trace.push(name)
    gradients = trace.stack(("train.py", 6, "main"))
    for number in range(40):
        trace.tensor((1 << 46) + number * 4096, 4096, stack=gradients)
    assert verdict(trace)[:2] == ("cannot tell", 1)
    assert says(trace) == "Cannot tell whether memory leaks: 1 step is too few, at least 4 are needed."


# --- rounds of programs that mark no steps ---

MODEL = ("model.py", 9, "Net.forward")


def line(number, *callers):
    return (("loop.py", number, "run"), *(callers or [("main.py", 1, "<module>")]))


# Each letter is a line that allocates, in the order of the alphabet. Blocks of capitals are kept.
LINES = {letter: line(ord(letter.lower())) for letter in "abcdeABCDExX"}


def play(trace, sequence, lines=LINES, size=lambda number: MIB):
    for number, letter in enumerate(sequence):
        address = trace.alloc(size(number), stack=trace.stack(*lines[letter]))
        if letter.islower():
            trace.free(address)


def growth(trace):
    return load_json("leaks", trace.written())["devices"][0]["leaks"]["growth"][0]


def shown(trace):
    return load_json("steps", trace.path).get("devices")[0].get("steps")


@pytest.mark.parametrize("sequence, expected", [
    ("X" + "abc" * 3, 3),
    ("X" + "abc" * 2, None),  # two may be chance
    ("abcdeAbcaedceb", None),  # nothing repeats
    ("X" * 40 + "ab" * 13, 13),
    ("abC" * 20, 20),  # a leak
    ("ABC" * 20, None),  # a loop that only fills memory, as the set-up of a model does
    (("abc" * 5 + "e") * 4, 20),  # an evaluation now and then
    ("c" + "abc" * 12 + "e", 12),  # a warm-up and an end
    ("abc" * 4 + "ac" + "abc" * 5, 10),  # a line is skipped
    ("abc" * 4 + "abdc" + "abc" * 5, 10),  # a line allocates once
    (("a" + "bc" * 8 + "d") * 10, 10),  # eight micro-batches in each
    (("ab" + "c" * 32) * 6, 6),  # 32 equal layers
    ("abc" * 9 + "a", 9),  # the last round is not whole
    ("abc" * 9 + "ab", 9),
])  # fmt: skip
def test_a_round_is_a_step(trace, sequence, expected):
    play(trace, sequence)
    assert growth(trace)["steps"] == expected
    assert (shown(trace) or {}).get("step_count") == expected


def test_blocks_that_get_larger_in_each_round_are_rounds_though_all_are_kept(trace):
    """A pool of the program never uses a smaller buffer again."""
    play(trace, "X" + "AB" * 48, size=lambda number: (number + 1) // 2 * MIB)
    assert growth(trace)["steps"] == 48 and growth(trace)["step_site"] == "loop.py:97 run"


def test_a_constructor_that_repeats_is_no_loop_of_steps(trace):
    made = {letter: line(number, ("model.py", 3, "Net.__init__"), ("main.py", 1, "<module>")) for number, letter in enumerate("abc", 5)}
    play(trace, "abc" * 24, made)
    assert growth(trace)["steps"] is None


def of_epochs(lines):
    """The first lines are called by the function that trains an epoch, the last one by main."""
    train = ("loop.py", 5, "train_epoch")
    return {**{letter: line(number, train, ("main.py", 3, "<module>")) for number, letter in enumerate(lines, 10)},
            "e": line(20, ("main.py", 4, "<module>"))}  # fmt: skip


@pytest.mark.parametrize("epochs, expected", [(2, 40), (3, 3)])
def test_an_epoch_of_a_program_without_a_model_is_taken_from_three_on(trace, epochs, expected):
    play(trace, ("abc" * (40 // epochs) + "e") * epochs if epochs == 2 else ("abc" * 20 + "e") * 3, of_epochs("abc"))
    assert growth(trace)["steps"] == expected


def test_an_epoch_over_calls_of_a_model_is_no_step(trace):
    lines = of_epochs("ab")
    lines["b"] = (("model.py", 5, "Net.forward"), CALL, *lines["b"])
    lines["c"] = (("model.py", 6, "Net.forward"), *lines["b"][1:])
    play(trace, ("abc" * 20 + "e") * 3, lines)
    assert growth(trace)["steps"] == 60


def test_a_function_that_calls_itself_counts_once(trace):
    """A search halves the batch, from inside the handler of the attempt before."""
    trace.alloc(MIB, stack=trace.stack("load"))
    for depth in range(1, 9):
        callers = (("search.py", 3, "attempt"), *[("search.py", 9, "search")] * depth, ("main.py", 1, "<module>"))
        play(trace, "aabbC", {letter: (("search.py", number, "attempt"), *callers) for number, letter in enumerate("abC", 4)})
    assert growth(trace)["steps"] == 8


def test_equal_rounds_have_equal_figures_though_they_begin_in_the_middle_of_the_program(trace):
    """Each round keeps 80 MiB. The blocks of a round are freed only in the next one, and all at exit."""
    play(trace, "X" * 7)
    held, kept = [], []
    for _ in range(20):
        held.append(trace.alloc(300 * MIB, stack=trace.stack(*LINES["a"])))
        if len(held) > 1:
            trace.free(held.pop(0))
        trace.free(trace.alloc(50 * MIB, stack=trace.stack(*LINES["b"])))
        kept.append(trace.alloc(80 * MIB, stack=trace.stack(*LINES["c"])))
        trace.free(trace.alloc(MIB, stack=trace.stack(*LINES["d"])))
    for address in [*held, *kept]:
        trace.free(address)
    row = growth(trace)
    assert (row["verdict"], row["steps"]) == ("leak", 20)
    assert {row[key] for key in ("bytes_per_step", "bytes_per_step_low", "bytes_per_step_high")} == {80 * MIB}
    rows = shown(trace)["steps"]
    assert {row["allocated_bytes"] for row in rows[1:]} == {431 * MIB} and len(rows) == 20


def decode(trace, tokens, layers):
    """Each layer of each token makes a larger copy of its cache. The old copies are freed when the token is done."""
    layer = [(("model.py", number, "Layer.forward"), CALL, MODEL, CALL, ("main.py", 8, "<module>")) for number in (3, 4)]
    old = []
    for token in range(1, tokens + 1):
        new = []
        for _ in range(layers):
            trace.tensor_free(trace.tensor(1 << 41, MIB, stack=trace.stack(*layer[0])))
            new.append(trace.tensor((1 << 42) + (token % 2 * layers + len(new)) * (1 << 30), token * MIB, stack=trace.stack(*layer[1])))
        for address in old:
            trace.tensor_free(address)
        old = new


def test_a_token_ends_where_the_copies_of_its_cache_are_freed_all_at_once(trace):
    trace.alloc(MIB)
    decode(trace, tokens=20, layers=6)
    row = growth(trace)
    # The first token frees nothing, the second is told by no allocation after it: they count as one, and the last not.
    assert (row["steps"], row["verdict"], row["enlarged_bytes_per_step"]) == (18, "grows", 6 * MIB)
    assert sentences_of(load_json("steps", trace.path))[-1] == (
        "The program marks no steps, so a step is taken to end when blocks of main.py:8 <module> are freed all at once."
    )


def test_layers_that_free_what_they_hold_at_their_end_are_no_tokens(trace):
    """Each of twenty layers runs its experts, and frees what they made."""
    trace.alloc(MIB)
    layer, expert = ((("model.py", number, "Layer.forward"), CALL, MODEL, CALL, ("main.py", 8, "<module>")) for number in (3, 4))
    for _ in range(20):
        made = [trace.tensor((1 << 41) + number * MIB, MIB, stack=trace.stack(*expert)) for number in range(8)]
        trace.tensor_free(trace.tensor(1 << 42, MIB, stack=trace.stack(*layer)))
        for address in made:
            trace.tensor_free(address)
    assert growth(trace)["steps"] is None
