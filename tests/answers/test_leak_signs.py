# SPDX-License-Identifier: MIT
"""The cause of a leak, in made traces. leak_signs.def lists the signs; tests/unit/analyzer/analysis/leak_signs.c tries them
one by one."""
import pytest

from support.run import load_json, run_command, sentences_of
from support.tracefile import MIB, Trace

TORCH = "/usr/lib/python3/dist-packages/torch"
CALL = (f"{TORCH}/nn/modules/module.py", 1553, "Module._call_impl")
APPLY = (f"{TORCH}/autograd/function.py", 575, "Function.apply")
NO_BACKWARD = "Run the forward under torch.no_grad(), or detach() what is kept."
CHAIN = "detach() what goes on into the next step, or is stored."


class Program:
    """Makes tensors of PyTorch's pool in steps that the program marks."""

    def __init__(self, path):
        self.trace, self.next = Trace(path), 1 << 40
        self.trace.alloc(512 * MIB, stack=self.trace.stack(("train.py", 1, "start")))

    def tensor(self, line, function="main", size=MIB, node=0, outer=(), asked=0, **columns):
        """Makes a tensor, as a result of autograd's node, if one is given. asked: the bytes of the request, if the pool
        gave more."""
        self.next += size
        if asked:
            self.trace.event("pool-asked", address=self.next, size=asked, device=0)
        self.trace.event("autograd-node", address=1, object=node, **columns)
        made = self.trace.tensor(self.next, size, stack=self.trace.stack(("train.py", line, function), *outer), **columns)
        self.trace.event("autograd-node", address=1, object=0, **columns)
        return made

    def temporary(self, line, *more, **columns):
        self.trace.tensor_free(self.tensor(line, *more, **columns))

    def backward(self):
        with self.trace.phase("backward"):
            self.temporary(90, "backward")

    def run(self, steps, step):
        for number in range(1, steps + 1):
            step(number)
            self.trace.step(number)
        return self

    def answer(self, command="leaks"):
        return sentences_of(load_json(command, self.trace.written()))


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "trace.db")


def keep_of_function(program, number):
    program.tensor(7, "Clip.forward", outer=(APPLY, ("train.py", 20, "main")))
    program.backward()


def keep_of_forward(program, number):
    program.tensor(3, size=MIB // 2)
    for line in (7, 8):
        program.tensor(line, "Net.forward", node=2 * number + line, outer=(CALL, ("train.py", 4, "main")))


def keep_chain(program, number):
    keep_of_forward(program, number)
    program.backward()


def keep_copies(program, number):
    """Hooks of four layers copy what goes in and out; the backward goes through other tensors."""
    for layer in range(4):
        for line in (7, 8):
            program.tensor(line, "hook", size=MIB // 4, node=8 * number + layer, outer=(CALL, ("train.py", 4, "main")))
    program.backward()


def keep_gradient(program, number, recorded=("MulBackward0",)):
    """Autograd records an operator of the backward, and a gradient that the backward makes later is kept."""
    program.trace.thread_names[2] = "pt_autograd_0"
    root = (f"{TORCH}/autograd/__init__.py", 50, "_make_grads"), (f"{TORCH}/autograd/__init__.py", 340, "backward")
    stack = program.trace.stack(*root, ("train.py", 24, "main"))
    program.next += 512
    program.trace.tensor_free(program.trace.tensor(program.next, 512, stack=stack))
    program.trace.event("autograd-node", address=1, object=number, thread=2)
    program.trace.tensor_free(program.trace.tensor(program.next, 512, stack=program.trace.stack(*recorded), thread=2))
    program.trace.event("autograd-node", address=1, object=0, thread=2)
    program.tensor(91, "backward", thread=2)


def keep_one_of_two_gradients(program, number):
    """Autograd's thread makes two gradients, without a Python frame. The program keeps one in a list."""
    trace = program.trace
    trace.thread_names[2] = "pt_autograd_0"
    root = (f"{TORCH}/autograd/__init__.py", 50, "_make_grads"), (f"{TORCH}/autograd/__init__.py", 340, "backward")
    trace.tensor_free(trace.tensor(1 << 50, 512, stack=trace.stack(*root, ("train.py", 24, "main"))))
    program.next += 2 * MIB
    trace.tensor(program.next, MIB, stack=trace.stack("AddmmBackward0"), thread=2)
    trace.tensor_free(trace.tensor(program.next + MIB, MIB, stack=trace.stack("AddmmBackward0"), thread=2))


def keep_plain(program, number):
    program.tensor(7)
    program.temporary(8, node=number)
    program.backward()


def keep_model(program, number):
    with program.trace.phase("init"):
        program.tensor(7, "Net.__init__")
    program.temporary(8)


def keep_driver(program, number):
    trace = program.trace
    trace.alloc(MIB, stack=trace.stack("keep_driver"))
    program.temporary(8)


@pytest.mark.parametrize("step, what, action", [
    (keep_of_function, "1.00 MiB per step by train.py:7 Clip.forward.",
     "Hand tensors to ctx.save_for_backward(), and store none as an attribute of ctx."),
    (keep_of_forward, "2.50 MiB per step: 2.00 MiB by train.py:7 and :8, 512.00 KiB by :3.", NO_BACKWARD),
    (keep_chain, "2.50 MiB per step: 2.00 MiB by train.py:7 and :8, 512.00 KiB by :3.", CHAIN),
    (keep_copies, "2.00 MiB per step by train.py:7 and :8.",
     "If only the values are needed, store loss.item() or a copy on the CPU."),
    (keep_gradient, "1.00 MiB per step by train.py:91 backward.",
     "Use torch.autograd.grad(create_graph=True), or set .grad to None after each step."),
    (keep_plain, "1.00 MiB per step by train.py:7 main.", "Look for what stores a tensor that this line makes."),
    (keep_model, "1.00 MiB per step by train.py:7 Net.__init__.",
     "Remove the old model from what keeps it before the next one is made."),
    (keep_driver, "1.00 MiB per step by keep_driver in the driver's memory, outside the pytorch pool.",
     "Free each block when it is no longer needed."),
])  # fmt: skip
def test_each_sign_has_its_action(program, step, what, action):
    answer = program.run(12, lambda number: step(program, number)).answer()
    assert answer[0] == f"Leak: {what}" and action in answer


def test_where_no_sign_holds_only_the_line_is_named(program):
    """The trace has a backward and tells nothing of graphs."""
    program.run(12, lambda number: (program.tensor(7), program.backward()))
    events = program.trace.events
    program.trace.events = [event for event in events if event[4] != 24]
    assert program.answer() == [
        "Leak: 1.00 MiB per step by train.py:7 main.",
        "12.00 MiB of it is live after 12 steps, kept since the first step.",
    ]


def test_gradients_that_a_program_keeps_are_not_said_to_lack_a_free(program):
    answer = program.run(12, lambda number: keep_one_of_two_gradients(program, number)).answer()
    assert answer == [
        "Leak: 1.00 MiB per step by AddmmBackward0.",
        "12.00 MiB of it is live after 12 steps, kept since the first step.",
    ]


@pytest.mark.parametrize("recorded", [
    ("sigmoid", ("train.py", 7, "Net.forward"), (f"{TORCH}/utils/checkpoint.py", 1409, "recompute_fn")),
    ("sigmoid", ("train.py", 70, "Reversible.backward"), (f"{TORCH}/autograd/function.py", 311, "BackwardCFunction.apply")),
])  # fmt: skip
def test_what_a_function_computes_again_in_a_backward_does_not_record_the_backward(program, recorded):
    assert program.run(12, lambda number: keep_gradient(program, number, recorded)).answer() == [
        "Leak: 1.00 MiB per step by train.py:91 backward.",
        "12.00 MiB of it is live after 12 steps, kept since the first step.",
    ]


def test_the_input_of_a_kept_graph_is_kept_by_the_same_cause(program):
    answer = program.run(12, lambda number: keep_of_forward(program, number)).answer()
    assert answer[1] == ("Forward keeps tensors for a backward that never comes; the graph keeps its input as well, 512.00 KiB "
                         "per step by train.py:3 main.")  # fmt: skip


def test_growth_in_one_of_three_steps_is_said_for_three_steps(program):
    answer = program.run(30, lambda number: number % 3 or (program.tensor(7), program.tensor(9, size=3 * MIB))).answer()
    assert answer[0] == "Leak: 4.00 MiB every 3 steps: 3.00 MiB by train.py:9, 1.00 MiB by :7."


def test_growth_in_other_steps_is_another_cause(program):
    answer = program.run(30, lambda number: (program.tensor(7), number % 3 or program.tensor(9))).answer()
    assert answer[0] == "Leak: 1.00 MiB per step by train.py:7 main."
    assert "In other steps, 341.33 KiB per step is kept by train.py:9 main." in answer


# --- series that collapse ---


def saw(program, ends):
    """Keeps a tensor in each step, and frees all of them in some steps."""
    held = []

    def step(number):
        held.append(program.tensor(7))
        program.temporary(8)
        while number in ends and held:
            program.trace.tensor_free(held.pop())

    return step


@pytest.mark.parametrize("ends, verdict, what", [
    ([24], "grows", "+1.00 MiB per step by train.py:7 main, freed at once in step 24."),
    ([10, 24], "grows", "+1.00 MiB per step by train.py:7 main, freed at once 2 times."),
    ([9, 18, 27], "no leak", "No leak: +1.00 MiB per step by train.py:7 main, freed at once every 9 steps."),
    ([5], "leak", "Leak: 1.00 MiB per step by train.py:7 main."),
    ([], "leak", "Leak: 1.00 MiB per step by train.py:7 main."),
])  # fmt: skip
def test_a_series_that_collapses_is_said_with_its_collapses(program, ends, verdict, what):
    answer = program.run(30, saw(program, ends)).answer()
    page = load_json("leaks", program.trace.path)["devices"][0]["leaks"]
    assert (page["growth"][0]["verdict"], answer[0]) == (verdict, what)
    (row,) = page["growing"]
    assert (row["bytes_per_step"], row["collapses"]) == (MIB, len(ends) if verdict != "leak" else 0)


def test_a_saw_is_judged_by_its_teeth_and_stands_below_the_peak(program):
    report = program.run(30, saw(program, [24])).answer("report")
    assert report[0].startswith("Peak 25.00 MiB")
    assert "+1.00 MiB per step by train.py:7 main, freed at once in step 24." in report
    for limit, status in (("1MiB", 0), ("1023KiB", 1)):
        assert run_command("check", f"--max-growth-per-step={limit}", program.trace.path).returncode == status


def test_a_buffer_that_is_written_out_at_a_regular_pace_stands_below_the_peak_too(program):
    report = program.run(30, saw(program, [9, 18, 27])).answer("report")
    assert "+1.00 MiB per step by train.py:7 main, freed at once every 9 steps." in report


@pytest.mark.parametrize("places, is_cycle", [((7, 9), True), ((9, 9), False)])
def test_only_what_is_freed_anywhere_is_said_to_be_in_cycles(program, places, is_cycle):
    held, when = [], dict(zip((10, 24), places, strict=True))

    def step(number):
        held.append(program.tensor(7))
        for line in (7, 9):
            program.temporary(line + 1 if line == 7 else line)
            while when.get(number) == line and held:
                program.trace.tensor_free(held.pop())

    said = "Blocks of several steps were freed at one moment, as Python's collector frees reference cycles."
    for command in ("leaks", "report"):
        assert (said in program.run(30, step).answer(command)) == is_cycle
        program.run = lambda *_: program


# --- growth that is no leak ---


def test_few_steps_of_which_not_each_grows_are_too_few(program):
    answer = program.run(8, lambda number: number % 2 and program.tensor(7)).answer()
    assert answer == ["Cannot tell whether memory leaks: 512.00 KiB per step may be chance.",
                      "In 8 steps the growth is known to ±170.67 KiB per step by train.py:7 main."]  # fmt: skip


def test_a_cache_that_is_full_is_flat_since_then(program):
    answer = program.run(30, lambda number: number <= 6 and program.tensor(7)).answer()
    assert answer == ["No leak: live bytes are flat since step 6 of 30."]


def test_growth_of_less_than_a_hundredth_of_the_peak_stands_below_it(program):
    program.tensor(2, size=400 * MIB)
    program.run(30, lambda number: program.tensor(7, size=MIB // 10))
    report = program.answer("report")
    assert report[0].startswith("Peak 403.00 MiB")
    assert "Memory grows by 102.40 KiB per step by train.py:7 main." in report
    assert program.answer()[0] == "Leak: 102.40 KiB per step by train.py:7 main."


def keep_afterwards(program, count, size, held):
    """Runs five steps that keep nothing, and then `count` rounds in which two lines make a block each."""
    program.run(5, lambda number: program.temporary(9))
    for _ in range(count):
        for line in (47, 48):
            (program.tensor if held else program.temporary)(line, "test", size=size * MIB)
        program.temporary(49)
    return program


@pytest.mark.parametrize("count, size, held, opening", [
    (60, 8, True, "Leak: 16.00 MiB per round by train.py:47 and :48, since the last step."),
    (7, 70, True, "Leak: 140.00 MiB per round by train.py:47 and :48, since the last step."),
    (3, 70, True, "No leak: live bytes do not grow from step to step (5 steps)."),
    (60, 8, False, "No leak: live bytes do not grow from step to step (5 steps)."),
])  # fmt: skip
def test_rounds_after_the_last_step_leak_as_steps_do(program, count, size, held, opening):
    answer = keep_afterwards(program, count, size, held).answer()
    kept = f"{2 * count} blocks, {2 * count * size:.2f} MiB, are kept after {count} rounds; none was freed"
    assert answer[0] == opening and any(text.startswith(kept) for text in answer) == opening.startswith("Leak")
    assert (opening in program.answer("report")) == opening.startswith("Leak")
    assert (opening in program.answer("steps")) == opening.startswith("Leak")


@pytest.mark.parametrize("layers, opening", [
    (1, "Leak: 16.00 MiB per round by train.py:47 and :48, since the last step."),
    (60, "960.00 MiB more is kept after the last of 5 steps, most by train.py:47 and :48."),
])  # fmt: skip
def test_rounds_within_one_backward_are_no_steps(program, layers, opening):
    """A checkpoint computes its layers again in backward, and the gradients of each layer are kept."""
    program.run(5, lambda number: program.temporary(9))
    for number in range(60):
        if number % layers == 0:
            program.trace.push("backward", source=1)
        for line in (47, 48):
            program.tensor(line, "test", size=8 * MIB)
        program.temporary(49)
        if number % layers == layers - 1 and number < 59:
            program.trace.pop(source=1)
    assert program.answer()[0] == opening


COPIES = [(f"{TORCH}/{file}", 86, f"{made}.__deepcopy__") for file, made in (("_tensor.py", "Tensor"), ("nn/parameter.py", "Parameter"))]
MODEL = [(f"{TORCH}/nn/modules/linear.py", 114, "Linear.reset_parameters")]


@pytest.mark.parametrize("made, said", [
    ([(47, [], 8)], "72.00 MiB more is kept after the last of 5 steps, most by train.py:47."),
    ([(47, MODEL, 8)], None),
    ([(47, MODEL, 8), (48, MODEL, 9), (60, [], 7), (61, [], 6)],
     "117.00 MiB more is kept after the last of 5 steps, most by train.py:60 and :61."),
    ([(47, COPIES[:1], 8), (48, COPIES[1:], 9)], "153.00 MiB more is kept after the last of 5 steps, most by train.py:48 and :47."),
])  # fmt: skip
def test_memory_that_is_kept_after_the_last_step_without_rounds_is_said_except_a_model(program, made, said):
    program.run(5, lambda number: program.temporary(9))
    for line, inner, size in made:
        for number in range(9):
            stack = program.trace.stack(*inner, ("train.py", line, "main"))
            program.trace.tensor((line << 50) + size * MIB * number, size * MIB, stack=stack)
    none = "No leak: live bytes do not grow from step to step (5 steps)."
    assert program.answer()[0] == (said or none) and (said in program.answer("steps")) == bool(said)


def replace_larger(program, sizes, every=1):
    held = []

    def step(number):
        if number % every == 0:
            held.append(program.tensor(7, size=sizes[number // every - 1]))
        if len(held) > 1:
            program.trace.tensor_free(held.pop(0))

    return program.run(len(sizes) * every, step)


@pytest.mark.parametrize("sizes, every, opening", [
    ([2, 8, 16, 64], 1, "Cannot tell whether memory leaks: 20.67 MiB per step may be chance."),
    ([2, 4, 6, 8, 10], 1, "No leak, but each block is 2.00 MiB larger than the last, by train.py:7 main."),
    ([2, 4, 8, 16, 32, 64], 6, "No leak, but kept blocks get larger: 843.29 KiB per step by train.py:7 main."),
])  # fmt: skip
def test_a_few_longer_requests_are_not_called_growth(program, sizes, every, opening):
    assert replace_larger(program, [size * MIB for size in sizes], every).answer()[0] == opening


@pytest.mark.parametrize("keeps, asked, opening", [
    (2, [9], "No leak: live bytes do not grow from step to step (8 steps)."),
    (2, [9, 5], "No leak: live bytes do not grow from step to step (8 steps)."),
    (2, [9, 10, 11, 12, 13, 14, 15, 16], "No leak, but each block is 1.00 MiB larger than the last, by train.py:7 main."),
    (9, [9], "Leak: 9.34 MiB per step by train.py:7 main."),
])  # fmt: skip
def test_the_rest_that_a_pool_does_not_cut_off_is_no_growth(program, keeps, asked, opening):
    """The pool hands out larger and larger blocks."""
    held = []

    def step(number):
        for size in asked if len(asked) < 3 else asked[number - 1 : number]:
            held.append(program.tensor(7, size=size * MIB + number * MIB // 16, asked=size * MIB))
        while len(held) > keeps - 1:
            program.trace.tensor_free(held.pop(0))

    assert program.run(8, step).answer()[0] == opening


@pytest.mark.parametrize("rise, fails, said", [(0, False, True), (MIB, False, False), (0, True, False)])
def test_a_forecast_needs_blocks_of_one_size_and_a_card_that_refused_none(program, rise, fails, said):
    program.trace.device(total_bytes=4 << 30)
    program.run(12, lambda number: program.tensor(7, size=MIB + number * rise))
    if fails:
        program.trace.fail(64 << 30)
    assert any("the card is full after about" in text.lower() for text in program.answer()) == said


@pytest.mark.parametrize("rise, frees, said", [
    (MIB, 1, "Blocks of this line are kept when a larger one is made."),
    (MIB, 0, "Blocks of this line are kept when a larger one is made; each block is larger than the one before."),
    (MIB, 2, "Some blocks of this line are freed and others are not."),
    (0, 1, "Some blocks of this line are freed and others are not."),
    (0, 0, "No block of this line was ever freed."),
])  # fmt: skip
def test_a_buffer_that_forgets_its_smaller_blocks_is_told_from_a_path_without_a_free(program, rise, frees, said):
    trace, blocks = program.trace, []

    def step(number):
        blocks.append(trace.alloc(4 * MIB + number * rise, stack=trace.stack("reserve")))
        trace.free(trace.alloc(MIB, stack=trace.stack("scan")))

    program.run(12, step)
    for block in blocks[len(blocks) - frees:]:
        trace.free(block)
    answer = program.answer()
    assert answer[0].startswith("Leak: ") and "by reserve" in answer[0]
    assert said in answer
    assert ("If it replaces the one before, free that one." in answer) == said.startswith("Blocks")


# --- growth without steps ---


def outgrow(trace, sizes, free=False):
    trace.alloc(MIB, stack=trace.stack(("pool.c", 1, "load")))
    held = None
    for size in sizes:
        for line in (69, 70):
            block = trace.alloc(size, stack=trace.stack(("pool.c", line, "attend")))
            if free and held:
                trace.free(held)
            held = block


def test_blocks_that_are_freed_together_tell_the_rounds_and_are_said(tmp_path):
    trace, held = Trace(tmp_path / "trace.db"), []
    trace.alloc(MIB, stack=trace.stack(("queue.c", 1, "load")))
    for _ in range(44):
        held.append(trace.alloc(8 * MIB, stack=trace.stack(("queue.c", 9, "take"))))
        for address in held if len(held) == 10 else ():
            trace.free(address)
        held = held if len(held) < 10 else []
    trace.write()
    said = "Up to 10 blocks by queue.c:9 take are freed at once."
    assert load_json("leaks", trace.path)["answer"] == ["No leak: live bytes do not grow from step to step (4 steps).", said]
    assert said in load_json("report", trace.path)["answer"]


@pytest.mark.parametrize("kept", [8, 7])
def test_blocks_that_are_never_freed_are_said_although_no_step_is_known(tmp_path, kept):
    trace = Trace(tmp_path / "trace.db")
    for line in (3, 4):
        for _ in range(kept):
            trace.alloc(MIB, stack=trace.stack(("sim.c", line, "open")))
    answer = load_json("leaks", trace.write())["answer"]
    assert answer[0].startswith("Cannot tell whether memory leaks")
    assert ("16 blocks by sim.c:3 and :4 were never freed (16.00 MiB)." in answer) == (kept == 8)


@pytest.mark.parametrize("sizes, free, expected", [
    ([MIB + 4096 * i for i in range(9)], False,
     "Each block is larger than the one before."),
    ([MIB + 4096 * i for i in range(9)], True, None),  # each replaces the one before
    ([MIB] * 9, False, None),  # the weights of equal layers
    ([MIB, 2 * MIB, 4 * MIB], False, None),  # three layers
])  # fmt: skip
def test_a_line_that_keeps_each_larger_block_is_said_to_outgrow_them(tmp_path, sizes, free, expected):
    trace = Trace(tmp_path / "trace.db")
    outgrow(trace, sizes, free)
    trace.write()
    for command in ("leaks", "report"):
        answer = load_json(command, trace.path)["answer"]
        assert [text for text in answer if "larger than the one before" in text] == ([expected] if expected else [])


def load_and_serve(trace, requests):
    """Loads 24 layers, each through a buffer that it frees, then serves requests from other lines of the same function.
    A request calls one layer after the other."""
    def make(line, size):
        return trace.alloc(size * MIB, stack=trace.stack(line, "main"))

    weights = []
    for _ in range(24):
        staging = make("staging", 64)
        weights += [make("weights", 32), make("bias", 1)]
        trace.free(staging)
    for _ in range(24 * requests):
        for block in [make("input", 8), make("output", 8)]:
            trace.free(block)
    return weights


@pytest.mark.parametrize("requests, verdict", [
    (1, "Leak: 33.00 MiB per step by weights."), (10, "No leak: live bytes do not grow from step to step (240 steps)."),
])  # fmt: skip
def test_a_loop_that_loads_before_a_longer_one_serves_is_no_leak(trace, requests, verdict):
    load_and_serve(trace, requests)
    assert sentences_of(load_json("leaks", trace.written()))[0] == verdict


@pytest.mark.parametrize("freed, why", [
    (0, "No block of this line was ever freed."), (1, "All blocks of this line were live at once and then freed, as loaded data is."),
])  # fmt: skip
def test_blocks_that_are_all_freed_after_the_last_step_may_be_loaded_data(trace, freed, why):
    weights = [block for block in load_and_serve(trace, 0) for _ in range(freed)]
    for block in weights:
        trace.free(block)
    assert sentences_of(load_json("leaks", trace.written()))[1] == why
