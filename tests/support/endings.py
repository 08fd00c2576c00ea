# SPDX-License-Identifier: MIT
"""Checks how a command ends after an error. The command must print its answer, or exit with status 2 and one line that
gives the reason. It must not end by a signal or by a sanitizer, exceed the time limit, or print a part of a document
that looks like a whole one."""
import dataclasses
import json
import re
import signal
import subprocess

from support.run import TIMEOUT_S


@dataclasses.dataclass
class Ending:
    status: int  # negative: the signal that ended it
    stdout: str
    stderr: str
    late: bool = False


def end_of(arguments, **options):
    """Runs the command and returns its Ending. A command that exceeds TIMEOUT_S is killed."""
    try:
        done = subprocess.run(
            [str(argument) for argument in arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=TIMEOUT_S,
            **options,
        )
    except subprocess.TimeoutExpired:
        return Ending(-signal.SIGKILL, "", "", late=True)
    return Ending(
        done.returncode,
        done.stdout.decode(errors="surrogateescape"),
        done.stderr.decode(errors="surrogateescape"),
    )


def complaint(ending):
    """Returns a few words that say which rule the ending breaks, or "" if it breaks none."""
    if ending.late:
        return "took too long"
    if ending.status not in (0, 1, 2):
        return f"ended with {ending.status}: {ending.stderr[-2000:]}"
    lines = ending.stderr.splitlines()
    errors = [line for line in lines if ": warning: " not in line]
    if len(errors) > (ending.status != 0):
        return f"exit {ending.status} and {len(errors)} lines of error: {ending.stderr[:1000]}"
    if ending.status == 2 and not errors:
        return "exit 2 without a word"
    if any(not line.startswith("gpumemtrace: ") for line in lines):
        return f"a line that is not ours: {ending.stderr[:1000]}"
    return unprintable(ending.stdout + ending.stderr)


def unprintable(text):
    """Returns a message about the first byte that is not UTF-8 or controls a terminal, or "" if there is none."""
    found = re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\udc80-\udcff]", text)
    return f"prints {found[0]!r} after {text[max(0, found.start() - 40):found.start()]!r}" if found else ""


def json_complaint(ending):
    """Does the same as complaint(), for a command with --json. The command must print a whole document, or print
    nothing and exit with status 2."""
    wrong = complaint(ending)
    if wrong or not ending.stdout and ending.status == 2:
        return wrong
    try:
        json.loads(ending.stdout)
    except ValueError as error:
        return f"exit {ending.status} and no JSON: {error}"
    return ""


def fault_complaint(ending, unharmed):
    """Does the same as complaint(), for a run in which a call failed. The run must give the same answer as `unharmed`,
    or exit with status 2 and one line. In the second case stdout may be the beginning of the unharmed answer."""
    wrong = complaint(ending)
    if wrong:
        return wrong
    if ending.status == 2:
        beginning = unharmed.stdout[: len(ending.stdout)]
        return "" if ending.stdout == beginning else f"exit 2, but printed {difference(beginning, ending.stdout)}"
    if (ending.status, ending.stdout) != (unharmed.status, unharmed.stdout):
        return f"exit {ending.status} with another answer: {difference(unharmed.stdout, ending.stdout)}"
    return ""


def difference(expected, got):
    for left, right in zip(expected.splitlines(), got.splitlines()):
        if left != right:
            return f"{right!r} instead of {left!r}"
    return f"{len(got)} characters instead of {len(expected)}"
