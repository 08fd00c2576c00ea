# SPDX-License-Identifier: MIT
"""`check` of a job. If a rank has the same sums and recorded peaks as another rank, it gets the answer for that rank
without a replay."""
import json
import sqlite3
import xml.etree.ElementTree as ET

import pytest

from support.run import run_command
from support.tracefile import MIB, Trace


@pytest.fixture
def rank(tmp_path):
    """Returns rank(number, bytes), which writes a trace with recorded sums and peaks. With `held`, the real size of the
    block differs from these recorded figures."""

    def write(number, size, held=None, refused=0, peaks=True):
        trace = Trace(tmp_path / f"rank{number}.db", rank=number)
        trace.device(0, uuid=f"GPU-{number}", name="H100", total_bytes=80 << 30)
        trace.alloc(held or size, stack=trace.stack(("/job/train.py", 12, "forward"), ("/job/train.py", 9, "main")))
        trace.write()
        with sqlite3.connect(trace.path) as database:
            database.execute("INSERT INTO meta VALUES ('allocation_sums', ?)", (f"1 {size} {size} {refused}",))
            if peaks:
                database.execute("INSERT INTO meta VALUES ('peaks', ?)", (f"0 0 {size} {size}",))
        return trace.path

    return write


def check(*arguments):
    completed = run_command("check", *arguments, "--json")
    document = json.loads(completed.stdout)
    return completed.returncode, document["checks"], [page["trace"]["rank"] for page in document["traces"]]


@pytest.mark.parametrize("limit", ["--max-peak=1GiB", "--max-peak=8MiB"])
def test_twins_have_the_answers_of_a_replay_and_one_page(rank, tmp_path, limit):
    for number in range(4):
        rank(number, (12 if number == 2 else 10) * MIB)
    status, checks, pages = check(tmp_path, limit)
    assert pages == [0, 2] and len(checks) == 4
    assert (status, checks, [0, 1, 2, 3]) == check(tmp_path, limit, "--every-trace")


def test_a_broken_baseline_names_the_line_for_each_twin(rank, tmp_path):
    base = rank(9, 5 * MIB).rename(tmp_path / "base")
    paths = [rank(number, 10 * MIB) for number in range(3)]
    completed = run_command("check", *paths, f"--baseline={base}", "--format=junit")
    cases = ET.fromstring(completed.stdout).findall(".//testcase")
    assert completed.returncode == 1 and len(cases) == 3
    assert all("train.py:12 forward" in ET.tostring(case, encoding="unicode") for case in cases)
    _, checks, pages = check(*paths, f"--baseline={base}")
    assert pages == [0] and [(row["trace"], row["line"]) for row in checks] == [(str(path), 12) for path in paths]


def test_it_is_the_recorded_peak_that_makes_a_twin(rank, tmp_path):
    """The events of the second rank are read only if a limit needs more than the rank's peak."""
    rank(0, 10 * MIB)
    rank(1, 10 * MIB, held=30 * MIB)
    assert [row["measured_bytes"] for row in check(tmp_path, "--max-peak=1GiB")[1]] == [10 * MIB, 10 * MIB]
    for more in ("--every-trace", "--max-live-at-exit=1GiB", "--max-fragmentation=1"):
        status, checks, pages = check(tmp_path, "--max-peak=1GiB", more)
        assert pages == [0, 1] and status == 0
        assert [row["measured_bytes"] for row in checks if row["kind"] == "peak"] == [10 * MIB, 30 * MIB]


@pytest.mark.parametrize("ends", [{"refused": 1}, {"peaks": False}])
def test_a_rank_that_was_refused_memory_or_has_no_recorded_peak_is_no_twin(rank, tmp_path, ends):
    for number in range(2):
        rank(number, 10 * MIB, **ends)
    assert check(tmp_path, "--max-peak=1GiB")[2] == [0, 1]


def test_the_page_says_how_many_traces_have_one(rank, tmp_path):
    for number in range(3):
        rank(number, 10 * MIB)
    text = " ".join(run_command("check", tmp_path, "--max-peak=1GiB").stdout.split())
    assert "1 of them are shown; --every-trace shows all." in text
