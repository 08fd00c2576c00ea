# SPDX-License-Identifier: MIT
"""The fixtures that every test may use, and the last line of a run: "N passed, N failed, N skipped". Helpers that are
not fixtures are in support/."""
import signal
import subprocess

import pytest

from support.exit_line import compare_with_report
from support.run import BUILD, LIBRARY, TIMEOUT_S, Recording, run_command, simulator_environment
from support.tracefile import Trace
from support.unit_tests import pytest_collect_file  # noqa: F401 (a hook of pytest's)


@pytest.fixture
def build():
    return BUILD


@pytest.fixture
def gpumemtrace():
    """gpumemtrace("peak", trace) runs the command and returns the CompletedProcess."""

    def run(*arguments, **options):
        completed = run_command(*arguments, **options)
        compare_with_report(completed.stderr)
        return completed

    return run


@pytest.fixture
def trace(tmp_path):
    """An empty trace, to which a test adds events."""
    return Trace(tmp_path / "trace.db")


@pytest.fixture
def program():
    """program("random_allocations") returns the path of the built program of tests/programs with this name."""
    return lambda name: BUILD / "tests" / name


@pytest.fixture
def sample():
    return lambda name: BUILD / "samples" / name


@pytest.fixture
def sim_env():
    return simulator_environment


@pytest.fixture
def record(tmp_path):
    """record(program, *arguments) runs the program with LD_PRELOAD on the simulator and returns a Recording. `preload` is a
    library to load after libgpumemtrace.so."""

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
            LD_PRELOAD=f"{LIBRARY}:{preload}".rstrip(":"),
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
        compare_with_report(completed.stderr)
        return Recording(completed, trace)

    return run


# --- signals and the last line ---------------------------------------------------------------------


def stop_ignoring_signals():
    """Sets handlers for signals that are ignored, as under nohup or in the background of a shell. Without this,
    programs would inherit the ignored signals, although tests send these signals to programs. A handler is not
    inherited across exec."""
    for name in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP, signal.SIGTERM):
        if signal.getsignal(name) == signal.SIG_IGN:
            signal.signal(name, lambda *_: None)


def pytest_configure(config):
    stop_ignoring_signals()
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
