# SPDX-License-Identifier: MIT
"""What changed between two moments: which lines are the same, which one is to blame, and that all adds up."""
import csv
import io
import itertools
import json
import subprocess

import pytest

from support.made_traces import MADE
from support.run import BUILD, ROOT, load_json, run_command
from support.tracefile import MIB, Trace


def write(path, blocks, folder="/me/run", before_exit=None):
    """blocks: (size, (line, function), …) from the allocation outwards; all in train.py."""
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


def test_a_sample_that_holds_more_gets_one_annotation_on_the_line(tmp_path):
    source = (ROOT / "samples/train.c").read_text()
    kept = "    classes = tensor_new(BATCH * sizeof(int64_t));\n"
    more = source.replace(kept, f"{kept}    floats((size_t)BATCH * 4096);\n").replace("static void load", "/* More. */\n\nstatic void load")
    for name, text in (("base", source), ("more", more)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "train.c").write_text(text)
        subprocess.run(["cc", "-D_GNU_SOURCE", "-Iinclude", "-I.", "-Isamples", "-g", "-pthread", "-o", folder / "train",
                        folder / "train.c", BUILD / "simulator/libcudart.so.12", "-lm"], cwd=ROOT, check=True, timeout=60)  # fmt: skip
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
    assert "device 1 is used no more: it had a peak of 3.00 MiB." in run_command("diff", two, base).stdout


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
