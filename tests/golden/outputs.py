#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Do two builds of the command say the same of the same traces?

    outputs.py store COMMAND TRACES FOLDER      keeps what COMMAND prints of every trace below TRACES
    outputs.py compare COMMAND TRACES FOLDER    runs COMMAND on the same traces and lists what differs

Compared are exit code, stderr and stdout of each row of ANSWERS: JSON, CSV and JUnit byte by byte; of
text only the numbers and their order (--text: byte by byte). Traces are copied first, because
a reading folds in what a killed process left. Exit 1 when something differs.

A set of traces comes from the suite itself: PYTEST_ADDOPTS=--basetemp=TRACES make check.
"""
import argparse
import ast
import concurrent.futures
import difflib
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ANSWERS = [
    (command, *options, f"--format={form}")
    for command, *options in (
        ("report",), ("peak",), ("peak", "--at=end"), ("timeline",), ("frag",), ("frag", "--segments"),
        ("phases",), ("leaks",), ("oom",), ("info",),
        ("check", "--max-peak=1MiB", "--max-leak=1KiB", "--max-growth-per-step=1KiB"),
    )  # fmt: skip
    for form in ("json", "csv", "text", "junit")
    if form != "junit" or command == "check"
]
NUMBER = re.compile(rb"\d+(?:\.\d+)?")


def answers_of(command, trace):
    """{answer: printed bytes} of one trace, read in a folder of its own."""
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "trace.db"
        for suffix in ("", "-wal", "-ring.0"):
            if os.path.isfile(f"{trace}{suffix}"):
                shutil.copyfile(f"{trace}{suffix}", f"{copy}{suffix}")
        for answer in ANSWERS:
            completed = subprocess.run(
                [command, answer[0], "trace.db", *answer[1:]],
                cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=300,
            )  # fmt: skip
            code = b"exit %d\n" % completed.returncode
            found[" ".join(answer)] = code + completed.stderr + completed.stdout
    return found


def name_of(root, trace):
    return hashlib.sha1(str(trace.relative_to(root)).encode()).hexdigest()[:16]


def unlike(answer, old, new, whole_text):
    if answer.endswith("text") and not whole_text:
        return NUMBER.findall(old) != NUMBER.findall(new)
    return old != new


def compare(trace, old, new, options):
    """How many answers differ; the first difference of each is printed."""
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
    options = parser.parse_args()
    command = options.command.resolve()
    traces = sorted(path for path in options.traces.rglob("*.db") if path.is_file() and path.stat().st_size < 4 << 20)
    traces = traces[:: options.every]
    differences = 0
    options.folder.mkdir(parents=True, exist_ok=True)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for trace, new in zip(traces, pool.map(lambda trace: answers_of(command, trace), traces)):
            kept = options.folder / name_of(options.traces, trace)
            if options.verb == "store":
                kept.write_bytes(repr(new).encode())
            else:
                differences += compare(trace, ast.literal_eval(kept.read_text()), new, options)
    print(f"{len(traces)} traces, {len(traces) * len(ANSWERS)} answers, {differences} differ")
    return differences > 0


if __name__ == "__main__":
    sys.exit(main())
