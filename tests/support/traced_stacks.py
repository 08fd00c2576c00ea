# SPDX-License-Identifier: MIT
"""Reads stacks from a trace without the analyzer, as TRACE-FORMAT.md documents them. Also runs the programs of
tests/python/programs under any interpreter."""
import json
import re
import sqlite3
import subprocess

from support.run import LIBRARY, ROOT, TIMEOUT_S, simulator_environment

PROGRAMS = ROOT / "tests/python/programs"
NATIVE, PYTHON, LABEL = 0, 1, 2
ALLOC = 1


class Stacks:
    """The stacks of a trace. stacks[address] is the stack of the block at that address: a list of frames, innermost
    first. A frame is (NATIVE, module, offset), (PYTHON, file, function, line) or (LABEL, text)."""

    def __init__(self, trace):
        database = sqlite3.connect(f"file:{trace}?mode=ro", uri=True)
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
        """Returns the Python frames of the stack of the block at this address, as [file, function, line]."""
        return [list(frame[1:]) for frame in self[address] if frame[0] == PYTHON]


class Run:
    """A recorded run of a program of tests/python/programs. It has .completed, .trace, .stacks (None if the run left no
    trace) and .expected, which is None or [address, [[file, function, line], …]] for each allocation."""

    def __init__(self, interpreter, program, *arguments, folder, check=True, before=(), **settings):
        self.folder, self.trace = folder, folder / "trace.db"
        expected = folder / "expected.jsonl"
        environment = simulator_environment(
            "16GiB",
            LD_PRELOAD=LIBRARY,
            GPUMEMTRACE_OUTPUT=self.trace,
            PYTHONDONTWRITEBYTECODE=1,
            PYTHONWARNINGS="ignore",
            **settings,
        )
        words = [*interpreter.command, PROGRAMS / program, *(before or ("libcudart.so.13", expected))]
        self.completed = subprocess.run(
            [str(word) for word in (*words, *arguments)],
            env={**environment, **interpreter.environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=folder,
        )
        if check:
            assert self.completed.returncode == 0, self.completed.stdout + self.completed.stderr
        self.stacks = Stacks(self.trace) if self.trace.exists() else None
        self.expected = read_lines(expected) if expected.exists() else None

    def printed(self):
        """Returns {NAME: NUMBER} for all lines "NAME NUMBER" that the program printed."""
        lines = (line.split() for line in self.completed.stdout.splitlines())
        return {words[0]: int(words[1]) for words in lines if len(words) == 2}

    def differing(self):
        """Returns [address, expected frames, recorded frames] for each allocation whose recorded Python frames differ
        from the expected ones."""
        read = ((address, stack, self.stacks.python(address)) for address, stack in self.expected)
        return [[address, stack, other] for address, stack, other in read if stack != other]


def escaped(value):
    """Returns text as a trace stores it: each byte that is not UTF-8, which Python reads as a lone surrogate, becomes \\xNN."""
    if isinstance(value, str):
        return re.sub("[\udc80-\udcff]", lambda half: f"\\x{ord(half[0]) - 0xdc00:02x}", value)
    return [escaped(each) for each in value] if isinstance(value, list) else value


def read_lines(path):
    with open(path, encoding="utf-8") as lines:
        return [escaped(json.loads(line)) for line in lines]
