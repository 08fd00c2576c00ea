# SPDX-License-Identifier: MIT
"""The build folder, and functions that run programs of it: the command, a program on the simulator, a program under the
recorder. This file does not use pytest, so that scripts outside of pytest can import it."""
import json
import os
import pathlib
import shlex
import socket
import sqlite3
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("GPUMEMTRACE_BUILD", ROOT / "build")).resolve()
LIBRARY = BUILD / "libgpumemtrace.so"

# Factor by which programs run slower on an emulator.
SLOWER = int(os.environ.get("GPUMEMTRACE_SLOWER", "1"))
# The only time limit of the tests: ten times the time that the longest test program takes on a quiet machine. A test
# that waits for this long reports that the program hangs. No test may give up sooner.
TIMEOUT_S = 1200 * SLOWER
# Settings for tests that do not check stacks. On an emulator they turn stacks off, because each new frame takes too
# long there.
NO_STACKS_IF_SLOW = {"GPUMEMTRACE_STACKS": "none"} if SLOWER > 1 else {}

# The sanitizer's library in a sanitized build. Every process must load it before libgpumemtrace.so.
PRELOAD_FIRST = os.environ.get("GPUMEMTRACE_PRELOAD_FIRST", "")


def clean_environment(**extra):
    """Returns the caller's environment without preloads and settings of gpumemtrace, plus `extra`."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GPUMEMTRACE_") and key not in ("LD_PRELOAD", "NVTX_INJECTION64_PATH", "COLUMNS", "NO_COLOR")
    }
    environment = {**kept, **{key: str(value) for key, value in extra.items()}}
    preloads = [PRELOAD_FIRST, environment.get("LD_PRELOAD", "")]
    if any(preloads):
        environment["LD_PRELOAD"] = ":".join(library for library in preloads if library)
    return environment


def simulator_environment(spec="16GiB", fault=None, **extra):
    """Returns an environment in which CUDA programs load the simulated driver and runtimes."""
    environment = clean_environment(GPUMEMTRACE_SIM=spec, **extra)
    folders = [str(BUILD / "simulator"), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    if fault:
        environment["GPUMEMTRACE_SIM_FAULT"] = fault
    return environment


def run_command(*arguments, env=None, before=(), **options):
    """Runs gpumemtrace with these arguments and returns the CompletedProcess. The words in `before` are put before the
    command. input=TEXT is the command's standard input."""
    if "input" not in options:
        options["stdin"] = subprocess.DEVNULL
    return subprocess.run(
        [*before, str(BUILD / "gpumemtrace"), *map(str, arguments)],
        env=env or clean_environment(),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )


def load_json(*arguments, **options):
    completed = run_command(*arguments, "--json", **options)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


def texts_of(page, role):
    """Returns the sentences of the page that have this role, in the verdict and below it, as one text."""
    return " ".join(sentence["text"] for sentence in (*page["verdict"], *page["more"]) if sentence["role"] == role)


def sentences_of(page):
    """Returns the sentences of the page, first those of the verdict, then those below it."""
    return [*page["answer"], *(sentence["text"] for sentence in page["more"])]


def wait_for(look, is_there=bool, what="it"):
    """Returns the first result of look() for which is_there(result) is true. The test fails if there is none within
    TIMEOUT_S; `what` names the thing that is missing then."""
    until = time.monotonic() + TIMEOUT_S
    while not is_there(seen := look()):
        assert time.monotonic() < until, f"{what} did not come; the last was:\n{seen}"
        time.sleep(0.02)
    return seen


HELD = []


def own_ports(count):
    """Returns `count` free ports, which are reserved until this process ends. A socket is bound to each port, so that
    the kernel gives the port to no other process. The socket does not listen and sets SO_REUSEADDR. A server that also
    sets SO_REUSEADDR can therefore use the port, any number of times. ClickHouse, chromedriver and PyTorch's store set
    it."""
    sockets = [socket.socket() for _ in range(count)]
    for held in sockets:
        held.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        held.bind(("", 0))
    HELD.extend(sockets)
    return [held.getsockname()[1] for held in sockets]


def compile_library(path, source, *options):
    """Compiles the C text `source` to the shared library `path` and returns this path."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-O1", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path]
    subprocess.run(
        [str(word) for word in (*command, *options)],
        input=source, text=True, check=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    return path


class Recording:
    """A run of a program under the recorder: its CompletedProcess, and the path of its trace if it made one."""

    def __init__(self, completed, trace):
        self.completed = completed
        self.trace = trace

    def report(self, *options):
        return load_json("report", self.trace, *options)

    def rows(self, query, *values):
        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as database:
            return database.execute(query, values).fetchall()
