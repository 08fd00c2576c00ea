# SPDX-License-Identifier: MIT
"""The walk over Python's objects finds the variable that keeps memory alive, and the statement that stores it there."""
import re

import pytest

from support.pytorch_builds import SCRIPTS

KEEPERS = SCRIPTS / "keepers" / "keepers.py"
UNIT = 1 << 16
(
    OOM, ENDED, INTERRUPTED, IN_BACKWARD, UNREACHABLE, ARRAYS, TASKS, RECURSIVE, RUNNING, EXITS, HELPERS, CLASSES, ATTRIBUTES,
    DEQUES, WIDE, MANY, REGISTRIES, MUTUAL, LINKED,
) = (
    SCRIPTS / "keepers" / f"{name}.py"
    for name in ("runs_out", "ends", "interrupted", "runs_out_in_backward", "unreachable", "arrays", "tasks", "recursive", "running",
                 "exits", "helpers", "classes", "attributes", "deques", "wide", "many", "registries", "mutual",
                 "linked")
)  # fmt: skip

# Size of the storages in the program: number of storages, kind of the holder, chain, number of items of the container.
KEPT = {
    1: (3, "list", "kept[*]", 3),
    2: (4, "list", "main: history_of_main[*]", 4),
    3: (1, "global", "single", None),
    4: (3, "dict", "table[*]", 3),
    5: (3, "list", "history.scores[*]", 3),
    6: (1, "attribute", "history.last", None),
    7: (1, "cache", "table_of.<cache>", 1),
    8: (1, "cache", "Scorer.mask.<cache>", 1),
    9: (1, "closure", "average.<closure seen>[*]", 1),
    10: (1, "default", "remember.<default memory>[*]", 1),
    11: (1, "attribute", "box.slot", None),
    14: (3, "graph", "main: losses[*] -> graph", 3),
    15: (2, "graph", "main: total -> graph", None),
    17: (1, "graph", "main: metric.total -> graph", None),
    18: (1, "exception", "main: problem -> fails", None),
    20: (1, "exception", "records.records[*] -> logs", 1),
    21: (1, "generator", "running -> batches: buffer", None),
    22: (1, "task", "keep_by_tasks: task -> waits: waiting", None),
    23: (1, "thread", "local.cache", None),
    24: (1, "queue", "jobs.queue[*]", 1),
    25: (1, "optimizer", "main: optimizer.param_groups[*][*][*]", 1),
    26: (1, "module", "main: net.head.weight", None),
    30: (1, "gradient", "main: leaf.grad", None),
    32: (1, "hook", "main: watched.<backward hook>.<default mask>", None),
    33: (1, "gradient", "main: curved.grad", None),
    34: (6, "dict", "sessions[*]", 6),
    35: (1, "finalizer", "weakref.finalize(Reader.close)", None),
    37: (6, "attribute", "layers[*].input", 6),
    38: (3, "list", "history.by_name[*][*]", 3),
    53: (3, "set", "chosen[*]", 3),
    54: (5, "list", "spooler.buffer[*]", 5),
    52: (1, "hook", "main: net.head.<forward hook>.<closure captured>[*]", 1),
}


def commented_lines(script):
    """Returns {size: line of the statement that has this size in a comment}."""
    lines = script.read_text(encoding="utf-8").splitlines()
    return {int(found[1]): number for number, line in enumerate(lines, 1) if (found := re.search(r"  # (\d+)$", line))}


def holders(recording, reason):
    """Returns {size in units: [(kind, chain, number of items, line)]} of the last walk for this reason."""
    (walk,) = recording.rows(f"SELECT max(walk_id) FROM walk WHERE reason = '{reason}' AND stopped IS NULL")
    found = {}
    for size, *row in recording.rows(
        f"SELECT size_bytes, kind, chain, items_count, line FROM holders WHERE walk_id = {walk[0]} AND size_bytes >= {UNIT}"
    ):
        found.setdefault(size / UNIT, []).append(tuple(row))
    return found


def of_any_walk(recording):
    """Returns {size in units: {(kind, chain, number of items, line, number of storages)}} of the walks that were asked for."""
    found = {}
    for size, *row in recording.rows(
        "SELECT size_bytes, kind, chain, items_count, line, count(*) FROM holders"
        " WHERE reason = 'asked' GROUP BY walk_id, size_bytes, kind, chain, items_count, line"
    ):
        found.setdefault(size / UNIT, set()).add(tuple(row))
    return found


@pytest.mark.parametrize("size", KEPT, ids=[chain for _, _, chain, _ in KEPT.values()])
def test_a_storage_has_the_chain_and_the_line_that_keep_it(dry_run, size):
    count, kind, chain, items_count = KEPT[size]
    expected = (kind, chain, items_count, commented_lines(KEEPERS).get(size))
    found = holders(dry_run(str(KEEPERS)), "asked")[size]
    assert found.count(expected) == count, found


def test_a_cycle_through_the_context_of_an_operator_has_the_line_that_stores_the_attribute(dry_run):
    found = holders(dry_run(str(KEEPERS)), "asked")[130]
    assert ("cycle", "", None, commented_lines(KEEPERS)[130]) in found


def test_a_copy_of_a_list_is_a_list_of_its_own(dry_run):
    chains = {chain for _, chain, _, _ in holders(dry_run(str(KEEPERS)), "asked")[29]}
    assert chains == {"main: net.outputs[*]", "main: shadow[*]"}


def test_at_most_a_twentieth_of_the_live_bytes_is_held_by_nothing_of_python(dry_run):
    recording = dry_run(str(KEEPERS))
    ((walk, event),) = recording.rows("SELECT walk_id, event_number FROM walk WHERE reason = 'asked'")
    ((live,),) = recording.rows(
        "SELECT sum(size_bytes) FROM blocks WHERE account = 'pool'"
        f" AND seq <= {event} AND (end_seq IS NULL OR end_seq > {event})"
    )
    ((held,),) = recording.rows(f"SELECT sum((size_bytes + 511) / 512 * 512) FROM holder WHERE walk_id = {walk}")
    assert live * 0.95 <= held <= live


def test_a_failed_allocation_is_followed_by_a_walk_over_the_running_functions(dry_run):
    recording = dry_run(str(OOM), spec="1GiB", check=False)
    assert ("list", "train: kept[*]", 7, commented_lines(OOM)[1600]) in holders(recording, "oom")[1600]
    ((failed, walked),) = recording.rows("SELECT (SELECT max(seq) FROM failures), event_number FROM walk WHERE reason = 'oom'")
    assert failed <= walked


def test_a_failure_in_a_backward_is_followed_by_a_walk_over_the_functions_of_the_thread_that_waits(dry_run):
    found = holders(dry_run(str(IN_BACKWARD), spec="1GiB", check=False), "oom")[1600]
    assert {(kind, chain, line) for kind, chain, _, line in found} == {("list", "train: kept[*]", commented_lines(IN_BACKWARD)[1600])}


def test_a_cycle_has_a_line_that_makes_it_and_not_the_one_that_gives_it_the_tensor(dry_run):
    lines = [number for number, line in enumerate(MUTUAL.read_text(encoding="utf-8").splitlines(), 1) if line.endswith("# 40")]
    found = holders(dry_run(str(MUTUAL)), "asked")[40]
    assert found in ([("cycle", "", None, line)] * 3 for line in lines)


@pytest.mark.parametrize("size, kind, chain", [(40, "cycle", ""), (41, "hook", "<hook forget>")])
def test_a_cycle_is_told_from_what_only_cpp_code_refers_to(dry_run, size, kind, chain):
    found = holders(dry_run(str(UNREACHABLE)), "asked")[size]
    assert {(kind, chain, line) for kind, chain, _, line in found} == {(kind, chain, commented_lines(UNREACHABLE)[size])}


def test_a_model_that_each_of_its_many_layers_refers_to_is_a_cycle(dry_run):
    found = holders(dry_run(str(WIDE)), "asked")[40]
    assert found == [("cycle", "", None, commented_lines(WIDE)[40])] * 100


def test_a_walk_stops_within_a_list_of_too_many_objects(dry_run):
    ((stopped, count),) = dry_run(str(MANY)).rows("SELECT stopped, objects_count FROM walk WHERE reason = 'asked'")
    assert stopped in ("memory", "time")
    assert count <= (200 << 20) // 160 + 1024


@pytest.mark.parametrize("script", [RECURSIVE, CLASSES], ids=["function", "class"])
def test_a_function_that_calls_itself_and_a_class_are_cycles_with_the_line_of_their_definition(dry_run, script):
    found = holders(dry_run(str(script)), "asked")[40]
    assert found == [("cycle", "", None, commented_lines(script)[40])] * 3


@pytest.mark.parametrize("size, count, kind, chain, items_count", [
    (1, 1, "local", "main: own", None),
    (3, 6, "set", "main: coordinator.finished[*]", 6),
    (5, 6, "list", "main: worker -> works: history[*]", 6),
    (7, 6, "weak", "models[*]", 6),
    (9, 6, "iterator", "main: endless[*]", 6),
])  # fmt: skip
def test_a_coroutine_that_waits_is_a_running_function_if_asyncio_runs_it(dry_run, size, count, kind, chain, items_count):
    found = holders(dry_run(str(TASKS)), "asked")[size]
    assert found == [(kind, chain, items_count, commented_lines(TASKS)[size])] * count


@pytest.mark.parametrize("size, count, kind, chain, items_count", [
    (60, 3, "exit", "atexit.register(Engine._close)", None),
    (61, 1, "exit", "keep_for_callbacks: calls.<exit show>", 1),
    (62, 1, "exit", "stack.<exit closing.__exit__>.thing.buffer", None),
    (65, 6, "list", "recorders.<exit Recorder.__exit__>.records[*]", 1),
])  # fmt: skip
def test_what_is_called_at_an_exit_is_named_with_the_statement_that_registers_it(dry_run, size, count, kind, chain, items_count):
    found = holders(dry_run(str(EXITS)), "asked")[size]
    assert found == [(kind, chain, items_count, commented_lines(EXITS)[size])] * count


@pytest.mark.parametrize("size, count, chain, items_count", [
    (63, 1, "<context latest>[*]", 1),
    (64, 6, "serve: tasks[*] -> context request", 6),
])  # fmt: skip
def test_a_context_variable_has_the_name_and_the_line_that_sets_it(dry_run, size, count, chain, items_count):
    found = holders(dry_run(str(EXITS)), "asked")[size]
    assert found == [("context", chain, items_count, commented_lines(EXITS)[size])] * count


@pytest.mark.parametrize("size, count, kind, chain, items_count", [
    (66, 6, "list", "best[*]", 6),
    (67, 6, "list", "main: beam.hypotheses[*]", 6),
    (68, 6, "dict", "main: beam.options.masks[*]", 6),
    (69, 1, "attribute", "shared.model", None),
    (70, 1, "local", "main: future", None),
    (71, 6, "list", "main: futures[*]", 6),
    (72, 6, "local", "work (6 threads): job", None),
    (73, 6, "list", "main: replay.rows[*]", 6),
])  # fmt: skip
def test_an_object_of_the_standard_library_is_named_as_the_program_sees_it(dry_run, size, count, kind, chain, items_count):
    found = holders(dry_run(str(HELPERS)), "asked")[size]
    assert found == [(kind, chain, items_count, commented_lines(HELPERS)[size])] * count


@pytest.mark.parametrize("size, count, kind, chain, items_count", [
    (40, 3, "list", "uses_its_stack: <running loop> -> batches: cache[*]", 3),
    (41, 3, "list", "uses_its_stack: <running loop>[*]", 3),
    (42, 1, "attribute", "uses_its_stack: <running with>.kept", None),
    (43, 1, "statement", "uses_its_stack: <running statement>", None),
    (44, 1, "statement", "uses_its_stack: <running statement>", None),
])  # fmt: skip
def test_a_value_that_no_variable_has_yet_is_named_after_the_running_statement(dry_run, size, count, kind, chain, items_count):
    found = of_any_walk(dry_run(str(RUNNING)))[size]
    assert found == {(kind, chain, items_count, commented_lines(RUNNING)[size], count)}


@pytest.mark.parametrize("size, count, function", [
    (45, 3, "calls_c_code"), (46, 2, "calls_c_code"), (47, 1, "calls_c_code"), (48, 1, "leaves_it_to_c_code"),
])  # fmt: skip
def test_what_a_running_call_of_c_code_has_made_is_named_after_its_statement(dry_run, size, count, function):
    recording = dry_run(str(RUNNING))
    named = ("statement", f"{function}: <running statement>", None, commented_lines(RUNNING)[size], count)
    expected = named if recording.completed.stdout == "True\n" else ("c++", "", None, None, count)
    assert of_any_walk(recording)[size] == {expected}


def test_what_c_code_keeps_is_not_named_after_the_statement_that_runs_later(dry_run):
    assert of_any_walk(dry_run(str(RUNNING)))[50] == {("c++", "", None, None, 1)}


def test_an_exception_that_ended_the_program_keeps_the_variables_of_its_frames(dry_run):
    found = holders(dry_run(str(OOM), spec="1GiB", check=False), "end")[1600]
    assert ("exception", "sys.last_traceback -> train: kept[*]", 7, commented_lines(OOM)[1600]) in found


def test_a_walk_changes_neither_allocations_nor_output(dry_run):
    def events(recording):
        return recording.rows("SELECT kind, address, size_bytes FROM event WHERE memory = 10 ORDER BY seq")

    walked, alone = dry_run(str(ENDED)), dry_run(str(ENDED), GPUMEMTRACE_NO_HOLDERS="1")
    assert walked.rows("SELECT count(*) FROM walk WHERE stopped IS NULL") > [(2,)]
    assert alone.rows("SELECT count(*) FROM walk") == [(0,)]
    assert events(walked) == events(alone)
    assert walked.completed.stdout == alone.completed.stdout


def test_an_exception_of_a_signal_handler_ends_the_programs_call_and_not_the_walk(dry_run):
    recording = dry_run(str(INTERRUPTED))
    assert recording.completed.stdout == "10 10\n"
    assert recording.rows("SELECT count(*) FROM walk WHERE reason = 'end' AND stopped IS NULL") == [(1,)]


def test_arrays_of_other_frameworks_are_storages_unless_reading_them_runs_code_of_the_program(dry_run):
    recording = dry_run(str(ARRAYS))
    assert recording.completed.stdout == "2 1 7 9 False\n"
    lines = commented_lines(ARRAYS)
    assert holders(recording, "asked") == {
        3: [("list", "main: in_c[*]", 2, lines[3])] * 2,
        5: [("dict", "main: table[*]", 1, lines[5])],
    }


@pytest.mark.parametrize("size, name", [(51, "given"), (52, "value"), (53, "looped")])
def test_a_variable_that_the_running_statement_assigns_has_its_value_of_an_earlier_statement(dry_run, size, name):
    """The first one is an argument, which no statement assigned yet. A loop may have run the statement before."""
    found = of_any_walk(dry_run(str(RUNNING)))[size]
    assert found == {("local", f"assigns_again: {name}", None, commented_lines(RUNNING).get(size), 1)}


def test_an_argument_is_not_assigned_by_another_function_that_has_a_variable_of_this_name(dry_run):
    assert of_any_walk(dry_run(str(RUNNING)))[54] == {("local", "names_its_argument_only: passed", None, None, 1)}


@pytest.mark.parametrize("size, count, kind, chain, items_count", [
    (74, 1, "attribute", "main: result.scores", None),
    (75, 1, "dict", "main: state.best[*]", 1),
    (76, 1, "attribute", "main: engine.model", None),
    (77, 6, "frame", "stubs[*] -> attention", 6),
    (78, 1, "generator", "main: waiting -> events: weights.table", None),
])  # fmt: skip
def test_attributes_frames_and_generators_are_named_as_the_program_sees_them(dry_run, size, count, kind, chain, items_count):
    recording = dry_run(str(ATTRIBUTES))
    assert recording.completed.stdout == "[]\n"  # a property was not run
    assert holders(recording, "asked")[size] == [(kind, chain, items_count, commented_lines(ATTRIBUTES)[size])] * count


@pytest.mark.parametrize("size, line, kind, chain", [
    (75, 75, "deque", "main: agent.memory[*]"), (76, 75, "deque", "main: agent.memory[*]"),
    (77, 77, "deque", "main: agent.latest[*]"), (78, 78, "queue", "main: agent.waiting._queue[*]"),
])  # fmt: skip
def test_an_item_of_a_deque_is_of_no_list(dry_run, size, line, kind, chain):
    """The deque of a queue belongs to it: a maxlen would drop what it holds."""
    assert holders(dry_run(str(DEQUES)), "asked")[size] == [(kind, chain, 6, commented_lines(DEQUES)[line])] * 6


@pytest.mark.parametrize("size, chain", [(80, "main: net.adapters[*]"), (81, "main: net.scales[*]")])
def test_a_member_of_a_dict_of_modules_or_parameters_is_its_item(dry_run, size, chain):
    lines = commented_lines(REGISTRIES)
    assert holders(dry_run(str(REGISTRIES)), "asked")[size] == [("dict", chain, 6, lines[size])] * 6


def test_a_statement_that_stores_something_made_from_a_variable_fills_no_container_of_it(dry_run):
    assert holders(dry_run(str(REGISTRIES)), "asked")[84] == [("dict", "main: net.other[*]", 6, None)] * 6


def test_of_many_optimizers_in_a_list_the_list_is_the_holder(dry_run):
    expected = ("list", "main: trainer.optimizers[*]", 6, commented_lines(REGISTRIES)[82])
    assert holders(dry_run(str(REGISTRIES)), "asked")[82] == [expected] * 6


def test_the_handler_of_a_signal_keeps_what_it_uses(dry_run):
    expected = ("exit", "signal.signal(listen.stop)", None, commented_lines(REGISTRIES)[83])
    assert holders(dry_run(str(REGISTRIES)), "asked")[83] == [expected] * 6


@pytest.mark.parametrize("size, kind, chain, items_counts, line", [
    (40, "attribute", "main: state.before[*]", [5, 6, 7], 40),
    (41, "closure", "main: scale.<closure before>[*].<closure factor>", [None] * 5, 41),
    (42, "attribute", "main: wrapper.inner.inner.table", [None], 42),
])  # fmt: skip
def test_the_links_of_a_linked_list_are_items_if_there_are_many(dry_run, size, kind, chain, items_counts, line):
    """What the first links keep has chains of their own: a few links may be objects within objects."""
    found = [row for row in holders(dry_run(str(LINKED)), "asked")[size] if row[1] == chain]
    assert sorted(found) == [(kind, chain, items_count, commented_lines(LINKED)[line]) for items_count in items_counts]


def test_a_value_of_a_weak_dict_is_of_a_kind_of_its_own(dry_run):
    expected = ("weak", "main: shared[*]", 6, commented_lines(REGISTRIES)[85])
    assert holders(dry_run(str(REGISTRIES)), "asked")[85] == [expected] * 6
