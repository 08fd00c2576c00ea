# SPDX-License-Identifier: MIT
"""Tests what the requests before a failure show: they grow, a smaller batch was tried, this one has a wrong shape, or
an object is made while the one before is held. The advice that they refute is not given."""
import pytest

from support.pool_run import PoolRun
from support.run import load_json
from support.tracefile import MIB, Trace

FILE = "/home/me/train.py"
MAIN = (FILE, 40, "main")
GATHER, MODEL = ((FILE, 8, "gather"), MAIN), ((FILE, 4, "Model.forward"), MAIN)


class Run(PoolRun):
    CARD_MIB = 16000

    def answer(self):
        page = load_json("oom", self.trace.write())
        texts = {role: " ".join(row["text"] for row in page["verdict"] if row["role"] == role) for role in ("why", "who", "do")}
        return texts, {row["remedy"] for row in page["remedies"]}


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "trace.db", tells_autograd=1)


def gather(run, rounds, sizes):
    """Each round joins a batch to what the earlier rounds made. The last request fails."""
    kept = None
    with run.trace.phase("init"):
        run.alloc(100, (FILE, 2, "build"), MAIN)
    with run.trace.phase("forward"):
        for number in range(rounds):
            batch = run.alloc(100, *MODEL)
            if number == rounds - 1:
                run.fail(sizes(number), *GATHER)
                return
            joined = run.alloc(sizes(number), *GATHER)
            run.free(batch, *([kept] if kept else []))
            kept = joined


def test_a_buffer_that_is_copied_to_make_room_is_said_to_grow_and_half_the_batch_is_no_advice(run):
    gather(run, 7, lambda number: 200 + 100 * number)
    texts, remedies = run.answer()
    assert ("the requests of this line grew 6 times by 100.00 MiB, from 200.00 MiB to 800.00 MiB, beside the old block of "
            "700.00 MiB.") in texts["why"]  # fmt: skip
    assert (remedies, texts["do"]) == (set(), "Give the block its final size at once, or keep its parts in host memory.")


def test_a_request_that_is_as_large_as_before_does_not_grow(run):
    gather(run, 7, lambda number: 800)
    texts, remedies = run.answer()
    assert "grew" not in texts["why"]
    assert "smaller_batch" in remedies
    assert texts["do"].startswith("Half the batch: ") and texts["do"].endswith(" less.")


@pytest.mark.parametrize("is_beside, lengths", [(False, range(4, 12)), (True, range(4, 12)), (False, [4] * 8)])
def test_batches_that_are_sorted_by_length_are_no_buffer_that_grows(run, is_beside, lengths):
    """Each block ends before the larger one of the next batch begins. A buffer lives beside it, or grows with batches of one
    length."""
    earlier = None
    for number, length in enumerate(lengths):
        with run.trace.phase("data"):
            batch = run.alloc(length, (FILE, 20, "load"), MAIN)
        with run.trace.phase("forward"):
            if number == len(lengths) - 1:
                run.fail(1600, *MODEL)
                break
            made = run.alloc(200 * (number + 1), *MODEL)
        if earlier and is_beside:
            run.free(earlier)
        earlier = made
        with run.trace.phase("backward"):
            run.free(run.alloc(100, (FILE, 9, "backward"), MAIN), batch, *([] if is_beside else [made]))
    texts, remedies = run.answer()
    is_sorted = not is_beside and lengths[0] < lengths[-1]
    assert ("smaller_batch" in remedies) == is_sorted
    assert ("requests of this line grew 7 times" in texts["why"]) != is_sorted


@pytest.mark.parametrize("is_kept", [True, False])
def test_half_the_batch_only_delays_the_failure_of_a_program_that_keeps_tensors_of_each_step(run, is_kept):
    """Each step keeps the output of its forward. Without that, a longer batch fails."""
    with run.trace.phase("init"):
        run.alloc(100, (FILE, 2, "build"), MAIN)
    for _ in range(9):
        with run.trace.phase("forward"):
            made = run.alloc(50, *MODEL), run.alloc(200, (FILE, 5, "Model.forward"), MAIN)
        with run.trace.phase("backward"):
            run.free(run.alloc(100, (FILE, 9, "backward"), MAIN), *made[is_kept:])
    with run.trace.phase("forward"):
        run.fail(900, (FILE, 5, "Model.forward"), MAIN)
    _, remedies = run.answer()
    assert ("smaller_batch" in remedies) != is_kept
    assert ("held_over" in remedies) == is_kept


@pytest.mark.parametrize("keeps_graph", [True, False])
def test_layers_that_autograd_keeps_are_no_buffer_that_grows(run, keeps_graph):
    with run.trace.phase("forward"):
        run.trace.event("autograd-node", object=int(keeps_graph), address=1)
        for number in range(6):
            run.alloc(100 + 100 * number, *MODEL)
        run.fail(700, *MODEL)
    texts, remedies = run.answer()
    assert ("grew" in texts["why"]) != keeps_graph
    assert ("smaller_batch" in remedies) == keeps_graph


def test_an_arena_that_doubles_each_time_it_is_full_is_told_by_its_requests(tmp_path):
    """Each block is copied into one of twice its size, and freed."""
    trace, old = Trace(tmp_path / "trace.db"), None
    trace.card(2000 * MIB, 0)
    line = trace.stack((FILE, 69, "Arena.grow"), MAIN)
    for size in (64, 128, 256, 512, 1024):
        new = trace.alloc(size * MIB, stack=line)
        if old:
            trace.free(old)
        old = new
    trace.fail(2000 * MIB, stack=line)
    texts = {row["role"]: row["text"] for row in load_json("oom", trace.write())["verdict"]}
    assert "the requests of this line doubled 5 times, to 1.95 GiB, beside the old block of 1.00 GiB." in texts["why"]


@pytest.mark.parametrize("is_freed_first", [False, True])
def test_a_buffer_that_is_held_while_its_replacement_is_asked_for_is_said_to_be(tmp_path, is_freed_first):
    trace, old = Trace(tmp_path / "trace.db"), None
    trace.card(2000 * MIB, 0)
    kept, line = (trace.stack((FILE, number, "resize"), MAIN) for number in (7, 9))
    for size in (700, 300, 900, 1200):
        if is_freed_first and old:
            trace.free(old)
            old = None
        if size == 1200:
            trace.fail(size * MIB, stack=line)
            break
        new = trace.alloc(size * MIB, stack=line)
        if old:
            trace.free(old)
        old = new
    trace.alloc(100 * MIB, stack=kept)
    why = [row["text"] for row in load_json("oom", trace.write())["verdict"] if row["role"] == "why"]
    said = "the block that it was to replace, 900.00 MiB, is held until the new one is there"
    assert (said in " ".join(why)) != is_freed_first


def test_a_block_that_stays_beside_passing_ones_of_its_line_is_not_to_be_replaced(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.card(2000 * MIB, 0)
    line = trace.stack((FILE, 9, "resize"), MAIN)
    trace.alloc(900 * MIB, stack=line)
    for _ in range(3):
        trace.free(trace.alloc(300 * MIB, stack=line))
    trace.fail(1200 * MIB, stack=line)
    assert "to replace" not in str(load_json("oom", trace.write())["verdict"])


def test_lines_that_free_nothing_and_ask_for_more_each_time_hold_the_memory(tmp_path):
    """A pool in C whose requests get larger never uses an old buffer again."""
    trace = Trace(tmp_path / "trace.db")
    trace.card(2000 * MIB, 0)
    trace.alloc(900 * MIB, stack=trace.stack((FILE, 2, "weights"), MAIN))
    for number in range(6):
        for line in (69, 70):
            trace.alloc((60 + 10 * number) * MIB, stack=trace.stack((FILE, line, "attend"), MAIN))
    trace.fail(120 * MIB, stack=trace.stack((FILE, 69, "attend"), MAIN))
    who = [row["text"] for row in load_json("oom", trace.write())["verdict"] if row["role"] == "who"]
    assert who == ["1.88 GiB live, 1020.00 MiB of it in 12 blocks by train.py:69 attend and train.py:70 attend, none freed, "
                   "each larger than the one before."]


def halve(run, is_kept, sizes=(800, 400, 200)):
    """A handler calls its own function again with half the batch. Each try makes one tensor before it fails."""
    frames = (MAIN,)
    for size in sizes:
        with run.trace.phase("forward"):
            inside = ((FILE, 23, "search"), *frames)
            block = run.alloc(size, (FILE, 12, "attempt"), *inside)
            run.fail(size, (FILE, 14, "attempt"), *inside)
        if not is_kept:
            run.free(block)
        frames = ((FILE, 27, "search"), *frames)


def test_tries_with_half_the_batch_say_that_it_was_tried(run):
    halve(run, is_kept=False)
    texts, remedies = run.answer()
    assert texts["why"].endswith("3 tries failed, each asking for half as much as the one before.")
    assert remedies == set() and texts["do"] == ""


def test_the_tensors_of_all_failed_tries_are_held_by_an_exception_although_each_try_is_one_call_deeper(run):
    halve(run, is_kept=True)
    texts, _ = run.answer()
    assert ("3 tries failed, each asking for half as much as the one before, and 1.17 GiB of their tensors stayed live, "
            "because an exception that is still held keeps its frames.") in texts["why"]  # fmt: skip
    # The last try still runs: its tensor of 200 MiB and its request of 200 MiB count in the need only.
    assert texts["do"] == "Free the exception of train.py:23, and try again after the except block: 1.17 GiB of 1.56 GiB less."


def test_tries_that_do_not_halve_the_request_leave_half_the_batch_as_advice(run):
    halve(run, is_kept=False, sizes=(800, 700, 600))
    texts, remedies = run.answer()
    assert "tries failed" not in texts["why"]
    assert "smaller_batch" in remedies


@pytest.mark.parametrize("size, is_absurd", [(20000, True), (14000, False)])
def test_a_request_of_a_hundred_times_all_that_lives_has_a_wrong_shape(run, size, is_absurd):
    with run.trace.phase("forward"):
        run.free(run.alloc(60, *GATHER))
        run.alloc(100, *MODEL)
        run.fail(size, *GATHER)
    texts, remedies = run.answer()
    assert ("the request is 200 times all that was live: check its shape." in texts["why"]) == is_absurd
    assert ("smaller_batch" in remedies) != is_absurd


@pytest.mark.parametrize("size, before, advises", [(9000, 0, False), (9000, 60, True), (7000, 0, True)])
def test_half_the_batch_is_promised_only_if_an_earlier_request_may_show_what_the_size_follows(run, size, before, advises):
    """The first request of a line, larger than half the card, may be a mask for the longest text of all."""
    with run.trace.phase("init"):
        run.alloc(8000, (FILE, 2, "build"), MAIN)
    with run.trace.phase("forward"):
        if before:
            run.free(run.alloc(before, *GATHER))
        run.alloc(100, *MODEL)
        run.fail(size, *GATHER)
    texts, remedies = run.answer()
    assert ("smaller_batch" in remedies) == advises
    assert (texts["do"] == "Make this tensor smaller (train.py:8 gather).") != advises


@pytest.mark.parametrize("size, is_beyond", [(15500, True), (14500, False)])
def test_a_request_that_the_card_could_not_give_if_all_else_were_freed_is_told_as_such(run, size, is_beyond):
    """The context takes 1000 MiB, so the card can give 15000 MiB at most."""
    run.trace.device_memory(15000 * MIB, 16000 * MIB)
    with run.trace.phase("optimizer"):
        states = run.trace.alloc(2000 * MIB)
        run.trace.alloc(2000 * MIB, "tensor", address=states, stack=run.trace.stack((FILE, 3, "step"), MAIN))
    with run.trace.phase("forward"):
        run.trace.device_memory(13000 * MIB, 16000 * MIB)
        run.trace.fail(size * MIB)  # the pool asked the driver
        run.fail(size, *GATHER)
    texts, remedies = run.answer()
    told = "This one request is larger than the card can give: the card had 12.70 GiB of 15.62 GiB free, and 1.95 GiB is live."
    assert (texts["why"] == told) == is_beyond
    assert ("smaller_states" in remedies) != is_beyond
    assert texts["do"].startswith("Make this tensor smaller (train.py:8 gather).") == is_beyond


def test_a_remedy_that_only_lowers_an_earlier_peak_is_no_advice(run):
    """The first optimizer step fails, although less is live than at the peak of forward."""
    with run.trace.phase("init"):
        run.alloc(400, (FILE, 2, "build"), MAIN)
    with run.trace.phase("forward"):
        kept = [run.alloc(300, *MODEL) for _ in range(3)]
    with run.trace.phase("backward"):
        run.alloc(400, (FILE, 9, "backward"), MAIN)
        run.free(*kept)
    with run.trace.phase("optimizer"):
        run.fail(400, (FILE, 10, "step"), MAIN)
    _, remedies = run.answer()
    assert remedies.isdisjoint({"smaller_batch", "checkpoint"})


LOADING = ("/opt/venv/torch/serialization.py", 9, "load")


@pytest.mark.parametrize("models, copies, gain", [(1, 1, 600), (1, 3, 600), (2, 3, 1200), (1, 6, None)])
def test_a_checkpoint_with_the_moments_of_adam_is_matched_by_sizes(run, models, copies, gain):
    """The optimizer takes the loaded moments over, so only the loaded weights, and those of a second model that averages
    them, are a second copy."""
    with run.trace.phase("init"):
        for size in (400, 200) * models:
            run.alloc(size, (FILE, 2, "build"), MAIN)
        for size in (400, 200) * copies:
            run.alloc(size, LOADING, (FILE, 3, "resume"), MAIN)
    with run.trace.phase("forward"):
        run.fail(300, *MODEL)
    page = load_json("oom", run.trace.write())
    gains = {row["remedy"]: row["gain_bytes"] for row in page["remedies"]}
    assert gains.get("load_on_cpu") == (gain and gain * MIB)


def load_beside_the_model(run, at_once):
    """Makes a model and loads a checkpoint, which it frees at once or returns. A temporary of init makes the peak."""
    segment, lines = run.trace.alloc(1200 * MIB), [((FILE, 2, "build"), MAIN), (LOADING, (FILE, 3, "resume"), MAIN)]
    tensors = [segment + 300 * number * MIB for number in range(4)]
    with run.trace.phase("init"):
        for number, tensor in enumerate(tensors):
            run.trace.tensor(tensor, 300 * MIB, stack=run.trace.stack(*lines[number // 2]))
        run.free(run.alloc(50, *lines[0]))
        for tensor in tensors[2:] if at_once else ():
            run.trace.tensor_free(tensor)
    return () if at_once else tensors[2:]


@pytest.mark.parametrize("size", [10, 100])
@pytest.mark.parametrize("part", ["forward", "data", "mine"])
def test_a_checkpoint_that_is_freed_after_work_may_be_a_second_model(run, part, size):
    """What works may allocate less than loading did, or make the peak."""
    loaded = load_beside_the_model(run, at_once=False)
    with run.trace.phase(part):
        run.free(run.alloc(size, *MODEL))
    for tensor in loaded:
        run.trace.tensor_free(tensor)
    run.trace.exit()
    path = run.trace.write()
    for command in ("peak", "report"):
        assert "map_location" not in " ".join(row["text"] for row in load_json(command, path)["verdict"])


@pytest.mark.parametrize("is_freed", [True, False])
@pytest.mark.parametrize("command", ["peak", "report"])
def test_a_checkpoint_beside_the_model_is_said_at_a_peak_with_room_if_it_was_freed_unused(run, command, is_freed):
    """What is not freed may be a second model."""
    load_beside_the_model(run, at_once=is_freed)
    with run.trace.phase("forward"):
        run.free(run.alloc(10, *MODEL))
    run.trace.exit()
    page = load_json(command, run.trace.write())
    said = [(row["role"], row["text"]) for row in page["verdict"] if row["role"] in ("why", "do")]
    assert said == is_freed * [
        ("why", "Without the checkpoint that train.py:3 resume loads, at most 650.00 MiB would be live, but 1.17 GiB stays "
                "reserved to the end."),
        ("do", 'Use map_location="cpu" for the checkpoint that train.py:3 resume loads: 600.00 MiB of 1.22 GiB less.')]  # fmt: skip


@pytest.mark.parametrize("layer, advises", [(20, False), (30, True)])
def test_half_the_batch_is_no_advice_where_the_request_changed_and_the_tensors_of_the_model_did_not(run, layer, advises):
    """Each picture has its own number of masks. In the second case, a layer shows that the last batch was larger."""
    call = (("/opt/torch/nn/modules/module.py", 15, "Module._call_impl"), MAIN)
    with run.trace.phase("forward"):
        for number, masks in enumerate((100, 400, 200, 9000)):
            made = [run.alloc(layer if number == 3 else 20, (FILE, 4, "Model.forward"), *call)]
            if number == 3:
                run.fail(masks, *GATHER)
                break
            made.append(run.alloc(masks, *GATHER))
            run.free(*made)
    _, remedies = run.answer()
    assert ("smaller_batch" in remedies) == advises


BUILD, LOAD, SWAP = (FILE, 13, "Block.__init__"), (FILE, 32, "load"), (FILE, 44, "Server.swap")


TWO_OBJECTS = "7.00 GiB is of this call of train.py:32 load, 8.00 GiB of the call before, which is still held"
ONE_OBJECT = "8.00 GiB is of the call of train.py:32 load before this one, and is still held"


@pytest.mark.parametrize("drops, beside, count, told", [
    (False, 0, 7, TWO_OBJECTS), (False, 0, 0, ONE_OBJECT), (True, 0, 7, None), (False, 1100, 7, None),
])  # fmt: skip
def test_an_object_that_is_made_while_the_one_before_is_held_is_told_apart(run, drops, beside, count, told):
    """A server builds a model of 8 GiB, runs it, and builds the next one. The refused request is of no object. In the second
    case it is the first of the next model, in the third case the first model was freed. In the fourth case, other memory that
    was made after the first model is still held, as layers are that other lines make."""
    with run.trace.phase("init"):
        models = [run.alloc(1024, BUILD, LOAD, SWAP, MAIN) for _ in range(8)]
    with run.trace.phase("forward"):
        run.free(run.alloc(10, *MODEL))
        if beside:
            run.alloc(beside, *MODEL)
    if drops:
        run.free(*models)
    with run.trace.phase("init"):
        for _ in range(count):
            run.alloc(1024, BUILD, LOAD, SWAP, MAIN)
        run.fail(9000 if drops else 1024, BUILD, LOAD, SWAP, MAIN)
    texts, _ = run.answer()
    assert told in texts["why"] if told else "still held" not in texts["why"]
    assert texts["do"].startswith("Drop the old tensors of train.py:32 load (del, = None) before") == bool(told)


def test_another_path_is_told_by_its_live_memory_not_by_all_that_it_allocated(run):
    for number in range(1, 7):
        with run.trace.phase("forward"):
            run.free(run.alloc(100, *MODEL))
        run.trace.step(number)
    with run.trace.phase("forward"):
        for _ in range(10):
            passing = run.alloc(1024, *GATHER)
            run.alloc(512, (FILE, 51, "validate"), MAIN)
            run.free(passing)
        run.fail(4096, (FILE, 51, "validate"), MAIN)
    texts, _ = run.answer()
    assert ("In step 7, call stacks that other steps do not have hold 5.00 GiB, most of it by train.py:51 validate (5.00 GiB): "
            "another path through the program; ") in texts["why"]  # fmt: skip


@pytest.mark.parametrize("size, frames, is_of_model", [(2000, "moved", True), (500, "moved", True), (15500, "moved", True), (2000, "own", False)])
def test_a_model_that_does_not_fit_is_to_be_measured_on_a_card_without_a_limit(run, size, frames, is_of_model):
    """The trace cannot tell how many weights were still to come, and a weight cannot be made smaller by itself."""
    moved = ("/lib/torch/nn/modules/module.py", 900, "Module._apply"), ("/lib/torch/nn/modules/module.py", 1300, "Module.cuda")
    stack = (*(moved if frames == "moved" else ()), (FILE, 2, "build"), MAIN)
    run.trace.device_memory(15000 * MIB, 16000 * MIB)
    weights = run.trace.alloc(14000 * MIB)
    run.trace.alloc(14000 * MIB, "tensor", address=weights, stack=run.trace.stack(*moved, (FILE, 2, "build"), MAIN))
    run.trace.device_memory(1000 * MIB, 16000 * MIB)
    run.trace.fail(size * MIB)
    run.fail(size, *stack)
    do = run.answer()[0]["do"]
    assert do.startswith("Run it with --dry-run=any to see how much it needs: memory ran out before its whole model") == is_of_model
    assert ("on the card, which lacks at least" in do) == (is_of_model and size > 1000)
    assert ("Make this tensor smaller" in do) == (size > 8000 and not is_of_model)


@pytest.mark.parametrize("sizes, said", [
    ([100, 200, 100], "the request is 6.0 times the largest one of this line before, 200.00 MiB."),
    ([100, 400, 100], None),
    ([], None),
])  # fmt: skip
def test_a_request_of_most_of_the_card_is_compared_with_the_largest_one_of_its_line(tmp_path, sizes, said):
    trace = Trace(tmp_path / "trace.db")
    trace.card(2000 * MIB, 0)
    line = trace.stack((FILE, 69, "Vector.reserve"), MAIN)
    blocks = [trace.alloc(size * MIB, stack=line) for size in sizes]
    for block in blocks[:1]:
        trace.free(block)
    trace.fail(1200 * MIB, stack=line)
    texts = {row["role"]: row["text"] for row in load_json("oom", trace.write())["verdict"]}
    assert ("times the largest one" in texts["why"]) == bool(said) and (said or "") in texts["why"]
    assert texts.get("do") == ("Check how the size is computed at train.py:69 Vector.reserve." if said else None)


def test_a_line_that_asked_for_more_on_behalf_of_another_caller_has_not_outgrown(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.card(2000 * MIB, 0)
    first, second = (trace.stack((FILE, 69, "upload"), (FILE, caller, "main")) for caller in (5, 8))
    trace.free(trace.alloc(1500 * MIB, stack=first))
    trace.alloc(100 * MIB, stack=second)
    trace.fail(1700 * MIB, stack=second)
    roles = [row["role"] for row in load_json("oom", trace.write())["verdict"]]
    assert "times the largest one" not in str(load_json("oom", trace.path)["verdict"]) and "do" not in roles


def test_a_request_that_its_step_explains_has_not_outgrown_its_line(tmp_path):
    """The failed step asks for 6.5 times the memory of one line, as a longer batch does."""
    trace = Trace(tmp_path / "trace.db")
    trace.card(2000 * MIB, 0)
    trace.alloc(500 * MIB, stack=trace.stack((FILE, 3, "weights"), MAIN))
    lines = [trace.stack((FILE, 9 + number, "forward"), MAIN) for number in range(3)]
    for step in range(1, 7):
        for block in [trace.alloc(size * MIB, stack=line) for line, size in zip(lines, (50, 200, 50))]:
            trace.free(block)
        trace.step(step)
    trace.alloc(300 * MIB, stack=lines[0])
    trace.device_memory(1200 * MIB, 2000 * MIB)
    trace.fail(1300 * MIB, stack=lines[1])
    said = str(load_json("oom", trace.write())["verdict"])
    assert "as large as in other steps" in said
    assert "times the largest one" not in said and "Check how the size is computed" not in said


class Card:
    """PyTorch has filled a card of 16000 MiB: each tensor has a segment of the driver's, and nothing is idle."""

    def __init__(self, path, **meta):
        self.trace = Trace(path, **meta)
        self.trace.card(16000 * MIB, 0)
        self.used = 0

    def alloc(self, mib, *frames, segment=None):
        self.used += segment or mib
        address = self.trace.alloc((segment or mib) * MIB)
        return self.trace.tensor(address, mib * MIB, stack=self.trace.stack(*frames)), segment or mib

    def free(self, block):
        self.trace.tensor_free(block[0])
        self.trace.free(block[0])
        self.used -= block[1]

    def why(self, mib, *frames, segment=None, limit=0):
        """Asks for the tensor, which is refused. limit: PyTorch may use so much less than the card. Returns the reason."""
        self.trace.device_memory((16000 - self.used) * MIB, 16000 * MIB)
        stack = self.trace.stack(*frames)
        for _ in range(0 if limit else 2):
            self.trace.fail((segment or mib) * MIB, stack=stack)
        self.trace.fail(mib * MIB, "tensor", stack=stack)
        return " ".join(row["text"] for row in load_json("oom", self.trace.write())["verdict"] if row["role"] == "why")


@pytest.fixture
def card(tmp_path):
    return Card(tmp_path / "trace.db", tells_autograd=1)


@pytest.mark.parametrize("steps, before, said", [
    (4, 600, "the request is 2.0 times the largest one of this line before, 600.00 MiB, which would fit."),
    (4, 900, None),  # would not fit either
    (4, 1100, None),  # hardly smaller
    (2, 600, None),  # perhaps larger layers of one model
])  # fmt: skip
def test_a_request_that_outgrew_those_that_would_fit_is_compared_with_them(card, steps, before, said):
    """A prompt is longer than those before; the layers of a model ask one after the other."""
    card.alloc(15200, (FILE, 2, "build"), MAIN)
    for number in range(1, steps + 1):
        for size in (300, 300) if number % 2 else (before, before):
            card.free(card.alloc(size, *GATHER))
        card.trace.step(number)
    why = card.why(1200, *GATHER)
    assert why.startswith("Exhausted: ")
    assert ("times the largest one" in why) == bool(said) and (said or "") in why


def test_a_request_that_a_limit_refused_is_not_compared_with_one_that_would_fit_the_card(card):
    card.alloc(7500, (FILE, 2, "build"), MAIN)
    for number in range(1, 5):
        card.free(card.alloc(900, *GATHER))
        card.trace.step(number)
    why = card.why(1800, *GATHER, limit=8000)
    assert why.startswith("A limit: ") and "would fit" not in why


@pytest.mark.parametrize("free, said", [(6, False), (20, True)])
def test_a_tensor_fits_only_where_its_segment_does(card, free, said):
    """PyTorch asks the driver for 20 MiB if a tensor has 1 to 10 MiB."""
    card.alloc(16000 - free, (FILE, 2, "build"), MAIN)
    for number in range(1, 5):
        card.free(card.alloc(2, *GATHER, segment=20))
        card.trace.step(number)
    assert ("2.00 MiB, which would fit" in card.why(24, *GATHER)) == said


@pytest.mark.parametrize("of_model", [True, False])
def test_a_model_that_is_moved_in_steps_is_not_compared_with_its_smaller_layers(card, of_model):
    moved = ("/lib/torch/nn/modules/module.py", 900, "Module._apply"), ("/lib/torch/nn/modules/module.py", 1300, "Module.cuda")
    stack = (*(moved if of_model else ()), (FILE, 2, "build"), MAIN)
    card.alloc(14700, (FILE, 3, "load"), MAIN)
    for number in range(1, 5):
        card.alloc(200, *stack)
        card.trace.step(number)
    assert ("which would fit" in card.why(1200, *stack)) != of_model
