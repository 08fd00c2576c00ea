# SPDX-License-Identifier: MIT
"""Tests the export in the format of Massif, which Valgrind's ms_print reads."""
import re
import shutil
import subprocess

import pytest

from support.run import TIMEOUT_S, load_json, run_command
from support.tracefile import MIB, Trace


def printed(path):
    tool = shutil.which("ms_print")
    if not tool:
        pytest.skip("ms_print is not there (Debian: valgrind)")
    return subprocess.run([tool, "--threshold=0", path], capture_output=True, text=True, check=True, timeout=TIMEOUT_S, cwd=path.parent).stdout


def rows(text):
    """Returns [(number, time in ms, total bytes)] of the snapshots."""
    found = re.findall(r"^ +(\d+) +([\d,.]+) +([\d,]+) +([\d,]+) +0 +0$", text, re.M)
    assert all(total == heap for _, _, total, heap in found)
    return [(int(number), float(time.replace(",", "")), int(total.replace(",", ""))) for number, time, total, _ in found]


def test_the_highest_snapshot_is_the_peak_and_the_last_what_was_left(made_trace, export):
    text = printed(export("massif", made_trace, "--device=0"))
    snapshots = rows(text)
    assert [number for number, _, _ in snapshots] == list(range(len(snapshots)))
    assert [time for _, time, _ in snapshots] == sorted(time for _, time, _ in snapshots)
    assert max(total for _, _, total in snapshots) == 90 * MIB and snapshots[-1][2] == 70 * MIB
    peak = int(re.search(r"\[(\d+) \(peak\)\]", text)[1])
    assert snapshots[peak][2] == load_json("peak", made_trace)["devices"][0]["moments"][0]["live_bytes"]
    assert f"100.00% ({90 * MIB:,}B) (GPU memory that was live) device 0 (pytorch pool)" in text


def test_the_tree_leads_from_the_allocation_outwards(made_trace, export):
    text = printed(export("massif", made_trace, "--device=0", "--at=end"))
    assert re.search(r"Detailed snapshots: \[\d+\]", text)
    leaves = re.findall(r"^ +[|> -]*->([\d.]+)% \(([\d,]+)B\) 0x\w+: .*\(evil.py:\d+\)$", text, re.M)
    assert [int(size.replace(",", "")) for _, size in leaves] == [10 * MIB] * 7
    assert text.count("layer2 (model.py:12)") == 7
    assert re.search(rf"^->100.00% \({70 * MIB:,}B\) 0x\w+: malloc$", text, re.M)


def test_what_is_small_is_one_line(tmp_path, export):
    trace = Trace(tmp_path / "small.db")
    for number in range(50):
        trace.alloc(10, stack=trace.stack(("small.py", number, "small")))
    trace.alloc(1 << 20, stack=trace.stack(("large.py", 1, "large")))
    trace.write()
    text = printed(export("massif", trace.path))
    assert "(500B) in 50 places, all below massif's threshold (1.00%)" in text and "small.py" not in text


def test_names_are_no_comments_and_no_other_lines(tmp_path, export):
    trace = Trace(tmp_path / "names.db")
    trace.meta["command"] = "train #1\nsnapshot=7\x1b"
    trace.alloc(10, stack=trace.stack("operator()#1\nsnapshot=9", "outer"))
    trace.write()
    text = printed(export("massif", trace.path))
    assert "Command:            train @1?snapshot=7?" in text and "0x1: operator()@1?snapshot=9" in text and "outer" in text


def test_a_run_without_memory_is_a_file_too(tmp_path, export):
    trace = Trace(tmp_path / "idle.db")
    trace.write()
    assert rows(printed(export("massif", trace.path))) == [(0, 0.0, 0)]


def test_a_file_is_of_one_device(made_trace):
    completed = run_command("export", "--to=massif", made_trace)
    assert (completed.returncode, completed.stdout) == (2, "")
    assert completed.stderr == "gpumemtrace: export: a file of Massif has one device, and 2 have memory: say --device=0\n"
