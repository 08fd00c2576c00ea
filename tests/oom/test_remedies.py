# SPDX-License-Identifier: MIT
"""Remedies for a failure: their gains in hand-written traces. The comments derive the figures."""
import pytest

from support.pool_run import PoolRun
from support.run import load_json, run_command
from support.tracefile import MIB, Trace

CALL = ("/usr/lib/python3/dist-packages/torch/nn/modules/module.py", 1500, "Module._call_impl")
MODEL = ("/home/me/train.py", 20, "Model.forward")
MAIN = ("/home/me/train.py", 40, "main")


def layer(line):
    return (("/home/me/train.py", line, "Layer.forward"), CALL, MODEL, MAIN)


class Run(PoolRun):
    """A process on a card of 1,000 MiB."""

    def remedies(self):
        self.trace.write()
        return {row["remedy"]: row for row in load_json("oom", self.trace.path)["remedies"]}


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "trace.db")


def forward(run, layers):
    """Runs some layers. Each layer keeps tensors of 10 MiB and 40 MiB, and an output of 20 MiB."""
    return [[run.alloc(10, *layer(3)), run.alloc(40, *layer(4)), run.alloc(20, *layer(5))] for _ in range(layers)]


def test_a_checkpoint_gains_what_all_calls_but_the_last_keep_beside_their_outputs(run):
    with run.trace.phase("forward"):
        forward(run, 4)
        run.fail(10, *layer(3))
    # The need is 4 * 70 + 10. With checkpoints, 130 are live at the end of the fourth call: its own 70, and the outputs
    # of the three other calls, 20 each.
    checkpoint = run.remedies()["checkpoint"]
    assert (checkpoint["need_bytes"], checkpoint["gain_bytes"]) == (290 * MIB, 160 * MIB)
    assert checkpoint["advice"] == "checkpoint each Layer called by train.py:20"


def test_a_checkpoint_of_thousands_of_calls_gains_what_all_but_the_last_keep(run):
    outer = [("/home/me/train.py", line, f"Stage{line}.forward") for line in range(30, 38)]
    stack = (("/home/me/train.py", 3, "Layer.forward"), CALL, MODEL, *outer, MAIN)
    with run.trace.phase("forward"):
        for _ in range(20000):
            run.alloc(4, *stack)
            run.alloc(1, ("/home/me/train.py", 5, "Layer.forward"), *stack[1:])
        run.fail(4, *stack)
    # The lines of all stages come back to the layer. 20,000 outputs and the refused request would remain.
    assert run.remedies()["checkpoint"]["gain_bytes"] == 20000 * 4 * MIB


@pytest.mark.parametrize("tells", [True, False])
def test_what_autograd_keeps_is_no_advice_where_the_trace_says_that_it_keeps_nothing(tmp_path, tells):
    """Requests of a server keep caches under inference_mode. The third cache does not fit on the card."""
    run = Run(tmp_path / "trace.db", **({"tells_autograd": 1} if tells else {}))
    with run.trace.phase("forward"):
        for _ in range(2):
            for blocks in forward(run, 4):
                run.free(*blocks)
        forward(run, 4)
        run.fail(10, *layer(3))
    assert list(run.remedies()) == (["smaller_batch"] if tells else ["no_grad", "smaller_batch"])


def test_a_line_that_comes_back_to_little_of_what_it_holds_makes_no_calls(run):
    with run.trace.phase("forward"):
        for line in (3, 4, 5, 6, 3, 7):
            run.alloc(50, *layer(line))
        run.fail(50, *layer(8))
    # Lines 4 to 8 run once. Model.forward calls one layer, in which line 3 runs twice.
    assert "checkpoint" not in run.remedies()


def test_a_model_that_a_step_calls_once_is_no_call_to_checkpoint_though_its_layers_come_back(run):
    with run.trace.phase("data"):
        run.alloc(10, ("/home/me/train.py", 39, "main"))
    with run.trace.phase("forward"):
        for _ in range(8):
            run.alloc(30, ("/home/me/train.py", 18, "Model.forward"), CALL, MAIN)
            run.alloc(30, ("/home/me/train.py", 19, "Model.forward"), CALL, MAIN)
        run.fail(30, ("/home/me/train.py", 18, "Model.forward"), CALL, MAIN)
    assert "checkpoint" not in run.remedies()


def test_calls_that_keep_one_tensor_each_gain_nothing_by_a_checkpoint(run):
    tanh, linear = ("/home/me/train.py", 20, "Model.forward"), ("/lib/torch/nn/modules/linear.py", 125, "Linear.forward")
    with run.trace.phase("forward"):
        for _ in range(8):
            passing = run.alloc(40, linear, CALL, MODEL, MAIN)
            run.alloc(40, tanh, MAIN)
            run.free(passing)
        run.alloc(40, linear, CALL, MODEL, MAIN)
        run.fail(40, tanh, MAIN)
    # Backward needs the output of each tanh. The output of Linear is freed at once.
    assert "checkpoint" not in run.remedies()


def test_half_the_batch_gains_half_of_activations_inputs_and_temporaries(run):
    with run.trace.phase("init"):
        run.alloc(100, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("data"):
        run.alloc(30, ("/home/me/train.py", 8, "batch"), MAIN)
    with run.trace.phase("forward"):
        forward(run, 2)
    with run.trace.phase("backward"):
        run.free(run.alloc(50, ("/home/me/train.py", 9, "passing"), MAIN))
        run.alloc(60, ("/home/me/train.py", 10, "gradient"), MAIN)
        run.fail(50, ("/home/me/train.py", 9, "passing"), MAIN)
    # 100 + 60 stay. Half of 30 + 140 + 50 is gained.
    half = run.remedies()["smaller_batch"]
    assert (half["need_bytes"], half["gain_bytes"]) == (380 * MIB, 110 * MIB)
    assert "linearly" in half["supposes"]


@pytest.mark.parametrize("keeps_graph, is_early", [(True, True), (False, False)])
def test_what_is_gained_before_the_first_backward_is_not_promised_of_the_peak(tmp_path, keeps_graph, is_early):
    run = Run(tmp_path / "trace.db", tells_autograd=1)
    with run.trace.phase("init"):
        run.alloc(100, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("forward"):
        run.trace.event("autograd-node", object=1 if keeps_graph else 0, address=1)
        forward(run, 4)
        run.fail(10, *layer(3))
    half = run.remedies()["smaller_batch"]
    assert half["before_peak"] == is_early
    assert ("optimizer.step()" in half["how"]) == keeps_graph
    answer = load_json("oom", run.trace.path)["answer"]
    assert ("less; the rest of this step is still to come" in " ".join(str(answer).split())) == is_early


@pytest.mark.parametrize("layers, is_early", [(2, True), (3, False)])
def test_what_is_gained_in_a_longer_step_than_all_before_is_not_promised_of_its_peak(run, layers, is_early):
    with run.trace.phase("init"):
        run.alloc(100, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("forward"):
        run.free(*(block for blocks in forward(run, layers) for block in blocks))
    with run.trace.phase("backward"):
        run.free(run.alloc(5, ("/home/me/train.py", 10, "gradient"), MAIN))
    with run.trace.phase("forward"):
        forward(run, 2)
        run.fail(10, *layer(3))
    assert run.remedies()["smaller_batch"]["before_peak"] == is_early


@pytest.mark.parametrize("is_new", [True, False])
def test_losses_of_several_batches_are_summed_and_those_of_one_batch_are_not(run, is_new):
    for number in range(4):
        if is_new or not number:
            with run.trace.phase("data"):
                run.alloc(5, ("/home/me/train.py", 8, "batch"), MAIN)
        with run.trace.phase("forward"):
            forward(run, 1)
            run.trace.tensor(1 << 50 | number << 9, 512, stack=run.trace.stack(("/home/me/train.py", 30, "loss"), MAIN))
    with run.trace.phase("forward"):
        run.fail(10, *layer(3))
    found = run.remedies()
    assert ("each_backward" in found, "smaller_batch" in found) == (is_new, not is_new)


def test_the_first_step_of_an_optimizer_is_not_promised_the_gain_of_all_its_states(run):
    with run.trace.phase("init"):
        run.alloc(100, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("backward"):
        run.alloc(100, ("/home/me/train.py", 9, "backward"), MAIN)
    with run.trace.phase("optimizer"):
        run.alloc(100, ("/home/me/train.py", 10, "step"), MAIN)
        run.fail(100, ("/home/me/train.py", 10, "step"), MAIN)
    assert run.remedies()["smaller_states"]["before_peak"] is True


@pytest.mark.parametrize("states, helps", [(12, False), (40, True)])
def test_what_gains_less_than_a_fiftieth_is_no_advice(run, states, helps):
    with run.trace.phase("init"):
        run.alloc(400, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("optimizer"):
        run.alloc(states, ("/home/me/train.py", 11, "update"), MAIN)
    with run.trace.phase("forward"):
        run.fail(100, *layer(3))
    # Three quarters of the states are gained. In one case this is 9 MiB of a need of 512, and in the other case 30 MiB
    # of a need of 540.
    assert ("smaller_states" in run.remedies()) == helps


def test_a_loss_over_logits_gains_seven_eighths_of_what_has_their_size(run):
    loss = (("/usr/lib/python3/dist-packages/torch/nn/functional.py", 3000, "cross_entropy"), MAIN)
    with run.trace.phase("forward"):
        run.alloc(10, *layer(3))
        run.alloc(160, ("/home/me/train.py", 30, "head"), MAIN)
        run.alloc(160, *loss)
        run.fail(80, *loss)
    chunked = run.remedies()["chunked_loss"]
    assert chunked["gain_bytes"] == (160 + 160 + 80) * 7 // 8 * MIB
    assert chunked["advice"] == "compute the loss of train.py:40 main in chunks"


def step(run, rounds, keeps):
    """Runs steps with gradients of 100 MiB and activations of 200 MiB. With `keeps`, old gradients are still live in
    forward."""
    gradient = (("/home/me/train.py", 9, "gradient"), MAIN)
    old = None
    for _ in range(rounds):
        with run.trace.phase("forward"):
            kept = run.alloc(200, *layer(3))
        with run.trace.phase("backward"):
            run.free(kept)
            made = run.alloc(100, *gradient)
        with run.trace.phase("optimizer"):
            run.free(run.alloc(1, ("/home/me/train.py", 11, "update"), MAIN))
        if old and keeps:
            run.free(made)
        else:
            old = made
        if not keeps:
            run.free(made)
    with run.trace.phase("forward"):
        run.fail(200, *layer(3))


def test_gradients_of_the_step_before_are_told_from_those_that_are_dropped(run, tmp_path):
    step(run, 3, True)
    # With old gradients, the need is 300. Without them it is 200: first come the activations, and after them the new
    # gradients.
    assert run.remedies()["zero_grad"]["gain_bytes"] == 100 * MIB
    dropping = Run(tmp_path / "dropping.db")
    step(dropping, 3, False)
    assert "zero_grad" not in dropping.remedies()


def test_gradients_that_the_optimizer_still_needs_are_no_gain_and_their_copy_is_of_no_batch(run):
    """A training copies its gradients before each step of the optimizer. The second copy does not fit."""
    flat, gradient = ("/home/me/train.py", 47, "reduce"), ("/home/me/train.py", 9, "gradient")
    with run.trace.phase("init"):
        run.alloc(300, ("/home/me/train.py", 2, "build"), MAIN)
    for number in range(2):
        with run.trace.phase("forward"):
            passing = run.alloc(10, *layer(3))
        with run.trace.phase("backward"):
            made = run.alloc(200, gradient, MAIN)
            run.free(passing)
        with run.trace.phase("data"):
            if number:
                run.fail(200, flat, MAIN)
                break
            run.free(run.alloc(200, flat, MAIN))
        with run.trace.phase("optimizer"):
            run.alloc(300, ("/home/me/train.py", 11, "update"), MAIN)
        run.free(made)
    assert list(run.remedies()) == ["smaller_states"]


def test_a_foreach_optimizer_has_no_temporaries_where_its_function_makes_states(run):
    """SGD makes its momentum in the same function."""
    with run.trace.phase("init"):
        run.alloc(300, ("/home/me/train.py", 2, "build"), MAIN)
    with run.trace.phase("forward"):
        run.free(run.alloc(10, *layer(3)))
    with run.trace.phase("optimizer"):
        run.alloc(300, ("/opt/torch/optim/sgd.py", 400, "_multi_tensor_sgd"), MAIN)
    with run.trace.phase("forward"):
        run.fail(400, *layer(3))
    assert "fused_optimizer" not in run.remedies()


@pytest.mark.parametrize("is_gathered, gain", [(False, 350), (True, 175)])
def test_chunks_of_a_loss_divide_only_its_own_tensors_where_the_logits_were_gathered(run, is_gathered, gain):
    logits = ("/opt/torch/nn/parallel/scatter_gather.py", 60, "gather") if is_gathered else ("/home/me/train.py", 20, "head")
    with run.trace.phase("forward"):
        run.alloc(200, logits, MAIN)
        run.fail(200, ("/opt/torch/nn/functional.py", 9, "cross_entropy"), MAIN)
    assert run.remedies()["chunked_loss"]["gain_bytes"] == gain * MIB


def test_what_earlier_batches_still_hold_is_told_from_what_is_made_once(run):
    with run.trace.phase("forward"):
        run.alloc(50, ("/home/me/train.py", 6, "table"), MAIN)
    for _ in range(3):
        with run.trace.phase("forward"):
            run.alloc(30, ("/home/me/train.py", 7, "output"), MAIN)
        with run.trace.phase("backward"):
            run.free(run.alloc(10, ("/home/me/train.py", 9, "gradient"), MAIN))
    with run.trace.phase("forward"):
        run.fail(30, ("/home/me/train.py", 7, "output"), MAIN)
    # The need is 50 + 4 * 30. Without the three old outputs, the peak would be in backward: 50 + 30 + 10.
    held = run.remedies()["held_over"]
    assert held["gain_bytes"] == 80 * MIB
    assert held["advice"] == "free the tensors that train.py:7 output made for earlier batches"


def test_a_leak_of_steps_without_a_backward_is_to_be_freed_and_comes_before_the_state_of_the_card(run):
    kept = ("/home/me/train.py", 7, "score"), MAIN
    for step in range(1, 25):
        with run.trace.phase("forward"):
            run.free(run.alloc(10, *layer(3)))
            run.alloc(40, *kept)
        run.trace.step(step)
    with run.trace.phase("forward"):
        run.fail(50, *kept)
    # 24 blocks of 40 MiB are live. The largest block of the line, the refused one, is needed.
    assert {key: row["gain_bytes"] for key, row in run.remedies().items()} == {"held_over": 24 * 40 * MIB}
    for command in ("oom", "report"):
        answer = load_json(command, run.trace.path)
        why = next(line["text"] for line in answer["verdict"] if line["role"] == "why")
        assert why.startswith("Leak: 40.00 MiB per step by train.py:7 score; a limit: the framework refused "), why
        assert answer["next"].startswith("gpumemtrace leaks "), answer["next"]
        assert [line["text"] for line in answer["verdict"] if line["role"] == "do"] == [
            "Look for what stores a tensor that this line makes; free the tensors that train.py:7 score made for earlier "
            "batches: 960.00 MiB of 1010.00 MiB less."]  # fmt: skip


@pytest.mark.parametrize("is_recorded", [False, True])
def test_a_backward_that_autograd_records_ends_no_iteration(run, is_recorded):
    """A later backward goes through the weights that each inner step of a meta-learner makes."""
    begins = ("/opt/torch/autograd/__init__.py", 50, "_make_grads"), MAIN
    run.trace.thread_names[2] = "pt_autograd_0"
    for number in range(1, 4):
        run.alloc(30, CALL, ("/home/me/train.py", 7, "output"), MAIN)
        run.free(run.alloc(1, *begins))
        run.trace.event("autograd-node", object=number * is_recorded, address=1, thread=2)
        run.free(run.trace.alloc(10 * MIB, "tensor", stack=run.trace.stack("MulBackward0"), thread=2))
    run.fail(30, CALL, ("/home/me/train.py", 7, "output"), MAIN)
    assert ("held_over" in run.remedies()) != is_recorded


@pytest.mark.parametrize("held, other, advises", [(True, True, True), (False, True, False), (False, False, True)])
def test_what_is_held_over_is_to_be_detached_only_where_it_has_a_graph(run, held, other, advises):
    """In the last case, the trace does not say of any tensor of the held-over line whether the tensor has a graph."""
    for number in range(1, 5):
        with run.trace.phase("forward"):
            run.trace.event("autograd-node", object=number if other else 0, address=1)
            passing = run.alloc(10, *layer(3))
            run.trace.event("autograd-node", object=number if held else 0, address=1)
            if number < 4:
                run.alloc(30, ("/home/me/train.py", 7, "output"), MAIN)
        with run.trace.phase("backward"):
            run.free(passing)
            if number < 4:
                run.free(run.alloc(10, ("/home/me/train.py", 9, "gradient"), MAIN))
    with run.trace.phase("forward"):
        run.fail(300, ("/home/me/train.py", 7, "output"), MAIN)
    how = run.remedies()["held_over"]["how"]
    assert ("detach" in how) == advises
    assert how.startswith("del them before the next batch; ") and "keep numbers (loss.item()), not tensors (output" in how


def attempt(run, line, layers):
    """Calls train() from the given line of main. The layers of train() keep 50 MiB each."""
    with run.trace.phase("forward"):
        return [run.alloc(50, *layer(4)[:-1], ("/home/me/train.py", 35, "train"), MAIN[:1] + (line,) + MAIN[2:]) for _ in range(layers)]


@pytest.mark.parametrize("is_kept", [True, False])
def test_what_the_exception_of_a_caught_failure_holds_is_told_from_what_else_lives(run, is_kept):
    attempt(run, 40, 10)  # an earlier call of the line that fails later
    with run.trace.phase("backward"):
        run.alloc(30, ("/home/me/train.py", 36, "train"), MAIN)
    held = attempt(run, 40, 4)
    run.fail(500, *layer(4)[:-1], ("/home/me/train.py", 35, "train"), MAIN)
    if not is_kept:
        run.free(*held)
    attempt(run, 43, 4 if is_kept else 16)
    run.fail(300, *layer(4)[:-1], ("/home/me/train.py", 35, "train"), MAIN[:1] + (43,) + MAIN[2:])
    found = list(run.remedies().values())
    if not is_kept:
        assert "caught" not in [row["remedy"] for row in found]
        return
    # The need is 10 * 50 + 30 from before, 4 * 50 of the failed call, and 4 * 50 and 300 of the next call. This advice
    # comes first, although another advice gains more.
    assert (found[0]["remedy"], found[0]["gain_bytes"], found[0]["need_bytes"]) == ("caught", 200 * MIB, 1230 * MIB)
    assert found[1]["gain_bytes"] > 200 * MIB
    assert found[0]["advice"] == "free the exception of train.py:40, and try again after the except block"


def test_a_function_that_goes_on_where_it_failed_holds_nothing_by_an_exception(run):
    with run.trace.phase("forward"):
        run.alloc(500, *layer(4))
        run.fail(600, *layer(4))  # for example, this is a workspace without which a library uses another algorithm
        run.alloc(100, *layer(4))
        run.fail(500, *layer(4))
    assert "caught" not in run.remedies()


def test_a_framework_that_goes_on_by_itself_holds_nothing_by_an_exception(run):
    torch = "/lib/torch/nn/modules/conv.py"
    with run.trace.phase("forward"):
        run.alloc(500, (torch, 725, "_conv_forward"), *layer(4))
        run.fail(600, (torch, 725, "_conv_forward"), *layer(4))
        run.alloc(100, (torch, 728, "_conv_forward"), *layer(4))
        run.fail(500, (torch, 728, "_conv_forward"), *layer(4))
    assert "caught" not in run.remedies()


@pytest.mark.parametrize("lets_go", [False, True])
def test_batches_that_are_all_moved_at_once_should_come_one_by_one(run, lets_go):
    load = ("/home/me/train.py", 6, "load"), MAIN
    with run.trace.phase("data"):
        moved = [run.alloc(50, *load) for _ in range(9)]
        if lets_go:
            run.free(moved[0])
        run.fail(50, *load)
    remedies = run.remedies()
    assert set(remedies) == ({"smaller_batch"} if lets_go else {"data_on_cpu"})
    if not lets_go:
        # Only one of ten batches is needed at a time
        assert remedies["data_on_cpu"]["gain_bytes"] == 9 * 50 * MIB
        assert remedies["data_on_cpu"]["advice"] == "move each batch of train.py:6 load to the device just before it is used"


def test_batches_that_the_steps_made_one_by_one_and_kept_need_no_later_move(run):
    for step in range(10):
        with run.trace.phase("data"):
            run.alloc(50, ("/home/me/train.py", 6, "load"), MAIN)
        with run.trace.phase("forward"):
            blocks = [run.alloc(20, *layer(3))]
        with run.trace.phase("backward"):
            run.free(*blocks, run.alloc(20, *layer(9)))
    with run.trace.phase("forward"):
        run.fail(600, *layer(3))
    remedies = run.remedies()
    assert "held_over" in remedies and "data_on_cpu" not in remedies


@pytest.mark.parametrize("operator, advises", [("_to_copy", True), ("empty", False), ("zeros", False)])
def test_memory_that_the_program_made_empty_is_a_cache_and_no_batch(run, operator, advises):
    """The blocks of a cache are made at once, and none is freed, as the batches of a data set on the card."""
    run.trace.rows["module"].append((1, "/lib/torch/lib/libtorch_cpu.so", None, 0x1000, 0x1000, 0x9000))
    run.trace.name(0x2000, (None, None, f"at::_ops::{operator}::call"))
    block = 0x2000, 0x8000, ("/home/me/train.py", 6, "load"), MAIN
    run.trace.device_memory(400 * MIB, 1000 * MIB)
    with run.trace.phase("data"):
        for _ in range(10):
            run.alloc(50, *block)
    with run.trace.phase("forward"):
        forward(run, 2)
        run.fail(200, *layer(3))
    remedies = run.remedies()
    assert ("data_on_cpu" in remedies) == advises
    assert "smaller_batch" not in remedies or remedies["smaller_batch"]["gain_bytes"] < 250 * MIB


def test_a_run_that_has_room_gets_no_advice(run):
    with run.trace.phase("forward"):
        forward(run, 4)
    assert run.remedies() == {}


def test_a_retry_of_another_size_is_judged_by_the_last_failure(run):
    with run.trace.phase("forward"):
        kept = run.alloc(300, *layer(3))
        run.fail(900, *layer(4))
        run.free(kept)
        run.alloc(100, *layer(3))
        run.fail(500, *layer(4))
        run.alloc(700, *layer(4))
    # Allocations after the last failure do not count, and requests refused before that failure do not count either.
    assert run.remedies()["smaller_batch"]["need_bytes"] == 600 * MIB


def test_a_nearly_full_card_gets_advice_without_a_failure(run):
    block = run.trace.alloc(950 * MIB)
    with run.trace.phase("forward"):
        run.trace.alloc(900 * MIB, "tensor", address=block, stack=run.trace.stack(*layer(3)))
    assert run.remedies()["smaller_batch"]["gain_bytes"] == 450 * MIB


def test_text_has_the_gain_the_advice_and_what_it_supposes(run):
    with run.trace.phase("forward"):
        forward(run, 4)
        run.fail(10, *layer(3))
    run.trace.write()
    text = run_command("oom", run.trace.path).stdout
    part = " ".join(text[text.index("What would have helped"):].split())
    assert "160.00 MiB checkpoint each Layer called by train.py:20" in part
    assert "around each of the 5 calls" in part
    assert "assumes that the last tensor of each call is its output" in part


# --- settings of PyTorch's allocator ---


def fragmented(path, version, kept=60, asked=150, **settings):
    """Makes two segments of 100 MiB, each with 40 MiB free. The request of 150 MiB fits in neither segment, nor in the
    100 MiB that are free on the card. One segment that grows takes 270 of 300 MiB. `kept` MiB stay in each segment, and
    `asked` MiB are refused."""
    trace = Trace(path)
    trace.device(total_bytes=412 * MIB)
    trace.device_memory(300 * MIB, 412 * MIB)
    trace.rows["framework"] = [("torch", version)] if version else []
    trace.rows["allocator_setting"] = list(settings.items())
    segments = [trace.filled_segment(100 * MIB) for _ in range(2)]
    for segment in segments:
        trace.tensor_free(segment)
    for segment in segments:
        trace.tensor(segment, kept * MIB)
    trace.device_memory(100 * MIB, 412 * MIB)
    for memory in ("linear", "linear", "tensor"):
        trace.fail(asked * MIB, memory)
    trace.write()
    rows = load_json("oom", path)["remedies"]
    return [row["advice"].removeprefix("set ") for row in rows if row["remedy"] == "expandable_segments"]


CUDA, NEW, ON = "PYTORCH_CUDA_ALLOC_CONF", "PYTORCH_ALLOC_CONF", "expandable_segments:True"


@pytest.mark.parametrize("version,settings,advice", [
    ("1.13.1", {}, None),  # this release has no such setting
    ("2.6.0", {}, f"{CUDA}={ON}"),
    ("2.6.0", {CUDA: "max_split_size_mb:128"}, f"{CUDA}=max_split_size_mb:128,{ON}"),
    ("2.6.0", {CUDA: ON}, None),
    ("2.6.0", {NEW: ON}, f"{CUDA}={ON}"),  # this release does not know that name
    ("2.9.1", {}, f"{CUDA}={ON}"),
    ("2.9.1", {NEW: ON}, f"{CUDA}={ON}"),  # this release ignores the setting under that name
    ("2.10.0", {}, f"{NEW}={ON}"),
    ("2.15.0+cu132", {NEW: "expandable_segments:False,max_split_size_mb:128"}, f"{NEW}={ON},max_split_size_mb:128"),
    ("2.15.0+cu132", {NEW: ON}, None),
    ("2.15.0+cu132", {CUDA: ON}, None),  # this name is an alias
    ("2.15.0+cu132", {CUDA: "max_split_size_mb:128"}, f"{NEW}=max_split_size_mb:128,{ON}"),
    ("2.15.0+cu132", {"pytorch": ON}, None),  # the setting was made by a call
    (None, {}, f"{CUDA}={ON}"),  # every release obeys this name
])  # fmt: skip
def test_the_setting_is_named_as_the_release_obeys_it(tmp_path, version, settings, advice):
    assert fragmented(tmp_path / "trace.db", version, **settings) == ([advice] if advice else [])


@pytest.mark.parametrize("differs", [False, True])
def test_segments_that_grow_are_not_advised_where_they_would_have_failed_before(tmp_path, differs):
    """Two segments have 26 MiB in all. In pieces of 20 MiB they would have taken 40 MiB, but the card had only 28 MiB.
    A later recorded event that differs from the model changes nothing."""
    trace = Trace(tmp_path / "trace.db")
    trace.card(412 * MIB, 384 * MIB)
    segments = [trace.filled_segment(size * MIB) for size in (12, 14)]
    for segment in segments:
        trace.tensor_free(segment)
    for segment, size in zip(segments, (2, 11)):
        trace.tensor(segment, size * MIB)
    trace.device_memory(2 * MIB, 412 * MIB)
    for memory in ("linear", "linear", "tensor"):
        trace.fail(12 * MIB, memory)
    if differs:
        trace.tensor(1 << 40, 2 * MIB)
    page = load_json("oom", trace.write())
    assert page["oom"][-1]["verdict"] == "fragmented"
    assert "expandable_segments" not in [row["remedy"] for row in page["remedies"]]


def test_expandable_segments_that_leave_little_room_are_no_advice_for_a_run_that_is_still_growing(tmp_path):
    """One segment that grows takes 290 of 300 MiB. More is live than ever before, so the next request may fail."""
    assert fragmented(tmp_path / "trace.db", "2.6.0", kept=90, asked=110) == []


@pytest.mark.parametrize("gradient", [200, 190])
def test_a_gradient_as_large_as_a_weight_does_not_grow_with_the_batch(run, gradient):
    """Backward asks for a second gradient of one table, to add it to the first. Half the batch makes neither smaller."""
    with run.trace.phase("init"):
        run.alloc(200, MAIN)
    with run.trace.phase("backward"):
        run.alloc(gradient, *layer(3))
        run.fail(gradient, *layer(4))
    # A block of another size is the gradient of a tensor of the batch. The first one is kept, so it does not count.
    row = run.remedies().get("smaller_batch")
    assert (row and row["gain_bytes"]) == (None if gradient == 200 else 95 * MIB)


def test_a_refused_gradient_lacks_the_rest_that_the_block_of_its_weight_has(run):
    """The weight takes a whole segment, whose rest is too small to split off. The request for its gradient has none."""
    with run.trace.phase("init"):
        run.alloc(250, MAIN)
    with run.trace.phase("backward"):
        run.alloc(250, *layer(3))
        run.fail(249.5, *layer(4))
    assert "smaller_batch" not in run.remedies()


@pytest.mark.parametrize("times, is_early", [(3, True), (1, False)])
def test_a_gain_in_the_first_layer_of_a_larger_batch_is_not_promised_of_the_step(run, times, is_early):
    """Other steps ran six layers. This one failed in its second, and had allocated less than they had."""
    with run.trace.phase("init"):
        run.alloc(100, ("/home/me/train.py", 2, "build"), MAIN)
    for number in range(1, 6):
        with run.trace.phase("forward"):
            made = [block for blocks in forward(run, 6) for block in blocks]
        with run.trace.phase("backward"):
            run.free(run.alloc(5, ("/home/me/train.py", 10, "gradient"), MAIN), *made)
        run.trace.step(number)
    with run.trace.phase("forward"):
        for line, size in ((3, 10), (4, 40), (5, 20), (3, 10)):
            run.alloc(size * times, *layer(line))
        run.fail(40 * times, *layer(4))
    assert not run.remedies()["smaller_batch"]["before_peak"]
    do = " ".join(row["text"] for row in load_json("oom", run.trace.path)["verdict"] if row["role"] == "do")
    assert ("alf the batch: " in do, "the rest of this step is still to come" in do) == (True, is_early)
