# SPDX-License-Identifier: MIT
"""Changes between two moments: which lines match, which line is to blame, and that the rows add up to the whole
change."""
import csv
import io
import itertools
import json
import subprocess

import pytest

from support.made_traces import MADE
from support.run import BUILD, ROOT, TIMEOUT_S, load_json, run_command, texts_of
from support.tracefile import MIB, Trace


def write(path, blocks, folder="/me/run", before_exit=None):
    """Writes a trace of train.py. Each of `blocks` is (size, (line, function), …), with the innermost frame first."""
    trace = Trace(path)
    for size, *frames in blocks:
        trace.alloc(size, stack=trace.stack(*((f"{folder}/train.py", line, name) for line, name in frames)))
    if before_exit:
        before_exit(trace)
    trace.exit()
    trace.write()
    return path


def diff(*arguments):
    (device,) = load_json("diff", *arguments)["devices"]
    assert sum(row["delta_bytes"] for row in device["sites"]) == device["delta_bytes"]
    return device


def rows(*arguments):
    return [(row["site"], row["delta_bytes"]) for row in diff(*arguments)["sites"]]


MAIN = (90, "main")


@pytest.fixture
def base(tmp_path):
    return write(tmp_path / "base.db", [(8 * MIB, (10, "forward"), MAIN), (4 * MIB, (12, "forward"), MAIN),
                                        (2 * MIB, (40, "data"), (88, "main"))])  # fmt: skip


def test_moved_lines_in_another_folder_are_no_change(base, tmp_path):
    now = write(tmp_path / "now.db", [(8 * MIB, (15, "forward"), (97, "main")), (4 * MIB, (18, "forward"), (97, "main")),
                                      (2 * MIB, (48, "data"), (95, "main"))], "/you/elsewhere/renamed")  # fmt: skip
    assert rows(base, now) == []
    opening = run_command("diff", base, now).stdout.splitlines()[0]
    assert opening == "The peak is the same on device 0 (driver), 14.00 MiB."


def test_a_line_between_moved_lines_is_the_one_that_grew(base, tmp_path):
    now = write(tmp_path / "now.db", [(8 * MIB, (15, "forward"), MAIN), (8 * MIB, (16, "forward"), MAIN),
                                      (4 * MIB, (18, "forward"), MAIN), (2 * MIB, (48, "data"), (88, "main"))])  # fmt: skip
    assert rows(base, now) == [("train.py:16 forward", 8 * MIB)]


def test_names_of_methods_before_and_after_python_3_11_are_the_same(base, tmp_path):
    now = write(tmp_path / "now.db", [(9 * MIB, (10, "Net.forward"), MAIN), (4 * MIB, (12, "Net.forward"), MAIN),
                                      (2 * MIB, (40, "Set.data"), (88, "main"))])  # fmt: skip
    assert rows(base, now) == [("train.py:10 Net.forward", MIB)]


def test_a_function_of_another_name_that_holds_the_same_is_the_same(base, tmp_path):
    now = write(tmp_path / "now.db", [(8 * MIB, (10, "apply"), MAIN), (5 * MIB, (12, "apply"), MAIN),
                                      (2 * MIB, (40, "data"), (88, "main"))])  # fmt: skip
    assert rows(base, now) == [("train.py:12 apply", MIB)]


def test_a_call_whose_parts_all_grew_is_to_blame_for_them(base, tmp_path):
    outer = (99, "<module>")
    sizes = (8, 4)
    paths = []
    for name, factor in (("one", 1), ("two", 2)):
        blocks = [(factor * size * MIB, (10 + i, "forward"), MAIN, outer) for i, size in enumerate(sizes)]
        paths.append(write(tmp_path / f"{name}.db", [*blocks, (6 * MIB, (40, "model"), (80, "main"), outer)]))
    assert rows(*paths) == [("train.py:90 main", 12 * MIB)]


def test_what_one_line_holds_less_and_another_as_much_more_is_no_row(base, tmp_path):
    now = write(tmp_path / "now.db", [(8 * MIB, (10, "forward"), MAIN), (4 * MIB, (12, "forward"), MAIN),
                                      (2 * MIB, (70, "loader"), (60, "prepare"), (88, "main"))])  # fmt: skip
    assert rows(base, now) == []


def test_a_helper_that_grew_for_one_of_its_callers_passes_the_blame_on(tmp_path):
    helper = (3, "floats")
    old = [(MIB, helper, (10 + i, "forward"), MAIN) for i in range(4)]
    paths = [write(tmp_path / "old.db", old), write(tmp_path / "new.db", [*old, (MIB, helper, (20, "forward"), MAIN)])]
    assert rows(*paths) == [("train.py:20 forward", MIB)]


def test_one_part_that_grew_is_to_blame_though_the_others_grew_by_a_little(tmp_path):
    outer = (99, "<module>")
    paths = [write(tmp_path / f"{more}.db", [(10 * MIB + more, (10, "forward"), MAIN, outer), (40 * MIB + more // 1024, (12, "forward"), MAIN, outer),
                                             (2 * MIB, (40, "data"), (88, "main"), outer)]) for more in (0, 3 * MIB)]  # fmt: skip
    assert rows(*paths) == [("train.py:10 forward", 3 * MIB), ("train.py:12 forward", 3 * 1024)]


def test_a_line_that_is_parted_into_a_function_is_no_row(tmp_path):
    before = [(8 * MIB, (10, "forward"), MAIN), (4 * MIB, (10, "forward"), MAIN), (2 * MIB, (12, "forward"), MAIN)]
    after = [(8 * MIB, (20, "helper"), (10, "forward"), MAIN), (4 * MIB, (21, "helper"), (10, "forward"), MAIN),
             (3 * MIB, (12, "forward"), MAIN)]  # fmt: skip
    paths = [write(tmp_path / f"{name}.db", blocks) for name, blocks in (("before", before), ("after", after))]
    assert rows(*paths) == [("train.py:12 forward", MIB)]


def test_a_call_that_held_nothing_hands_the_blame_on_to_the_part_that_holds_most(tmp_path):
    paths = []
    for keeps in (False, True):
        trace = Trace(tmp_path / f"{keeps}.db")
        for size, line, name, call in ((20, 62, "evaluate", 84), (4, 63, "evaluate", 84), (30, 74, "train", 80)):
            frames = ((line, name), (call, "main"), (99, "<module>"))
            block = trace.alloc(size * MIB, stack=trace.stack(*(("/me/run/train.py", *frame) for frame in frames)))
            if name == "evaluate" and not keeps:
                trace.free(block)
        trace.exit()
        paths.append(trace.write())
    assert rows(*paths) == [("train.py:62 evaluate", 20 * MIB), ("train.py:63 evaluate", 4 * MIB)]


def two_parts(path, *evaluated):
    """Records a training part, whose 32 MiB are freed, and then an evaluation. evaluated: (MiB, line) of blocks that
    are live together."""
    trace = Trace(path)

    def allocate(size, line, name, call):
        frames = ((line, name), (call, "main"), (99, "<module>"))
        return trace.alloc(size * MIB, stack=trace.stack(*(("/me/run/train.py", *frame) for frame in frames)))

    for block in [allocate(size, line, "train", 80) for size, line in ((20, 74), (12, 75))]:
        trace.free(block)
    for block in [allocate(size, line, "evaluate", 84) for size, line in evaluated]:
        trace.free(block)
    trace.exit()
    return trace.write()


ELSEWHERE = "(the peak was elsewhere)"


def test_a_peak_that_moved_is_compared_with_what_its_part_of_the_program_held_before(tmp_path):
    """A comparison with the whole run before would blame line 62 for 24 MiB that it held in both runs."""
    before = two_parts(tmp_path / "before.db", (24, 62), (2, 64))
    after = two_parts(tmp_path / "after.db", (24, 62), (10, 63), (2, 64))
    assert rows(before, after) == [("train.py:63 evaluate", 10 * MIB), (ELSEWHERE, -6 * MIB)]
    page = load_json("diff", before, after)
    assert "from 32.00 MiB to 36.00 MiB" in texts_of(page, "what")
    assert texts_of(page, "who") == "train.py:63 evaluate: it holds 10.00 MiB more."
    assert "its moment that is most like the new peak, when 26.00 MiB were live" in texts_of(page, "why")
    completed = run_command("check", after, f"--baseline={before}", "--json")
    (device,) = json.loads(completed.stdout)["devices"]
    assert [(row["file"], row["line"]) for row in device["grown"]] == [("train.py", 63)]


def test_a_peak_that_moved_to_a_part_that_grew_as_a_whole_names_its_call(tmp_path):
    before, after = two_parts(tmp_path / "before.db", (12, 62), (2, 64)), two_parts(tmp_path / "after.db", (54, 62), (9, 64))
    assert rows(before, after) == [("train.py:84 main", 49 * MIB), (ELSEWHERE, -18 * MIB)]


def test_a_peak_that_fell_and_moved_names_the_line_that_holds_less(tmp_path):
    before = two_parts(tmp_path / "before.db", (24, 62), (10, 63), (2, 64))
    after = two_parts(tmp_path / "after.db", (24, 62), (2, 64))
    assert rows(before, after) == [(ELSEWHERE, 6 * MIB), ("train.py:63 evaluate", -10 * MIB)]
    page = load_json("diff", before, after)
    assert texts_of(page, "who") == "train.py:63 evaluate: it holds 10.00 MiB less."
    assert "its moment that is most like the earlier peak, when 26.00 MiB were live" in texts_of(page, "why")


def test_peaks_of_one_height_in_different_lines_name_what_grew_and_what_shrank(tmp_path):
    paths = []
    for forward, data in ((1, 5), (3, 3)):
        trace = Trace(tmp_path / f"{forward}.db")
        for phase, size, line in (("forward", forward, 12), ("data", data, 40)):
            trace.push(phase)
            trace.alloc(size * MIB, stack=trace.stack(("/me/run/train.py", line, phase), ("/me/run/train.py", *MAIN)))
            trace.pop()
        trace.exit()
        paths.append(trace.write())
    assert rows(*paths) == [("train.py:12 forward", 2 * MIB), ("train.py:40 data", -2 * MIB)]
    assert load_json("diff", *paths)["answer"] == [
        "The peak is the same on device 0 (driver), 6.00 MiB.",
        "train.py:12 forward: it holds 2.00 MiB more; train.py:40 data: it holds 2.00 MiB less."]  # fmt: skip


def passes(path, *lines, before=(), idle=(), after=()):
    """Records a program in which each of `lines` in main runs the same forward, which keeps 8 MiB. Unless the line is
    idle, forward needs 4 MiB more while it runs."""
    trace = Trace(path)

    def allocate(size, *frames):
        return trace.alloc(size * MIB, stack=trace.stack(*(("/me/run/train.py", line, name) for line, name in frames)))

    for line in before:
        allocate(1, (line, "main"))
    for line in lines:
        allocate(8, (10, "forward"), (line, "main"))
        if line not in idle:
            trace.free(allocate(4, (12, "forward"), (line, "main")))
    for line in after:
        allocate(30, (line, "main"))
    trace.exit()
    trace.write()
    return path


def grown_since_a_file(before, after, folder):
    """Returns the rows of `check` against a baseline file that was written from the trace `before`."""
    kept = folder / "memory.json"
    assert run_command("check", before, f"--write-baseline={kept}").returncode == 0
    check = run_command("check", after, f"--baseline={kept}", "--json")
    assert check.returncode == 1
    (device,) = json.loads(check.stdout)["devices"]
    return [(row["site"], row["delta_bytes"]) for row in device["grown"]]


def test_of_two_equal_calls_the_lower_one_is_new(tmp_path):
    """In both runs, the last call is the only one whose working memory is live at the peak."""
    paths = [passes(tmp_path / "one.db", 25), passes(tmp_path / "two.db", 26, 27)]
    assert rows(*paths) == grown_since_a_file(*paths, tmp_path) == [("train.py:27 main", 8 * MIB)]


def test_calls_are_told_apart_by_what_they_needed_before_the_peak(tmp_path):
    paths = [passes(tmp_path / "one.db", 25, after=[40]), passes(tmp_path / "two.db", 25, 26, idle=[25], after=[41])]
    assert rows(*paths) == grown_since_a_file(*paths, tmp_path) == [("train.py:25 main", 8 * MIB)]


def test_of_two_equal_calls_the_one_that_moved_as_the_line_before_it_did_is_not_new(tmp_path):
    paths = [passes(tmp_path / "one.db", 25, before=[20]), passes(tmp_path / "two.db", 24, 26, before=[21])]
    assert rows(*paths) == [("train.py:24 main", 8 * MIB)]


def test_what_a_backward_left_stands_at_its_call_within_the_next_one(tmp_path):
    paths = []
    for keeps in (False, True):
        trace = Trace(tmp_path / f"{keeps}.db")
        trace.thread_names[2] = "pt_autograd_0"
        torch = "/lib/torch/autograd/__init__.py"
        call = trace.stack((torch, 50, "_make_grads"), (torch, 340, "backward"), ("/me/run/train.py", 24, "main"))
        for _ in range(2):
            trace.alloc(512, "tensor", stack=call)
            gradient = trace.alloc(8 * MIB, "tensor", stack=trace.stack("backward (autograd)"), thread=2)
            if not keeps:
                trace.free(gradient, "tensor")
        trace.exit()
        paths.append(trace.write())
    assert rows(*paths) == grown_since_a_file(*paths, tmp_path) == [("train.py:24 main", 8 * MIB)]


def graphs(path, kept):
    """Records two steps. Each has a forward of four operators, which have one node each, and then a backward through
    these nodes. kept: numbers of the operators whose forward tensor that backward does not free; the next backward
    frees it."""
    trace = Trace(path)
    trace.thread_names[2] = "pt_autograd_0"
    torch = "/lib/torch/autograd/__init__.py"
    call = trace.stack((torch, 50, "_make_grads"), (torch, 340, "backward"), ("/me/run/train.py", 24, "main"))
    left = []
    for step in range(2):
        blocks = {}
        for number in range(4):
            trace.event("autograd-node", object=4 * step + number + 1, address=1)
            line = trace.stack(("/me/run/train.py", 10 + number, "forward"), ("/me/run/train.py", 20, "main"))
            blocks[number] = trace.alloc((number + 1) * MIB, "tensor", stack=line)
        trace.event("autograd-node", object=0, address=1)
        trace.free(trace.alloc(512, "tensor", stack=call), "tensor")
        for number in reversed(range(4)):
            trace.event("autograd-node", object=4 * step + number + 1, address=1, size=1, thread=2)
            trace.free(trace.alloc(512, "tensor", stack=trace.stack("backward (autograd)"), thread=2), "tensor")
        for block in [*left, *(blocks[number] for number in blocks if number not in kept)]:
            trace.free(block, "tensor")
        left = [blocks[number] for number in kept]
    trace.exit()
    trace.write()
    return path


def test_a_graph_that_a_backward_did_not_free_stands_at_its_call(tmp_path):
    paths = [graphs(tmp_path / "freed.db", ()), graphs(tmp_path / "retained.db", range(4))]
    assert rows(*paths) == grown_since_a_file(*paths, tmp_path) == [("train.py:24 main", 10 * MIB)]
    assert [row["called"] for row in diff(*paths)["sites"]] == ["_make_grads"]


def test_what_a_backward_without_a_known_operator_takes_is_named_as_that_of_its_line(tmp_path):
    paths = []
    for size in (MIB, 8 * MIB):
        trace = Trace(tmp_path / f"{size}.db")
        trace.event("autograd-node", object=1, address=1)
        trace.alloc(MIB, "tensor", stack=trace.stack(("/me/run/train.py", 10, "forward"), ("/me/run/train.py", 20, "main")))
        trace.event("autograd-node", object=1, address=1, size=1, thread=2)
        trace.alloc(size, "tensor", stack=trace.stack("backward (autograd)"), thread=2)
        paths.append(trace.write())
    assert rows(*paths) == [("backward of train.py:10 forward", 7 * MIB)]


def test_an_output_that_is_kept_past_its_backward_stands_at_the_line_that_made_it(tmp_path):
    paths = [graphs(tmp_path / "freed.db", ()), graphs(tmp_path / "kept.db", [3])]
    assert rows(*paths) == grown_since_a_file(*paths, tmp_path) == [("train.py:13 forward", 4 * MIB)]


def test_the_input_comes_first_if_what_grew_did_as_it_did(tmp_path):
    paths = []
    for batch in (1, 2):
        trace = Trace(tmp_path / f"{batch}.db")

        def at(line, name):
            return trace.stack((f"/me/{batch}/train.py", line, name), (f"/me/{batch}/train.py", 90, "main"))

        with trace.phase("init"):
            trace.alloc(9 * MIB, stack=at(5, "make"))
        with trace.phase("data"):
            trace.alloc(batch * 1024, stack=at(20, "load"))
        with trace.phase("forward"):
            for line in (30, 31):
                trace.alloc(batch * 6 * MIB, stack=at(line, "forward"))
        trace.exit()
        paths.append(trace.write())
    device = diff(*paths)
    assert [(row["site"], row["explains_bytes"]) for row in device["sites"]] == [
        ("train.py:20 load", 12 * MIB), ("train.py:30 forward", None), ("train.py:31 forward", None)]  # fmt: skip


def loop_within_main(path, forward, data=8, gradients=12):
    """Records a training loop in a function that main calls. <module> calls main. All sizes are in MiB."""
    trace = Trace(path)
    for phase, line, size in (("data", 20, data), *(("forward", 30 + i, size) for i, size in enumerate(forward)),
                              ("backward", 40, gradients)):  # fmt: skip
        with trace.phase(phase):
            trace.alloc(size * MIB, stack=trace.stack(("/me/run/train.py", line, "fit"), ("/me/run/train.py", 90, "main"),
                                                      ("/me/run/train.py", 99, "<module>")))  # fmt: skip
    trace.exit()
    trace.write()
    return path


def test_the_part_of_a_loop_that_grew_is_to_blame_though_gradients_grew_beside_it(tmp_path):
    before = loop_within_main(tmp_path / "before.db", [400])
    after = loop_within_main(tmp_path / "after.db", [500], gradients=14)
    assert [row["site"] for row in diff(before, after)["sites"]] == ["train.py:30 fit", "train.py:40 fit"]


def test_the_input_comes_first_within_a_loop_that_grew_as_a_whole(tmp_path):
    before = loop_within_main(tmp_path / "before.db", [100, 80])
    after = loop_within_main(tmp_path / "after.db", [150, 120], data=12, gradients=12)
    first = diff(before, after)["sites"][0]
    assert (first["site"], first["explains_bytes"]) == ("train.py:20 fit", 90 * MIB)


def steps_of_a_model(path, parameters, activations, batch=1, double_at=None):
    """Records steps of a model. double_at: a line that replaces each parameter by a parameter that is twice as
    large."""
    trace = Trace(path)
    torch = "/lib/torch/nn/modules/module.py"

    def at(line, name, *inner):
        return trace.stack(*inner, ("/me/run/train.py", line, name), ("/me/run/train.py", 90, "main"))

    with trace.phase("init"):
        for size in parameters:
            block = trace.alloc(size, stack=at(5, "make", (torch, 900, "Module.cuda")))
            if double_at:
                trace.alloc(2 * size, stack=at(double_at, "make", (torch, 950, "Module.double")))
                trace.free(block)
    with trace.phase("data"):
        trace.alloc(batch * 1024, stack=at(20, "load"))
    with trace.phase("forward"):
        for number, size in enumerate(activations):
            trace.alloc(size, stack=at(30 + number, "forward"))
    trace.exit()
    trace.write()
    return path


def test_a_head_that_is_wider_comes_before_what_it_makes_and_that_is_named_too(tmp_path):
    before = steps_of_a_model(tmp_path / "before.db", [40 * MIB, MIB], [9 * MIB, 8 * MIB])
    after = steps_of_a_model(tmp_path / "after.db", [40 * MIB, 8 * MIB], [9 * MIB, 64 * MIB])
    assert [(row["site"], row["explains_bytes"]) for row in diff(before, after)["sites"]] == [
        ("train.py:5 make", 56 * MIB), ("train.py:31 forward", None)]  # fmt: skip
    (_, why, who) = load_json("diff", before, after)["answer"]
    assert why == "By category, other grew by 56.00 MiB; parameters by 7.00 MiB."
    assert who == ("train.py:5 make: its parameters are 1.17 times as large, and 56.00 MiB elsewhere grew with it; "
                   "train.py:31 forward holds 56.00 MiB more.")  # fmt: skip


def test_a_model_that_a_new_line_makes_of_another_type_is_still_that_model(tmp_path):
    before = steps_of_a_model(tmp_path / "before.db", [40 * MIB], [90 * MIB, 80 * MIB])
    after = steps_of_a_model(tmp_path / "after.db", [40 * MIB], [180 * MIB, 160 * MIB], batch=2, double_at=8)
    first = diff(before, after)["sites"][0]
    assert (first["site"], first["explains_bytes"]) == ("train.py:8 make", 170 * MIB + 1024)


def test_a_sample_that_holds_more_gets_one_annotation_on_the_line(tmp_path):
    source = (ROOT / "samples/train.c").read_text()
    kept = "    classes = tensor_new(BATCH * sizeof(int64_t));\n"
    more = source.replace(kept, f"{kept}    floats((size_t)BATCH * 4096);\n").replace("static void load", "/* More. */\n\nstatic void load")
    for name, text in (("base", source), ("more", more)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.c").write_text(text)
        subprocess.run(["cc", "-D_GNU_SOURCE", "-Iinclude", "-I.", "-Isamples", "-g", "-pthread", "-o", folder / "train",
                        folder / "train.c", BUILD / "simulator/libcudart.so.12", "-lm"], cwd=ROOT, check=True, timeout=TIMEOUT_S)  # fmt: skip
        run = run_command("run", "--dry-run=16GiB", "-o", tmp_path / f"{name}.db", "--", folder / "train")
        assert run.returncode == 0, run.stderr
    kept_file = tmp_path / "memory.json"
    assert run_command("check", tmp_path / "base.db", f"--write-baseline={kept_file}").returncode == 0
    check = run_command("check", tmp_path / "more.db", f"--baseline={kept_file}", "--format=github", cwd=tmp_path)
    line = 1 + more.splitlines().index("    floats((size_t)BATCH * 4096);")
    (annotation,) = check.stdout.splitlines()
    assert (check.returncode, annotation.split(",title")[0]) == (1, f"::error file=more/train.c,line={line}")


def test_two_moments_of_one_trace_are_compared(tmp_path):
    def fill(trace):
        with trace.phase("forward"):
            trace.alloc(3 * MIB, stack=trace.stack(("/me/run/train.py", 7, "forward")))
        with trace.phase("backward"):
            trace.alloc(5 * MIB, stack=trace.stack(("/me/run/train.py", 9, "step")))

    path = write(tmp_path / "trace.db", [(MIB, (1, "load"))], before_exit=fill)
    arguments = (path, "--at=phase:forward", "--at=phase:backward")
    assert rows(*arguments) == [("train.py:9 step", 5 * MIB)]
    assert [(p["phase"], p["delta_bytes"]) for p in diff(*arguments)["phases"]] == [("backward", 5 * MIB)]
    assert rows(path, "--at=phase:forward") == [("train.py:9 step", -5 * MIB)]


def test_a_device_that_is_used_no_more_is_named(base, tmp_path):
    trace = Trace(tmp_path / "two.db")
    trace.alloc(MIB, device=0)
    trace.alloc(3 * MIB, device=1)
    trace.exit()
    two = trace.write()
    gone = load_json("diff", two, base)["before"]["devices_gone"]
    assert gone == [{"device": 1, "peak_bytes": 3 * MIB}]
    assert "device 1 is no longer used; its peak was 3.00 MiB." in run_command("diff", two, base).stdout


# --- growth: more blocks, larger blocks, blocks freed later ---


def steps(path, frees_at="end", count=1, factor=1, moved=0, last=0):
    """Records three steps, each with a prediction and an update. frees_at says when the prediction is freed: after the
    update ("end"), after the next prediction ("next"), or never. A report of `last` bytes follows."""
    trace = Trace(path)
    made, held = [trace.stack(("/me/run/train.py", line + moved, name), ("/me/run/train.py", 90 + moved, "main"))
                  for line, name in ((20, "predict"), (30, "update"))], []  # fmt: skip
    for _ in range(3):
        new = [trace.alloc(factor * MIB, stack=made[0]) for _ in range(count)]
        if frees_at == "next":
            while held:
                trace.free(held.pop())
        trace.free(trace.alloc(MIB // 4, stack=made[1]))
        held += new
        while held and frees_at == "end":
            trace.free(held.pop())
    if last:
        trace.alloc(last, stack=trace.stack(("/me/run/train.py", 40, "report")))
    trace.exit()
    trace.write()
    return path


def how(tmp_path, **changed):
    before, after = steps(tmp_path / "before.db"), steps(tmp_path / "after.db", moved=7, **changed)
    page = load_json("diff", before, after)
    assert texts_of(page, "who").startswith("train.py:27 predict: it holds")
    again = json.loads(run_command("check", "--json", after, f"--baseline={before}").stdout)
    assert texts_of(again, "why") == texts_of(page, "why")
    assert again["next"] == f"gpumemtrace diff {before} {after}"
    return texts_of(page, "why")


LONGER = "It makes as many blocks as before, of the same size, and holds them longer"


def test_blocks_that_are_freed_later_are_told_by_the_lines_before(tmp_path):
    assert how(tmp_path, frees_at="next") == f"{LONGER}: freed after train.py:30 update before, after train.py:27 predict now."


def test_blocks_that_are_freed_no_more_are_told(tmp_path):
    assert how(tmp_path, frees_at="never") == f"{LONGER}: freed after train.py:30 update before, never now."


def test_more_blocks_are_counted(tmp_path):
    assert how(tmp_path, count=2) == "It makes 6 blocks where it made 3, of the same size."


def test_larger_blocks_are_told(tmp_path):
    assert how(tmp_path, factor=3) == "It makes as many blocks as before, each 3 times as large."


def test_how_it_grew_is_not_guessed(tmp_path):
    before, after = steps(tmp_path / "before.db"), steps(tmp_path / "after.db", count=2, factor=3)
    assert texts_of(load_json("diff", before, after), "why") == (
        "2 of its blocks (3.00 MiB on average) are live where 1 (1.00 MiB) was before.")  # fmt: skip
    kept = tmp_path / "kept.json"
    assert run_command("check", before, f"--write-baseline={kept}").returncode == 0
    later = steps(tmp_path / "later.db", frees_at="never")
    answer = json.loads(run_command("check", "--json", later, f"--baseline={kept}").stdout)
    assert texts_of(answer, "why") == "3 of its blocks (1.00 MiB on average) are live where 1 (1.00 MiB) was before." and answer["next"] == f"gpumemtrace peak {later}"


def test_a_fall_is_told_by_the_line_that_shrank(tmp_path):
    before, after = steps(tmp_path / "before.db", count=2, factor=3), steps(tmp_path / "after.db")
    page = load_json("diff", before, after)
    assert texts_of(page, "why") == "1 of its blocks (1.00 MiB on average) is live where 2 (3.00 MiB) were before."
    assert texts_of(page, "who") == "train.py:20 predict: it holds 5.00 MiB less." and not texts_of(page, "do")


# --- what undoes the growth ---


def test_blocks_that_are_held_longer_are_to_be_freed_where_they_were(tmp_path):
    before = steps(tmp_path / "before.db")
    for frees_at in ("next", "never"):
        page = load_json("diff", before, steps(tmp_path / f"{frees_at}.db", frees_at=frees_at))
        assert texts_of(page, "do") == "Free its blocks after train.py:30 update again: the earlier run did, and peaked at 1.25 MiB."
    assert not texts_of(load_json("diff", before, steps(tmp_path / "more.db", count=2)), "do")
    assert not texts_of(load_json("diff", before, steps(tmp_path / "too.db", frees_at="never", last=MIB)), "do")


def test_larger_data_is_named_with_the_peak_that_it_had(tmp_path):
    before = steps_of_a_model(tmp_path / "before.db", [40 * MIB], [MIB, 8 * MIB], batch=1024)
    after = steps_of_a_model(tmp_path / "after.db", [40 * MIB], [2 * MIB, 16 * MIB], batch=2048)
    page = load_json("diff", before, after)
    assert texts_of(page, "do") == "Make the data of train.py:20 load as small as before: the earlier run peaked at 50.00 MiB."


def blocks(path, *callers):
    """A run whose forward calls a block twice through these frames, and whose backward frees what they made."""
    trace = Trace(path)
    stack = trace.stack(("/me/run/train.py", 20, "block"), *callers, ("/me/run/train.py", 30, "main"))
    with trace.phase("forward"):
        made = [trace.alloc(len(callers) * MIB, stack=stack) for _ in range(2)]
    with trace.phase("backward"):
        for block in made:
            trace.free(block)
    trace.exit()
    trace.write()
    return path


def test_a_checkpoint_that_is_gone_is_named_and_one_that_is_there_is_not(tmp_path):
    checkpoint = ("/x/torch/utils/checkpoint.py", 481, "checkpoint")
    wrapped, bare = blocks(tmp_path / "wrapped.db", checkpoint), blocks(tmp_path / "bare.db", ("/x/a.py", 1, "a"), ("/x/a.py", 2, "b"))
    both = blocks(tmp_path / "both.db", checkpoint, ("/x/a.py", 2, "b"))
    again = "again: the earlier run did, and peaked at 2.00 MiB."
    told = texts_of(load_json("diff", wrapped, bare), "do")
    assert told.startswith("Checkpoint the calls of train.py:") and told.endswith(again)
    assert not texts_of(load_json("diff", wrapped, both), "do")


def test_one_trace_without_a_moment_is_refused(base):
    completed = run_command("diff", base)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "give a second TRACE, or --at=WHEN twice" in completed.stderr


def test_csv_has_the_table_that_was_asked_for(base, tmp_path):
    now = write(tmp_path / "now.db", [(8 * MIB, (10, "forward"), MAIN), (4 * MIB + 1024, (12, "forward"), MAIN)])
    for by, column in (("site", "site"), ("category", "category"), ("phase", "phase"), ("layer", "layer")):
        text = run_command("diff", base, now, f"--by={by}", "--format=csv").stdout
        table = list(csv.DictReader(io.StringIO(text)))
        assert table and column in table[0]
        if by != "layer":
            assert sum(int(row["delta_bytes"]) for row in table) == 1024 - 2 * MIB


def test_the_rows_of_any_two_made_up_traces_add_up_to_the_change_of_the_peak(tmp_path):
    paths = []
    for name, (fill, meta) in MADE.items():
        trace = Trace(tmp_path / f"{name}.db", **meta)
        fill(trace)
        paths.append(trace.write())
    for before, after in itertools.chain(itertools.pairwise(paths), itertools.pairwise(reversed(paths))):
        peaks = [{d["device"]: d for d in load_json("peak", path)["devices"]} for path in (before, after)]
        for device in load_json("diff", before, after)["devices"]:
            moment = peaks[1][device["device"]]["moments"][0]
            assert device["after_bytes"] == moment["live_bytes"]
            for key in ("sites", "categories", "phases"):
                assert sum(row["delta_bytes"] for row in device[key]) == device["delta_bytes"], json.dumps(device[key])
