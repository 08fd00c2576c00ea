#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do two builds of the command say the same of the same traces?

    outputs.py store COMMAND TRACES FOLDER      keeps what COMMAND prints of every trace below TRACES
    outputs.py compare COMMAND TRACES FOLDER    asks COMMAND the stored questions and lists what differs

Compared are exit code, stderr and stdout of each question: JSON, CSV and JUnit byte by byte; of text
only the numbers and their order (--text: byte by byte). Asked are ANSWERS, moments that the trace has
(questions_of), and a few about two traces: the second is the trace before it in order of names.
Traces are copied first, because a reading folds in what a killed process left. Exit 1 when something differs.

A set of traces comes from the suite itself: PYTEST_ADDOPTS=--basetemp=TRACES make check.
"""
import argparse
import ast
import concurrent.futures
import difflib
import glob
import hashlib
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

MODEL = pathlib.Path(__file__).resolve().parents[2] / "samples" / "train.json"
ANSWERS = [
    f"{question} --format={form}"
    for question in (
        "report", "peak", "peak --at=end", "timeline", "frag", "frag --segments", "phases", "leaks", "oom", "info",
        "check --max-peak=1MiB --max-leak=1KiB --max-growth-per-step=1KiB",
    )  # fmt: skip
    for form in ("json", "csv", "text", "junit")
    if form != "junit" or question.startswith("check")
]
MORE = (
    "frag --samples=3 --json", "frag --samples=100 --format=csv", "timeline --samples=7 --json",
    "timeline --samples=5000 --format=csv", "report --layer=driver --json", "report --layer=pool --json",
    "peak --device=1 --json", "peak --top=2 --native=full", "leaks --layer=driver --top=1",
    "phases --layer=pool --format=csv", "frag --layer=driver --json",
    "check --max-peak=1KiB --max-leak=0 --allow-incomplete --json", "compare model.json --json",
    "compare model.json", "report other.db --json", "report other.db", "peak other.db --format=csv",
    "timeline other.db --json", "frag other.db --at=end --json", "phases other.db", "leaks other.db --json",
    "oom other.db --json", "info other.db --json", "check --baseline=other.db --allow-incomplete",
    "check --baseline=other.db --tolerance=50% --allow-incomplete --json",
)  # fmt: skip
AT_MOMENT = ("peak --json", "frag --segments --json", "frag")
NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def moments_of(copy):
    """Returns values of --at for this trace: within it, at its edges, in its phases, at its failures, and beyond."""
    query = sqlite3.connect(f"file:{copy}?mode=ro", uri=True).execute
    try:
        rows = query("SELECT seq, time_ns FROM event ORDER BY seq").fetchall()
        kinds = {name: kind for kind, name in query("SELECT kind, name FROM event_kind")}
        pushed = "SELECT text FROM event JOIN string ON string_id = object WHERE kind = ? GROUP BY 1 ORDER BY min(seq)"
        names = query(pushed, (kinds["phase-push"],)).fetchall()
        failures = query("SELECT count(*) FROM event WHERE kind = ? AND result <> 0", (kinds["alloc"],)).fetchone()[0]
    except (sqlite3.Error, KeyError):
        return []
    found = ["1", "oom:1", "phase:nobody"]
    if rows:
        found += [str(rows[i * (len(rows) - 1) // 4][0]) for i in (1, 2, 3)] + [f"{rows[len(rows) // 2][1]}ns"]
    found += [f"phase:{text}" for (text,) in {*names[:2], *names[-1:]} if re.fullmatch(r"[\w/.:-]+", text)]
    return found + ([f"oom:{failures}"] if failures > 1 else [])


def questions_of(copy):
    return [*ANSWERS, *MORE, *(f"{ask} --at={at}" for at in sorted(moments_of(copy)) for ask in AT_MOMENT)]


def copy_trace(trace, copy):
    """Copies a trace with the files beside it: the rings of a killed process, a journal."""
    for path in glob.glob(f"{glob.escape(str(trace))}*"):
        suffix = path[len(str(trace)) :]
        if re.fullmatch(r"|-wal|-ring\.\d+", suffix) and os.path.isfile(path):
            shutil.copyfile(path, f"{copy}{suffix}")


def answers_of(command, trace, other, questions=None):
    """Returns {question: printed bytes} of one trace, which is read in a folder of its own."""
    found = {}
    with tempfile.TemporaryDirectory(dir=os.environ.get("OUTPUTS_TMP")) as folder:
        copy_trace(trace, f"{folder}/trace.db")
        copy_trace(other, f"{folder}/other.db")
        shutil.copyfile(MODEL, f"{folder}/model.json")

        def ask(question):
            name, *arguments = question.split()
            completed = subprocess.run(
                [command, name, "trace.db", *arguments],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, close_fds=False,
            )  # fmt: skip
            found[question] = b"exit %d\n" % completed.returncode + completed.stderr + completed.stdout

        ask("info --format=json")  # folds the rings: from here on the moments of the trace can be read
        for question in questions or questions_of(f"{folder}/trace.db"):
            if question not in found:
                ask(question)
    return found


def name_of(root, trace):
    return hashlib.sha1(str(trace.relative_to(root)).encode()).hexdigest()[:16]


def unlike(question, old, new, whole_text):
    formatted = "--json" in question or "--format=" in question and not question.endswith("text")
    if not formatted and not whole_text:
        return NUMBER.findall(old) != NUMBER.findall(new)
    return old != new


def compare(trace, old, new, options):
    """Prints the first difference of each answer that differs; returns the number of such answers."""
    differing = [name for name in old if unlike(name, old[name], new.get(name, b""), options.text)]
    for name in differing:
        print(f"{trace}: {name}")
        lines = difflib.unified_diff(
            *(text.decode(errors="replace").splitlines() for text in (old[name], new[name])), lineterm="", n=1
        )
        print("\n".join(f"    {line}" for line in list(lines)[2:14]), flush=True)
    return len(differing)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("verb", choices=("store", "compare"))
    parser.add_argument("command", type=pathlib.Path)
    parser.add_argument("traces", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--text", action="store_true", help="compare text byte by byte")
    parser.add_argument("--every", type=int, default=1, help="only every Nth trace")
    parser.add_argument("--only", default="", help="only traces whose name contains this")
    parser.add_argument("--ask", default="", help="compare only questions that match this regular expression")
    options = parser.parse_args()
    command = options.command.resolve()
    traces = sorted(path for path in options.traces.rglob("*.db") if path.is_file() and path.stat().st_size < 8 << 20)
    chosen = [i for i in range(0, len(traces), options.every) if options.only in str(traces[i])]
    options.folder.mkdir(parents=True, exist_ok=True)

    def answer(index):
        trace = traces[index]
        kept = options.folder / name_of(options.traces, trace)
        if options.verb == "store":
            new = answers_of(command, trace, traces[index - 1])
            kept.write_bytes(repr(new).encode())
            return trace, {}, new
        old = ast.literal_eval(kept.read_text())
        old = {question: printed for question, printed in old.items() if re.search(options.ask, question)}
        return trace, old, answers_of(command, trace, traces[index - 1], list(old)) if old else {}

    asked = differences = unequal = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for trace, old, new in pool.map(answer, chosen):
            differing = compare(trace, old, new, options)
            asked += len(old or new)
            differences += differing
            unequal += differing > 0
    print(f"{len(chosen)} traces, {asked} answers, {differences} differ, in {unequal} traces")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
