# SPDX-License-Identifier: MIT
"""Runs one test in a process of its own under `gpumemtrace run`, on a real card or on a simulated card."""

import functools
import json
import pathlib
import shutil
import signal
import subprocess
import sys

DRY_RUN = "16GiB"  # the simulated card, if the machine has no card
TRACE = "test.db"
CHILD = pathlib.Path(__file__).with_name("child.py")
TUPLES = ("longrepr", "location")
HAS_CARD = """
import ctypes
count = ctypes.c_int()
driver = ctypes.CDLL("libcuda.so.1")
raise SystemExit(driver.cuInit(0) or driver.cuDeviceGetCount(ctypes.byref(count)) or not count.value)
"""


class ProcessError(Exception):
    """The process could not be started. The message is one line."""


@functools.lru_cache(maxsize=None)
def has_card():
    """Returns whether the machine has a card. Another process looks for it, because CUDA does not work in forks of a
    process that has started CUDA."""
    asked = subprocess.run([sys.executable, "-c", HAS_CARD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return asked.returncode == 0


def packaged_command():
    """Returns the path of the command that pip installed. If that Python environment is not activated, the command is
    not in PATH."""
    try:
        import gpumemtrace
    except ImportError:
        return ""
    return gpumemtrace.command()


def find_command(configured):
    """Returns the path of gpumemtrace: the configured one, the one in PATH, or the one that pip installed. Raises
    ProcessError."""
    found = shutil.which(configured or "gpumemtrace") or (None if configured else shutil.which(packaged_command()))
    if not found:
        raise ProcessError(f"there is no command '{configured or 'gpumemtrace'}': put it into PATH, or set gpu_memory_command")
    return found


def card_options(where, dry_run):
    """Returns the options that choose the card. where: auto, card or the SPEC of a dry run. dry_run: the SPEC of the
    test's mark, or None."""
    if where == "card" or (where == "auto" and has_card()):
        return []
    return [f"--dry-run={dry_run or (DRY_RUN if where == 'auto' else where)}"]


def request_of(item, folder):
    config = item.config
    path, _, inside = item.nodeid.partition("::")
    return {
        "arguments": [str(each) for each in config.invocation_params.args],
        "nodeid": item.nodeid,
        "place": f"{config.rootpath / path}::{inside}",
        "reports": str(folder / "reports.jsonl"),
        "basetemp": str(folder / "basetemp"),
        "worker": getattr(config, "workerinput", {}).get("workerid", "master"),
        "has_cov": config.pluginmanager.has_plugin("_cov"),
        "path": sys.path,
    }


def lines_of(path):
    """Returns the lines that the child wrote. If the last line was cut off, it is left out."""
    if not path.exists():
        return
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            yield json.loads(line)
        except ValueError:
            return


def how_it_ended(status):
    """Says in words how the program ended. `gpumemtrace run` exits with 128+N if signal N ended the program."""
    number = -status if status < 0 else status - 128
    try:
        return f"was ended by {signal.Signals(number).name}"
    except ValueError:
        return f"ended with status {status}"


def with_tuples(report):
    """Restores the tuples of a report. JSON has only lists, but pytest recognizes the reason of a skip by its tuple."""
    return {key: tuple(value) if isinstance(value, list) and key in TUPLES else value for key, value in report.items()}


class Run:
    """The results of one test's process: the reports (serialized by pytest), the limits that the fixture set, how the
    process ended or None, an error or None, the captured output, and the traces."""

    def __init__(self, lines, status, printed, folder):
        self.reports = [with_tuples(line["report"]) for line in lines if "report" in line]
        self.limits = next((line["limits"] for line in lines if "limits" in line), {})
        self.ended = how_it_ended(status) if status not in (0, 1) else None
        self.error = next((line["error"] for line in lines if "error" in line), None)
        self.printed = printed
        self.traces = sorted(folder.glob("*.db"))


def run(item, command, options, folder):
    """Runs the test of `item`. The test leaves traces and reports in `folder`."""
    folder = pathlib.Path(folder)
    request = folder / "request.json"
    request.write_text(json.dumps(request_of(item, folder)), encoding="utf-8")
    words = [command, "run", "--quiet", f"--output={folder / TRACE}", *options, "--"]
    words += [sys.executable, str(CHILD), str(request)]
    captured = item.config.getoption("capture") != "no"
    output = open(folder / "output.txt", "w+", errors="replace") if captured else None
    try:
        done = subprocess.run(
            words,
            cwd=str(item.config.invocation_params.dir),
            stdout=output,
            stderr=subprocess.STDOUT if captured else None,
        )
        if output:
            output.seek(0)
        printed = output.read() if output else ""
    except OSError as error:
        raise ProcessError(f"cannot start {command}: {error.strerror}")
    finally:
        if output:
            output.close()
    return Run(list(lines_of(folder / "reports.jsonl")), done.returncode, printed, folder)
