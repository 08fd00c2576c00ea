# SPDX-License-Identifier: MIT
"""What keeps memory alive, in made traces with walks over Python's objects. tests/unit/analyzer/analysis/held_sums.c tries
the joining of walks and blocks; tests/reference computes the same figures a second time."""
import re

import pytest

from support.run import ROOT, load_json, run_command, sentences_of
from support.tracefile import MIB, Trace

STORE = ("score.py", 28, "main")
GIB = 1024 * MIB


def kinds_of(path, macro):
    return re.findall(rf'^{macro}\("([^"]+)"', (ROOT / path).read_text(), flags=re.M)


def test_each_kind_of_holder_has_its_words():
    words = kinds_of("analyzer/page/holders/holder_words.def", "HOLDER")
    assert words == kinds_of("include/gpumemtrace/schema/holder_kinds.def", "HOLDER_KIND") and len(words) > 15


class Program:
    """Keeps a tensor of PyTorch's pool in each step. In step 1 it makes a model as well."""

    def __init__(self, path, steps=12):
        self.trace, self.kept = Trace(path), []
        self.next = self.trace.alloc(512 * MIB, stack=self.trace.stack(("train.py", 1, "start")))
        self.model = self.tensor(3, 4 * MIB)
        self.run(range(1, steps + 1))

    def run(self, steps):
        for number in steps:
            self.kept.append(self.tensor(17, MIB))
            self.trace.tensor_free(self.tensor(18, 2 * MIB))
            self.trace.step(number)

    def tensor(self, line, size):
        at, self.next = self.next, self.next + size
        return self.trace.tensor(at, size, stack=self.trace.stack(("score.py", line, "Scorer.forward")))

    def backward(self):
        with self.trace.phase("backward"):
            self.trace.tensor_free(self.tensor(90, MIB))
        return self

    def walk(self, kind, chain, items=None, place=STORE, reason="end", count=12):
        self.trace.walk(reason, (self.model, 4 * MIB, "module", "model.weight", None, None),
                        *((address, MIB, kind, chain, items, place) for address in self.kept[:count]))
        return self

    def write(self):
        self.trace.exit()
        return self.trace.write()

    def answer(self, command="leaks"):
        return sentences_of(load_json(command, self.write()))


@pytest.fixture
def program(tmp_path):
    return Program(tmp_path / "trace.db")


@pytest.mark.parametrize("kind, chain, items, who, action", [
    ("list", "curve.kept_scores[*]", 12, "curve.kept_scores (list of 12), filled at score.py:28", "Remove the items"),
    ("deque", "main: agent.memory[*]", 12, "main: agent.memory (deque of 12), filled at score.py:28", "maxlen that fits"),
    ("dict", "main: cache[*]", 12, "main: cache (dict of 12), filled at score.py:28", "Remove the entries"),
    ("dict", "store[*].scores[*]", 3, "store[*].scores (dict of 3), filled at score.py:28", "Remove the entries"),
    ("attribute", "store[*].score", 3, "store[*].score, assigned at score.py:28", "Set the attribute to None"),
    ("graph", "losses[*] -> graph", 12, "losses (12 items), through autograd's graph, stored at score.py:28", "detach()"),
    ("graph", "total -> graph", None, "total, through autograd's graph, stored at score.py:28", "detach() or item()"),
    ("cache", "Scorer.forward.<cache>", 12, "Scorer.forward.<cache> (cache of 12), filled at score.py:28", "outside the class"),
    ("hook", "model.head.<forward hook>", None, "model.head.<forward hook>, registered at score.py:28", "prune.remove()"),
    ("exception", "main: e", None, "main: e, stored at score.py:28", "traceback"),
    ("exception", "main: errors[*] -> run", 12, "main: errors (12 items), an exception whose traceback keeps the variables of run, "
     "stored at score.py:28", "place of the exception"),
    ("frame", "stubs[*] -> run", 12, "stubs (12 items), a frame that keeps the variables of run, stored at score.py:28",
     "place of the frame"),
    ("exit", "atexit.register(Scorer.close)", None, "atexit.register(Scorer.close), registered at score.py:28", "atexit.unregister()"),
    ("context", "<context scores>", None, "<context scores>, set at score.py:28", "reset()"),
    ("finalizer", "weakref.finalize(Scorer.close)", None, "weakref.finalize(Scorer.close), registered at score.py:28", "bound method"),
    ("iterator", "main: batches[*]", 12, "main: batches (itertools.cycle of 12), assigned at score.py:28",
     "in place of itertools.cycle()"),
    ("statement", "main: <running statement>", None, "main: <running statement>, running at score.py:28", "fewer tensors"),
    ("closure", "make.<closure seen>", None, "make.<closure seen>, assigned at score.py:28", "argument"),
    ("default", "collect.<default seen>", None, "collect.<default seen>, defined at score.py:28", "None the default"),
    ("cycle", "", None, "a reference cycle that no variable leads to, made at score.py:28", "Break the cycle"),
    ("c++", "", None, "no variable that the walk found, made at score.py:28", "gc.collect() once"),
    ("of a later release", "x", None, "x, made at score.py:28", None),
])  # fmt: skip
def test_a_leak_says_who_keeps_it_and_what_to_change(program, kind, chain, items, who, action):
    answer = program.backward().walk(kind, chain, items).answer()
    assert answer[0] == "Leak: 1.00 MiB per step by score.py:17 Scorer.forward."
    assert f"Kept by {who}: 12.00 MiB of 12.00 MiB at the end." in answer
    actions = [text for text in answer if action and action in text]
    assert len(actions) == (1 if action else 0)


def make_again(program, steps=12):
    """In each step the older blocks are freed and made again, with one more."""
    for number in range(1, steps + 1):
        for address in program.kept:
            program.trace.tensor_free(address)
        program.kept = [program.tensor(17, MIB) for _ in range(number)]
        program.trace.step(number)
    return program


REPLACED = "Some of its blocks are freed, and 1 block more is kept in each step"
KEPT = "None of its blocks is freed while others are made, and {} kept in each step."


@pytest.mark.parametrize("kind, why", [("list", f"{REPLACED}."), ("exception", None),
                                       ("hook", f"{REPLACED}; every hook that is still registered runs again.")])  # fmt: skip
def test_a_holder_whose_blocks_are_replaced_by_more_is_told_so(tmp_path, kind, why):
    program = make_again(Program(tmp_path / "trace.db", 0)).walk(kind, "model.head.<forward hook>")
    assert [line["text"] for line in load_json("leaks", program.write())["verdict"] if line["role"] == "why"] == [why][: why is not None]


def test_a_holder_of_blocks_that_are_all_kept_says_how_many_a_step_adds(program):
    assert KEPT.format("1 block more is") in program.walk("dict", "cache[*]", 12).answer()


@pytest.mark.parametrize("counts, sizes", [((1, 1), (1, 2)), ((1, 2), (1, 1))])
def test_steps_that_keep_different_blocks_are_not_counted(tmp_path, counts, sizes):
    program = Program(tmp_path / "trace.db", 0)
    for number in range(1, 13):
        program.kept += [program.tensor(17, sizes[number % 2] * MIB) for _ in range(counts[number % 2])]
        program.trace.step(number)
    assert KEPT.format("more blocks are") in program.walk("list", "losses[*]", 12).answer()


@pytest.mark.parametrize("kind, reason, is_said", [
    ("cycle", "growth", True), ("exception", "oom", True), ("list", "growth", False), ("cycle", "end", False)])  # fmt: skip
def test_garbage_is_said_of_a_program_without_steps_unless_it_is_left_by_its_end(tmp_path, kind, reason, is_said):
    program = Program(tmp_path / "trace.db", steps=0)
    program.kept = [program.tensor(40 + number, MIB) for number in range(12)]
    program.walk(kind, "" if kind == "cycle" else "main: e", reason=reason)
    path = program.write()
    for command in ("leaks", "report"):
        said = [text for text in sentences_of(load_json(command, path)) if text.startswith("Kept by")]
        assert len(said) == is_said
        assert kind != "cycle" or all("made at score.py:28: 12.00 MiB of 16.00 MiB" in text for text in said)


def test_garbage_of_a_running_program_is_said_although_its_end_was_walked_too(tmp_path):
    program = Program(tmp_path / "trace.db", steps=0)
    program.kept = [program.tensor(40 + number, MIB) for number in range(12)]
    program.walk("cycle", "", reason="growth").tensor(17, MIB)
    program.walk("list", "main: x", reason="end")
    assert [text for text in sentences_of(load_json("leaks", program.write())) if text.startswith("Kept by a reference cycle")]


def test_the_exception_that_ended_a_program_is_no_garbage_that_it_left_while_it_ran(tmp_path):
    program = Program(tmp_path / "trace.db", steps=0)
    program.kept = [program.tensor(40 + number, MIB) for number in range(12)]
    program.trace.fail(1 << 40)
    program.walk("list", "main: x", reason="oom").walk("exception", "sys.last_traceback -> main: x")
    assert not [text for text in sentences_of(load_json("leaks", program.write())) if "exception" in text]


@pytest.mark.parametrize("kind, is_said", [("list", False), ("graph", True)])
def test_without_a_backward_a_kept_graph_wants_no_grad(program, kind, is_said):
    answer = program.walk(kind, "losses[*]").answer()
    assert ("Run the forward under torch.no_grad(), or detach() what is kept." in answer) == is_said


def test_the_verdict_names_the_holder_and_not_the_places_to_look_at(program):
    page = load_json("leaks", program.walk("list", "losses[*]", 12).write())
    assert [line["role"] for line in page["verdict"]] == ["what", "why", "who", "do"]
    assert page["verdict"][2]["text"].startswith("Kept by losses (list of 12)")
    assert not any("a list, a cache, a closure" in text for text in page["answer"])


@pytest.mark.parametrize("count, is_said", [(7, True), (6, False)])
def test_a_holder_of_less_than_half_is_not_named(program, count, is_said):
    assert any(text.startswith("Kept by") for text in program.walk("list", "losses[*]", 12, count=count).answer()) == is_said


def test_a_statement_that_is_not_known_is_not_named(program):
    answer = program.walk("list", "losses[*]", 12, None).answer()
    assert "Kept by losses (list of 12): 12.00 MiB of 12.00 MiB at the end." in answer


def test_an_earlier_walk_that_found_the_variable_tells_more_than_the_last_one(program):
    program.walk("list", "main: model.maps[*]", 12, reason="growth", count=8).walk("c++", "", None)
    assert any(text.startswith("Kept by main: model.maps (list of 12)") for text in program.answer())


def test_a_function_that_has_returned_kept_the_memory_at_an_earlier_walk(program):
    program.walk("list", "main: losses[*]", 12, reason="growth")
    for address in program.kept:
        program.trace.tensor_free(address)
    program.kept = []
    assert any(text.startswith("Kept by main: losses (list of 12)") for text in program.walk("list", "").answer())


@pytest.mark.parametrize("steps", [1, 2])
def test_a_variable_that_holds_no_more_than_one_step_makes_is_not_what_leaks(tmp_path, steps):
    program = Program(tmp_path / "trace.db", steps).walk("local", "main: scores", reason="growth")
    program.run(range(steps + 1, 13))
    assert any(text.startswith("Kept by main: scores") for text in program.answer()) == (steps == 2)


def test_a_variable_of_the_running_step_is_not_what_leaks_though_it_holds_more(program):
    du = program.tensor(17, 40 * MIB)
    program.trace.walk("growth", (du, 40 * MIB, "graph", "du -> graph", None, STORE),
                       *((address, MIB, "graph", "worst -> graph", None, STORE) for address in program.kept))
    assert any(text.startswith("Kept by worst") for text in program.answer())


def test_a_list_whose_items_lead_to_all_that_leaks_is_named_before_them(program):
    chains = ("runs[*]", "runs[*].optimizer.state[*]", "runs[*].weight.grad")
    program.trace.walk("end", *((address, MIB, ("list", "optimizer", "gradient")[at % 3], chains[at % 3], 4, STORE)
                                for at, address in enumerate(program.kept)))
    assert "Kept by runs (list of 4), filled at score.py:28: 12.00 MiB of 12.00 MiB at the end." in program.answer()


@pytest.mark.parametrize("count, is_said", [(6, True), (2, False)])
def test_attributes_of_a_lists_items_are_named_beside_the_list_and_are_what_to_drop(program, count, is_said):
    """The program needs the models, and not the output that a hook left on each."""
    held = [(("attribute", "models[*].head.output", None) if at < count else ("list", "models[*]", 6)) for at in range(12)]
    program.trace.walk("end", *((address, MIB, *of, STORE) for address, of in zip(program.kept, held)))
    who = "Kept by models (list of 6), filled at score.py:28: 12.00 MiB of 12.00 MiB at the end"
    attribute = "; 6.00 MiB of it by attributes of the items, the largest models[*].head.output, assigned at score.py:28."
    answer = program.answer()
    (said,) = [text for text in answer if text.startswith("Kept by ")]
    assert said.startswith(who) and (attribute in said) == is_said
    assert any(text.startswith("Set the attribute to None") for text in answer) == is_said


def test_the_graphs_of_a_lists_items_are_named_before_the_list(program):
    program.trace.walk("end", *((address, MIB, *(("graph", "rows[*] -> graph") if at % 3 else ("list", "rows[*]")), 4, STORE)
                                for at, address in enumerate(program.kept)))
    assert any(text.startswith("Kept by rows (4 items), through autograd's graph") for text in program.answer())


def test_a_walk_in_the_middle_of_the_run_is_named_by_its_time(program):
    program.walk("list", "losses[*]", 12, reason="growth")
    program.trace.tensor_free(program.model)
    (said,) = [text for text in program.answer() if text.startswith("Kept by")]
    assert re.fullmatch(r"Kept by losses \(list of 12\), filled at score.py:28: 12.00 MiB of 12.00 MiB at [0-9.]+ .?s after the start.", said)


@pytest.mark.parametrize("stopped, is_said", [("time", "at its limit of time"), ("ValueError: odd", "an error"), (None, None)])
def test_a_walk_that_stopped_is_said_to_be_incomplete(program, stopped, is_said):
    program.walk("list", "losses[*]", 12)
    walks = program.trace.rows["walk"]
    walks[-1] = (*walks[-1][:-1], stopped)
    said = [text for text in program.answer() if "The walk stopped early" in text]
    assert (f"({is_said})" in said[0]) if is_said else not said
    holders = load_json("leaks", program.trace.path)["devices"][0]["leaks"]["holders"]
    assert {row["walk_stopped"] for row in holders} == {stopped}


def test_lists_of_one_object_need_not_keep_half_each(program):
    program.trace.walk("end", *((address, MIB, "list", f"metric.{'preds' if at % 2 else 'target'}[*]", 6, STORE)
                                for at, address in enumerate(program.kept)))
    assert any(text.startswith("Kept by metric.") and ": 6.00 MiB of 12.00 MiB" in text for text in program.answer())


@pytest.mark.parametrize("chains, said", [
    (("layers[*].input", "layers[*].output"), "6.00 MiB of the rest is kept by layers[*].output, assigned at score.py:28."),
    (("runs[*]", "runs[*].state"), None),
    (("layers[*].input",) * 11 + ("layers[*].output",), None),
])  # fmt: skip
def test_of_two_holders_that_share_the_memory_the_second_is_named_too(program, chains, said):
    """A part of the first holder, or what keeps less than a quarter, is not."""
    program.trace.walk("end", *((address, MIB, "attribute", chains[at % len(chains)], 6, STORE)
                                for at, address in enumerate(program.kept)))
    assert [text for text in program.answer() if "of the rest" in text] == ([said] if said else [])


def test_a_cycle_found_earlier_tells_more_than_what_is_left_at_the_end(program):
    program.walk("cycle", "", reason="growth").walk("list", "losses[*]", 2, count=2)
    assert any(text.startswith("Kept by a reference cycle") for text in program.answer())


@pytest.mark.parametrize("kind, chain, expected", [
    ("hook", "main: net.head.<forward hook>", "Kept by main: net.head.<forward hook>, registered at score.py:28: 8.00 MiB of 8.00 MiB"),
    ("cycle", "", "Kept by a reference cycle that no variable leads to, made at score.py:28: 12.00 MiB of 12.00 MiB at the end"),
])  # fmt: skip
def test_a_cycle_at_the_end_tells_less_than_the_variable_that_led_to_it_before(tmp_path, kind, chain, expected):
    program = Program(tmp_path / "trace.db", steps=8).walk(kind, chain, reason="growth")
    program.run(range(9, 13))
    program.walk("cycle", "")
    assert any(text.startswith(expected) for text in program.answer())


def test_leaks_by_holder_lists_them_and_joins_items_of_one_list(program):
    trace = program.walk("list", "losses[*]", 12).write()
    (device,) = load_json("leaks", trace)["devices"]
    pool, weight, *rest = device["leaks"]["holders"]
    assert pool == {"layer": "pool", "pool": "pytorch", "bytes": 12 * MIB, "count": 12, "chain": "losses[*]", "kind": "list",
                    "items_count": 12, "function": "main", "file": "score.py", "line": 28, "walk_reason": "end",
                    "walk_seq": len(program.trace.events) - 1, "walk_stopped": None}  # fmt: skip
    assert (weight["chain"], weight["file"], weight["bytes"], rest) == ("model.weight", None, 4 * MIB, [])
    shown = run_command("leaks", "--by=holder", trace).stdout
    assert "losses (list of 12), filled at score.py:28" in shown.split("Holders at the last walk")[1]
    assert "Holders at the last walk" not in run_command("leaks", trace).stdout


def test_leaks_by_holder_without_walks_says_how_to_get_them(program):
    shown = " ".join(run_command("leaks", "--by=holder", program.write()).stdout.split())
    assert "The trace has no walk over Python's objects, which finds the holders" in shown


def test_memory_that_no_object_of_pythons_keeps_is_listed_as_such(program):
    program.trace.tensor(program.next, 64 * MIB)
    (device,) = load_json("leaks", program.walk("list", "losses[*]").write())["devices"]
    first = device["leaks"]["holders"][0]
    assert (first["chain"], first["kind"], first["bytes"]) == (None, None, 64 * MIB)


def test_rows_that_grow_say_what_keeps_them(program):
    trace = program.walk("list", "losses[*]", 12).write()
    (device,) = load_json("leaks", trace)["devices"]
    assert [row["kept_by"] for row in device["leaks"]["growing"]] == ["losses[*]"]
    assert "kept by losses (list of 12), filled at score.py:28\n" in run_command("leaks", trace).stdout


# --- other commands ---


def rows_of(trace, *command):
    (device,) = load_json(*command, trace)["devices"]
    return {row["site"].split()[0]: row["kept_by"] for row in device["sites"] if row["layer"] == "pool"}


def test_rows_at_a_moment_say_what_keeps_blocks_that_lived_at_the_nearest_walk_too(program):
    program.walk("list", "losses[*]", 12, reason="growth")
    for _ in range(2):  # these blocks are younger than the walk
        program.tensor(19, 9 * MIB)
    trace = program.write()
    assert rows_of(trace, "peak") == {"score.py:3": "model.weight", "score.py:17": "losses[*]", "score.py:19": None}
    shown = run_command("peak", trace).stdout
    assert "kept by model.weight" in shown and re.search(r"A walk over Python's objects at [0-9.]+ .?s after the start found", shown)


def test_a_walk_after_the_moment_names_only_blocks_that_are_still_live(program):
    before = len(program.trace.events)
    program.trace.tensor_free(program.model)
    program.trace.walk("end", *((address, MIB, "list", "losses[*]", 12, STORE) for address in program.kept))
    assert rows_of(program.write(), "peak", f"--at={before}") == {"score.py:3": None, "score.py:17": "losses[*]"}


def test_a_trace_without_walks_has_no_key_of_holders(program):
    page = load_json("leaks", program.write())["devices"][0]["leaks"]
    assert "holders" not in page and "kept_by" not in page["growing"][0]


def fail(program, walked):
    """Makes an allocation fail. PyTorch calls the observer after the failure, so the walk comes then."""
    program.trace.device_memory(MIB, GIB, call=9, nested=1)
    program.trace.fail(GIB, call=9)
    if walked:
        program.walk("list", "main: history[*]", 12, reason="oom")
    return program


@pytest.mark.parametrize("walked", [True, False])
def test_a_failure_says_the_largest_holder(program, walked):
    page = load_json("oom", fail(program, walked).write())
    said = "12.00 MiB is kept by main: history (list of 12), filled at score.py:28"
    assert any(said in text for text in sentences_of(page)) == walked
    assert ("holders" in page["oom"][0]) == walked
    if walked:
        assert [row["chain"] for row in page["oom"][0]["holders"]] == ["main: history[*]", "model.weight"]
        assert {row["walk_reason"] for row in page["oom"][0]["holders"]} == {"oom"}


@pytest.mark.parametrize("kind, is_said", [("list", True), ("cycle", True), ("c++", False)])
def test_a_failure_does_not_say_that_no_variable_keeps_the_memory(program, kind, is_said):
    fail(program, False).walk(kind, "main: history[*]" if kind == "list" else "", reason="oom")
    page = load_json("oom", program.write())
    assert any("12.00 MiB is kept by" in text for text in sentences_of(page)) == is_said
    assert {row["kind"] for row in page["oom"][0]["holders"]} >= {kind}


@pytest.mark.parametrize("walked, table_mib, is_said", [(True, 0, True), (False, 0, False), (True, 400, False)])
def test_the_advice_at_a_failure_begins_with_that_for_the_holder_of_earlier_batches(program, walked, table_mib, is_said):
    program.kept += [program.tensor(5, table_mib * MIB)] if table_mib else []
    for _ in range(3):
        with program.trace.phase("forward"):
            program.kept.append(program.tensor(17, 30 * MIB))
        program.backward()
    with program.trace.phase("forward"):
        program.trace.device_memory(MIB, GIB, call=9, nested=1)
        program.trace.fail(30 * MIB, call=9, stack=program.trace.stack(("score.py", 17, "Scorer.forward")))
    if walked:
        program.walk("dict", "main: history[*]", 15, reason="oom", count=16)
    said = [line["text"] for line in load_json("oom", program.write())["verdict"] if line["role"] == "do"]
    lead = "Remove the entries that are no longer needed (del, clear()), or limit their number; f" if is_said else "F"
    assert said[0].startswith(lead + "ree the tensors that score.py:17 Scorer.forward made for earlier batches"), said


@pytest.mark.parametrize("kind, is_said", [("cycle", True), ("list", False)])
def test_garbage_is_to_be_freed_whatever_else_would_help(program, kind, is_said):
    program.trace.device_memory(MIB, GIB, call=9, nested=1)
    program.trace.fail(GIB, call=9)
    program.walk(kind, "", reason="oom")
    said = [line["text"] for line in load_json("oom", program.write())["verdict"] if line["role"] == "do"]
    assert any(text.startswith("Break the cycle, or call gc.collect() after each step") for text in said) == is_said


@pytest.mark.parametrize("chain, is_other", [("main: losses[*]", True), ("main: history[*]", False)])
def test_a_failure_says_whether_the_holder_keeps_other_memory_than_the_line_that_it_names(program, chain, is_other):
    """Line 17 made the largest row, of 12 MiB. Two other lines made 14 MiB for a list."""
    more = [program.tensor(line, 7 * MIB) for line in (40, 41)]
    fail(program, False)
    program.trace.walk("oom", *((address, MIB, "list", chain, 12, STORE) for address in program.kept),
                       *((address, 7 * MIB, "list", "main: history[*]", 2, STORE) for address in more))  # fmt: skip
    who = next(text for text in sentences_of(load_json("oom", program.write())) if "live tensors" in text)
    assert "score.py:17 Scorer.forward (12.00 MiB); " in who
    assert ("; another 14.00 MiB is kept by main: history" in who) == is_other
    assert ("; 26.00 MiB is kept by main: history" in who) != is_other


@pytest.mark.parametrize("count", [12, 11])
def test_a_leak_of_a_program_that_died_is_kept_by_a_variable_and_not_by_the_traceback(program, count):
    program.walk("list", "main: history[*]", 12, reason="oom", count=count)
    program.walk("exception", "sys.last_traceback -> main: history[*]", 12)
    assert any(text.startswith("Kept by main: history (list of 12)") for text in program.answer())


def test_a_program_that_dies_of_the_failure_has_the_holders_of_the_failure(program):
    fail(program, True).walk("exception", "sys.last_traceback -> main: history[*]", 12)
    assert {row["walk_reason"] for row in load_json("oom", program.write())["oom"][0]["holders"]} == {"oom"}


def test_blocks_that_were_freed_before_the_failure_are_not_held_by_an_earlier_walk(program):
    program.walk("list", "main: history[*]", 12, reason="growth")
    for address in program.kept[:9]:
        program.trace.tensor_free(address)
    rows = load_json("oom", fail(program, False).write())["oom"][0]["holders"]
    assert [(row["chain"], row["bytes"] // MIB) for row in rows] == [("model.weight", 4), ("main: history[*]", 3)]


def test_a_report_of_a_failure_shows_the_largest_holders(program):
    shown = run_command("oom", fail(program, True).write()).stdout
    assert "main: history (list of 12), filled at score.py:28" in shown.split("Largest holders at the last failure")[1]
    assert "A walk over Python's objects at the failed allocation found what keeps the memory." in shown


@pytest.mark.parametrize("reason, is_said", [("growth", True), (None, False)])
def test_a_step_that_begins_with_kept_memory_says_who_keeps_it(program, reason, is_said):
    history = [program.tensor(21, 40 * MIB) for _ in range(4)]
    program.trace.step(13)
    if reason:
        program.trace.walk(reason, *((address, 40 * MIB, "list", "history[*]", 4, STORE) for address in history))
    program.trace.tensor_free(program.tensor(18, 60 * MIB))
    for address in history:
        program.trace.tensor_free(address)
    program.trace.step(14)
    program.trace.tensor_free(program.tensor(18, 2 * MIB))
    program.trace.step(15)
    said = "Kept by history (list of 4), filled at score.py:28: 160.00 MiB of "
    assert any(text.startswith(said) for text in program.answer("steps")) == is_said


def test_a_step_that_failed_says_who_kept_memory_then_and_not_at_the_higher_peak_before(program):
    high = program.tensor(18, 600 * MIB)
    program.walk("list", "kept[*]", 12, reason="growth")
    program.trace.tensor_free(high)
    history = [program.tensor(21, 40 * MIB) for _ in range(4)]
    program.trace.step(13)
    program.trace.device_memory(MIB, GIB, call=9, nested=1)
    program.trace.fail(GIB, call=9)
    program.trace.fail(GIB, "tensor")
    program.trace.walk("oom", *((address, 40 * MIB, "list", "history[*]", 4, STORE) for address in history))
    (who,) = [text for text in program.answer("steps") if text.startswith("Kept by ")]
    assert who.startswith("Kept by history (list of 4), filled at score.py:28: 160.00 MiB of ")
