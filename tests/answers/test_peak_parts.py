# SPDX-License-Identifier: MIT
"""The sentences of a peak, in made traces of three training steps: the memory that comes and goes with each step, the
memory that stays, and the kinds of memory that explain a peak (causes.def)."""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace

TORCH = "/usr/lib/python3/dist-packages/torch"
CALL = (f"{TORCH}/nn/modules/module.py", 1553, "Module._call_impl")
INIT = ((f"{TORCH}/nn/modules/module.py", 900, "Module._apply"), ("train.py", 3, "main"))
FORWARD = ((f"{TORCH}/nn/functional.py", 9, "gelu"), ("model.py", 7, "Block.forward"), CALL, ("train.py", 10, "main"))
BACKWARD = ("backward (autograd)",)
STEP = ((f"{TORCH}/optim/adam.py", 480, "Adam.step"), ("train.py", 20, "main"))
STATES = ((f"{TORCH}/optim/adam.py", 100, "Adam._init_group"), *STEP)
RECOMPUTED = (("model.py", 7, "Block.forward"), (f"{TORCH}/utils/checkpoint.py", 1100, "recompute_fn"), "backward (autograd)")
NORMED = ((f"{TORCH}/nn/utils/parametrizations.py", 340, "_WeightNorm.forward"),
          (f"{TORCH}/nn/utils/parametrize.py", 300, "ParametrizationList.forward"), CALL, ("model.py", 9, "Cell.forward"), CALL,
          ("train.py", 10, "main"))
LOADED = ((f"{TORCH}/serialization.py", 1500, "_load"), ("train.py", 2, "main"))
MULTI = ((f"{TORCH}/optim/adam.py", 600, "_multi_tensor_adam"), *STEP)


class Program:
    def __init__(self, path):
        self.trace, self.next, self.states = Trace(path, tells_autograd=1), 1 << 40, []

    def tensor(self, size, *frames, recorded=False):
        self.next += size * MIB
        for _ in range(recorded):
            self.trace.event("autograd-node", address=1, object=7, size=0)
        made = self.trace.tensor(self.next, size * MIB, stack=self.trace.stack(*frames))
        self.trace.event("autograd-node", address=1, object=0, size=0)
        return made

    def free(self, *tensors):
        for tensor in tensors:
            self.trace.tensor_free(tensor)

    def train(self, forward=FORWARD, backward=None, step=None, states=True):
        self.tensor(8, *INIT)
        for _ in range(3):
            activations = self.tensor(20, *forward, recorded=True)
            again = [self.tensor(*backward, recorded=True)] if backward else []
            gradient = self.tensor(8, *BACKWARD)
            self.free(activations, *again)
            if states and not self.states:
                self.states = [self.tensor(16, *STATES)]
            self.free(self.tensor(1, *STEP), *([self.tensor(*step)] if step else []), gradient)
        return self

    def verdict(self, command="peak"):
        return [(row["role"], row["text"]) for row in load_json(command, self.trace.write())["verdict"]]


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "trace.db")


def test_memory_that_comes_and_goes_is_named_before_memory_that_stays(program):
    assert program.train().verdict("report")[1:] == [
        ("who", "28.00 MiB of it comes and goes with each step (71.4 % of it activations), most of it by model.py:7 "
                "Block.forward (20.00 MiB); 24.00 MiB of it stays over the steps (66.7 % of it optimizer), most of it by "
                "train.py:20 main (16.00 MiB)."),
    ]  # fmt: skip


def test_a_program_that_keeps_nothing_over_its_steps_has_one_holder(program):
    program.tensor(1, *INIT)
    for _ in range(3):
        program.free(program.tensor(20, *FORWARD, recorded=True), program.tensor(8, *BACKWARD))
    assert [text for role, text in program.verdict() if role == "who"] == [
        "Most of it by model.py:7 Block.forward (20.00 MiB); 69.0 % of it activations."]


def test_memory_that_each_step_keeps_neither_comes_and_goes_nor_stays(program):
    program.tensor(8, *INIT)
    for _ in range(6):
        program.tensor(4, ("train.py", 15, "log"))
        program.free(program.tensor(20, *FORWARD, recorded=True), program.tensor(8, *BACKWARD))
    answer = load_json("peak", program.trace.write())
    who, more = answer["verdict"][1]["text"], answer["more"]
    assert [clause.split(" (")[0].split(",")[0] for clause in [*who.split("; "), *(row["text"] for row in more)]] == [
        "32.00 MiB of it comes and goes with each step", "20.00 MiB of it is kept over several backwards",
        "8.00 MiB of it stays over the steps"]  # fmt: skip


@pytest.mark.parametrize("count, is_said", [(6, True), (2, False)])
def test_the_variable_that_keeps_most_of_the_memory_over_several_backwards_is_named(program, count, is_said):
    """The walk finds what the variable keeps of the last step as well, and what other variables keep."""
    program.tensor(8, *INIT)
    logged = []
    for _ in range(6):
        logged.append(program.tensor(4, ("train.py", 15, "log")))
        program.free(program.tensor(20, *FORWARD, recorded=True), program.tensor(8, *BACKWARD))
    program.trace.walk("end", *((at, 4 * MIB, "list", "log.seen[*]", 6, ("train.py", 16, "log")) for at in logged[:count]),
                       *((at, 4 * MIB, "module", "model.weight", None, None) for at in logged[count:]))
    keeper = ("20.00 MiB of it is kept over several backwards (100.0 % of it input), most of it by train.py:15 log (20.00 MiB), "
              "kept by log.seen (list of 6), filled at train.py:16")
    assert (keeper in str(program.verdict())) == is_said


@pytest.mark.parametrize("again", [False, True])
def test_memory_that_one_round_of_several_makes_does_not_come_and_go_with_each_step(program, again):
    raw = ("data.py", 9, "Images.__init__")
    program.tensor(40, ("data.py", 10, "Images.__init__"))
    program.free(program.tensor(64, raw))
    program.train()
    if again:
        program.free(program.tensor(1, raw))
    (who,) = [text for role, text in program.verdict() if role == "who"]
    words = "was made between backwards, not in each step" if again else "was made once, not in each step"
    assert f"64.00 MiB of it {words}" in who


def test_memory_without_a_call_stack_is_not_said_to_be_made_once(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for _ in range(3):
        for phase in ("forward", "backward"):
            with trace.phase(phase):
                trace.free(trace.alloc(64 * MIB))
    answer = load_json("peak", trace.write())
    assert answer["verdict"] and "made once" not in str(answer["verdict"] + answer["more"])


@pytest.mark.parametrize("run, why, remedy", [
    (dict(backward=(30, *RECOMPUTED)), "30.00 MiB of it are activations of a checkpoint, which backward computed again.", None),
    (dict(forward=NORMED), "20.00 MiB of it are weights that a parametrization, such as weight_norm, computed.", "parametrize.cached()"),
    (dict(step=(40, *MULTI)), "40.00 MiB of it are temporaries of an optimizer that updates all weights at once.", "foreach=False"),
    (dict(step=(4, *MULTI)), None, None),
])  # fmt: skip
def test_a_kind_of_memory_that_explains_the_peak_is_a_reason(program, run, why, remedy):
    verdict = program.train(**run).verdict()
    assert [text for role, text in verdict if role == "why"] == ([why] if why else [])
    assert [remedy in text for role, text in verdict if role == "do"] == ([True] if remedy else [])


@pytest.mark.parametrize("forwards, trains, fails, says", [(4, False, False, True), (2, False, False, False), (4, True, False, False), (4, False, True, False)])
def test_a_graph_that_no_backward_used_is_a_reason(program, forwards, trains, fails, says):
    """A program that failed, or that ran too few forwards, might have called backward later."""
    program.tensor(8, *INIT)
    for _ in range(forwards):
        program.free(program.tensor(20, *FORWARD, recorded=True))
    if trains:
        program.free(program.tensor(8, *BACKWARD))
    if fails:
        program.trace.fail(1 << 40)
    program.trace.exit()
    verdict = program.verdict()
    reason = "20.00 MiB of it are tensors that autograd recorded for a backward, and no backward ever ran."
    assert (("why", reason) in verdict) == says
    assert any("torch.no_grad()" in text for role, text in verdict if role == "do") == says


def test_casts_of_autocast_are_recorded_under_no_grad_too(program):
    program.trace.rows["module"].append((1, f"{TORCH}/lib/libtorch_cpu.so", None, 0x1000, 0x1000, 0x9000))
    program.trace.name(0x2000, (None, None, "at::_ops::_to_copy::call"))
    program.trace.name(0x2100, (None, None, "at::autocast::cached_cast"))
    program.tensor(40, *INIT)
    for _ in range(4):
        program.tensor(20, 0x2000, 0x2100, *FORWARD, recorded=True)
    program.trace.exit()
    assert "torch.no_grad()" not in str(program.verdict())


@pytest.mark.parametrize("steps, drops, says", [(6, 1, True), (6, 3, False), (6, 0, False), (3, 1, False)])
def test_gradients_that_no_step_drops_are_a_reason_beside_others_that_steps_drop(program, steps, drops, says):
    """Gradients of several micro batches are dropped together. If none is dropped, they are accumulated by intent."""
    program.tensor(40, *INIT)
    for step in range(steps):
        activations = program.tensor(20, *FORWARD, recorded=True)
        if not step:
            program.tensor(30, *BACKWARD)
        if not drops or not step % drops:
            gradient = program.tensor(8, *BACKWARD)
        program.free(activations)
        program.free(program.tensor(1, *STEP))
        if drops and step % drops == drops - 1:
            program.free(gradient)
    verdict = program.verdict()
    assert any("gradients that no step dropped" in text for role, text in verdict if role == "why") == says
    assert any("requires_grad_(False)" in text for role, text in verdict if role == "do") == says


@pytest.mark.parametrize("size, says", [(100, True), (10, False)])
def test_steps_say_a_peak_after_the_last_of_them(program, size, says):
    program.train().tensor(size, *FORWARD)
    sentence = f"The peak of the run, {size + 24}.00 MiB, came after the last step."
    assert any(sentence in text for _, text in program.verdict("steps")) == says


@pytest.mark.parametrize("logs", [False, True])
def test_gradients_of_the_backward_that_ended_a_step_are_not_left_by_that_step(program, logs):
    """Clipping copies gradients after the backward. An optimizer that allocates nothing ends no step."""
    program.tensor(8, *INIT)
    for step in range(6):
        logged = [program.tensor(10, ("train.py", 15, "log"))] if logs else []
        activations = program.tensor(20, *FORWARD, recorded=True)
        gradient = program.tensor(8, *BACKWARD)
        program.free(activations)
        program.free(program.tensor(60 + (step == 3), ("train.py", 30, "clip")), gradient, *logged)
    answer = load_json("steps", program.trace.write())
    said = [row["text"] for row in answer["verdict"] + answer["more"] if "of the previous step" in row["text"]]
    assert said == (["At the peak 10.00 MiB of the previous step is still live; train.py:15 log holds most of it."] if logs else [])


@pytest.mark.parametrize("frames, category", [(RECOMPUTED, "activations"), (BACKWARD, "gradients")])
def test_what_a_checkpoint_computes_again_is_no_gradient_if_the_backward_does_not_end(program, frames, category):
    program.tensor(8, *INIT)
    program.tensor(1, *FORWARD, recorded=True)
    program.tensor(30, *frames, recorded=True)
    (device,) = load_json("peak", program.trace.write())["devices"]
    assert {row["category"]: row["bytes"] for row in device["categories"]}[category] == 30 * MIB + (category == "activations") * MIB


@pytest.mark.parametrize("in_place", [False, True])
def test_new_tensors_beside_the_old_ones_that_they_replace_are_a_reason(program, in_place):
    """Each step computes the next state and then drops the old one. The update is in no phase that a frame tells."""
    program.trace.rows["module"].append((1, f"{TORCH}/lib/libtorch_cpu.so", None, 0x1000, 0x1000, 0x9000))
    program.trace.name(0x2000, (None, None, "at::_ops::mul_Tensor::call"))
    state = program.tensor(32, 0x2000, ("train.py", 4, "start"))
    for _ in range(3):
        activations = program.tensor(2, *FORWARD, recorded=True)
        gradient = program.tensor(8, *BACKWARD)
        program.free(activations)
        if not in_place:
            old, state = state, program.tensor(32, 0x2000, ("train.py", 30, "update"))
            program.free(old)
        program.free(gradient)
    verdict = program.verdict()
    reason = ("why", "32.00 MiB of it are tensors that the step replaced: the old and the new ones are both live.")
    assert (reason in verdict) != in_place
    assert " in data" not in verdict[0][1]


@pytest.mark.parametrize("fails", [False, True])
def test_memory_of_an_evaluation_after_the_training_comes_and_goes_with_no_step(program, fails):
    program.train().tensor(40, *FORWARD)
    if fails:
        program.trace.fail(1 << 40)
    said = ["40.00 MiB of it was made after the last backward" in text for _, text in program.verdict("peak")]
    assert any(said) != fails


@pytest.mark.parametrize("steps, words", [(3, "was made between backwards, not in each step"), (1, "comes and goes with each step")])
def test_an_evaluation_between_steps_is_not_made_in_each_step_and_shows_the_gradients_beside_it(program, steps, words):
    """Line 7 of another caller reads a large batch after each step, or after three. Gradients live until the next forward."""
    program.tensor(8, *INIT)
    gradient = None
    for step in range(9):
        if gradient:
            program.free(gradient)
        activations = program.tensor(4, *FORWARD, recorded=True)
        gradient = program.tensor(8, *BACKWARD)
        program.free(activations)
        if step % steps == steps - 1 and step < 8:
            program.free(program.tensor(40, FORWARD[0], ("train.py", 44, "validate")))
    who = [text for role, text in program.verdict() if role == "who"][0]
    assert who.startswith(f"40.00 MiB of it {words}" if steps == 3 else f"48.00 MiB of it {words}")
    assert ("8.00 MiB of it was left by the last backward (100.0 % of it gradients)" in who) == (steps == 3)


@pytest.mark.parametrize("loaded, category", [([], " (100.0 % of it parameters)"), ([8, 8], "")])
def test_more_tensors_of_a_checkpoint_than_gradients_are_not_all_parameters(program, loaded, category):
    for size in loaded:
        program.tensor(size, *LOADED)
    who = program.train(states=False).verdict()[1][1]
    assert f"{8 + sum(loaded)}.00 MiB of it stays over the steps{category}, most of it by" in who


@pytest.mark.parametrize("new, lines, between, said", [
    (8, ("refine", "refine"), 0, True), (8, ("refine", "refine"), 3, True), (8, ("refine", "refine"), 20, False),
    (4, ("refine", "refine"), 0, False), (8, ("load", "refine"), 0, False),
])  # fmt: skip
def test_a_line_that_frees_its_block_after_it_made_a_larger_one_is_named(trace, new, lines, between, said):
    old = trace.alloc(4 * MIB, stack=trace.stack(lines[0]))
    trace.alloc(new * MIB, stack=trace.stack(lines[1]))
    for _ in range(between):
        trace.free(trace.alloc(1, "pinned"), "pinned")
    trace.free(old)
    why = [line["text"] for line in load_json("peak", trace.write())["verdict"] if line["role"] == "why"]
    assert why == ["refine makes 8.00 MiB before it frees its old block of 4.00 MiB."] * said
