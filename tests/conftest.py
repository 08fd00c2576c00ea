# SPDX-License-Identifier: MIT
"""What every test shares: where the build is, how to run the command, how to record a program.

Unit tests (cmocka executables in build/tests/unit) are collected here as well, one item for each
C test function, so that one runner counts everything. The last line printed is
"N passed, N failed, N skipped".
"""
import json
import os
import pathlib
import re
import shlex
import signal
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(os.environ.get("GPUMEMTRACE_BUILD", ROOT / "build")).resolve()
# How many times longer everything takes, where an emulator runs the programs.
SLOWER = int(os.environ.get("GPUMEMTRACE_SLOWER", "1"))
# For tests that are not about stacks, which an emulator is slowest at: a new frame costs 100 ms.
NO_STACKS_IF_SLOW = {"GPUMEMTRACE_STACKS": "none"} if SLOWER > 1 else {}
TIMEOUT_S = 300


# A sanitizer's library, in a sanitized build: it goes before ours in every process.
PRELOAD_FIRST = os.environ.get("GPUMEMTRACE_PRELOAD_FIRST", "")


def clean_environment(**extra):
    """The caller's environment without settings of ours or preloads, plus `extra`."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith("GPUMEMTRACE_") and key not in ("LD_PRELOAD", "NVTX_INJECTION64_PATH")
    }
    environment = {**kept, **{key: str(value) for key, value in extra.items()}}
    preloads = [PRELOAD_FIRST, environment.get("LD_PRELOAD", "")]
    if any(preloads):
        environment["LD_PRELOAD"] = ":".join(library for library in preloads if library)
    return environment


def simulator_environment(spec="16GiB", fault=None, **extra):
    """An environment in which CUDA programs find the simulated driver and runtimes first."""
    environment = clean_environment(GPUMEMTRACE_SIM=spec, **extra)
    folders = [str(BUILD / "simulator"), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
    if fault:
        environment["GPUMEMTRACE_SIM_FAULT"] = fault
    return environment


class Recording:
    """A finished run under the recorder: its result and, if it made one, its trace."""

    def __init__(self, completed, trace):
        self.completed = completed
        self.trace = trace

    def report(self, *options):
        return load_json("report", self.trace, *options)

    def rows(self, query, *values):
        import sqlite3

        with sqlite3.connect(f"file:{self.trace}?mode=ro", uri=True) as database:
            return database.execute(query, values).fetchall()


def run_command(*arguments, env=None, **options):
    return subprocess.run(
        [str(BUILD / "gpumemtrace"), *map(str, arguments)],
        env=env or clean_environment(),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        **options,
    )


def compile_library(path, source, *options):
    """A shared library made from C text; returns its path."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    command = [*compiler, "-O1", "-shared", "-fPIC", "-x", "c", "-", "-x", "none", "-o", path]
    subprocess.run(
        [str(word) for word in (*command, *options)],
        input=source, text=True, check=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    return path


def load_json(*arguments):
    completed = run_command(*arguments, "--json")
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)


@pytest.fixture
def build():
    return BUILD


@pytest.fixture
def gpumemtrace():
    """gpumemtrace("peak", trace) runs the command and returns the CompletedProcess."""
    return run_command


@pytest.fixture
def program():
    """program("random_allocations") is the path of tests/programs/random_allocations.c, built."""
    return lambda name: BUILD / "tests" / name


@pytest.fixture
def sample():
    return lambda name: BUILD / "samples" / name


@pytest.fixture
def sim_env():
    return simulator_environment


@pytest.fixture
def record(tmp_path):
    """record(program, *arguments) runs it with LD_PRELOAD on the simulator: a Recording. `preload` is
    a library to be loaded behind ours."""

    def run(
        path,
        *arguments,
        spec="16GiB",
        fault=None,
        check=True,
        name="trace.db",
        preload="",
        **settings,
    ):
        trace = tmp_path / name
        environment = simulator_environment(
            spec,
            fault,
            LD_PRELOAD=f"{BUILD / 'libgpumemtrace.so'}:{preload}".rstrip(":"),
            GPUMEMTRACE_OUTPUT=trace,
            **settings,
        )
        completed = subprocess.run(
            [str(path), *map(str, arguments)],
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=tmp_path,
        )
        if check:
            assert completed.returncode == 0, completed.stdout + completed.stderr
        return Recording(completed, trace)

    return run


# --- cmocka executables as test items --------------------------------------------------------------


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".c" and file_path.parent == ROOT / "tests" / "unit":
        return UnitFile.from_parent(parent, path=file_path)
    return None


class UnitFile(pytest.File):
    """One C file of unit tests; its functions `static void name(void **state)` are the items. One that
    main() forgets to list is an item without a result, and so a failure."""

    def collect(self):
        source = self.path.read_text(encoding="utf-8")
        names = re.findall(r"^static void (\w+)\(void \*\*\w+\)", source, re.MULTILINE)
        for name in dict.fromkeys(names):
            yield UnitItem.from_parent(self, name=name)

    def results(self):
        """Runs the executable once; {test name: (ok | not ok | skip, what it said)}."""
        if not hasattr(self, "_results"):
            executable = BUILD / "tests" / "unit" / self.path.stem
            completed = subprocess.run(
                [str(executable)],
                env=clean_environment(CMOCKA_MESSAGE_OUTPUT="TAP"),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
            )
            self._said = completed.stdout + completed.stderr
            self._results = {}
            for line in completed.stdout.splitlines():
                match = re.match(r"(not ok|ok) \d+ (?:-|# SKIP) (\w+)", line)
                if match:
                    state = "skip" if "# SKIP" in line else match.group(1)
                    self._results[match.group(2)] = state
        return self._results, self._said


class UnitItem(pytest.Item):
    def runtest(self):
        results, said = self.parent.results()
        state = results.get(self.name, "no result")
        if state == "skip":
            pytest.skip(said)
        if state != "ok":
            raise UnitFailure(f"{self.parent.path.stem}.{self.name}: {state}\n{said}")

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, UnitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, None, f"{self.parent.path.stem}: {self.name}"


class UnitFailure(Exception):
    pass


# --- the last line ---------------------------------------------------------------------------------


def give_programs_their_signals():
    """Whoever starts the tests in the background, or under nohup, has these ignored, and so would every
    program that a test sends one to. A handler that does nothing is ignored here and gone after exec."""
    for name in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(name) == signal.SIG_IGN:
            signal.signal(name, lambda *_: None)


def pytest_configure(config):
    give_programs_their_signals()
    config._counts = {}


def pytest_terminal_summary(terminalreporter, config):
    stats = terminalreporter.stats
    for report in stats.get("skipped", []):
        terminalreporter.write_line(f"SKIPPED {report.nodeid}: {report.longrepr[2]}")
    failed = len(stats.get("failed", [])) + len(stats.get("error", []))
    config._counts = {
        "passed": len(stats.get("passed", [])),
        "failed": failed,
        "skipped": len(stats.get("skipped", [])),
    }


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config):
    if config._counts:
        print(", ".join(f"{count} {word}" for word, count in config._counts.items()))
