# SPDX-License-Identifier: MIT
"""Reads stacks out of a trace by hand, as TRACE-FORMAT.md documents them, and runs the programs of
this folder under any interpreter."""
import json
import os
import pathlib
import sqlite3
import subprocess

import conftest

PROGRAMS = pathlib.Path(__file__).resolve().parent / "programs"
NATIVE, PYTHON, LABEL = 0, 1, 2
ALLOC = 1


class Stacks:
    """stacks[address] is the stack of the block there, innermost first: tuples (NATIVE, module,
    offset), (PYTHON, file, function, line), (LABEL, text)."""

    def __init__(self, trace):
        database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
        # A file name may hold bytes that are no UTF-8.
        database.text_factory = lambda text: text.decode("utf-8", "surrogateescape")
        self._strings = dict(database.execute("SELECT string_id, text FROM string"))
        self._locations = {
            row[0]: (PYTHON, self._strings[row[2]], self._strings[row[1]], row[3])
            for row in database.execute("SELECT * FROM location")
        }
        self._modules = database.execute(
            "SELECT start_address, end_address, load_address, path FROM module ORDER BY module_id DESC"
        ).fetchall()
        self._frames = {row[0]: row[1:] for row in database.execute("SELECT * FROM frame")}
        self._of_address = dict(
            database.execute("SELECT address, stack_id FROM event WHERE kind = ?", (ALLOC,))
        )
        self._known = {}
        self.threads = dict(
            database.execute("SELECT address, thread_id FROM event WHERE kind = ?", (ALLOC,))
        )
        database.close()

    def _read(self, kind, address):
        if kind == PYTHON:
            return self._locations[address]
        if kind == LABEL:
            return (LABEL, self._strings[address])
        for start, end, load, path in self._modules:
            if start <= address - 1 < end:
                return (NATIVE, path, address - load)
        return (NATIVE, "", address)

    def _path(self, frame_id):
        if frame_id not in self._known:
            parent, kind, address = self._frames[frame_id]
            outer = self._path(parent) if parent else []
            self._known[frame_id] = [self._read(kind, address), *outer]
        return self._known[frame_id]

    def __getitem__(self, address):
        frame_id = self._of_address[address]
        return self._path(frame_id) if frame_id else []

    def __iter__(self):
        return iter(self._of_address)

    def python(self, address):
        """Its Python frames as [file, function, line]."""
        return [list(frame[1:]) for frame in self[address] if frame[0] == PYTHON]


def run_python(interpreter, program, *arguments, folder, check=True, environment=None, **settings):
    """Runs a program of this folder, recorded on the simulator: (CompletedProcess, Stacks or None).
    interpreter: the words that start Python."""
    trace = folder / "trace.db"
    variables = conftest.simulator_environment(
        "16GiB",
        LD_PRELOAD=conftest.BUILD / "libgpumemtrace.so",
        GPUMEMTRACE_OUTPUT=trace,
        PYTHONDONTWRITEBYTECODE=1,
        **settings,
    )
    variables.update(environment or {})
    completed = subprocess.run(
        [*map(str, interpreter), str(PROGRAMS / program), *map(str, arguments)],
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=conftest.TIMEOUT_S,
        cwd=folder,
    )
    if check:
        assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed, Stacks(trace) if trace.exists() else None


def compare_with_traceback(interpreter, rounds, folder, **options):
    """Runs every_shape.py; (how many stacks were compared, those that differ as [expected, read])."""
    output = folder / "expected.jsonl"
    _, stacks = run_python(
        interpreter, "every_shape.py", "libcudart.so.13", rounds, output, folder=folder, **options
    )
    differing, count = [], 0
    with open(output, encoding="utf-8") as lines:
        for line in lines:
            address, expected = json.loads(line)
            count += 1
            if stacks.python(address) != expected:
                differing.append([expected, stacks.python(address)])
    os.unlink(output)
    return count, differing
