# SPDX-License-Identifier: MIT
"""Asks gpumemtrace about the traces of a test: their peak, and whether the limits hold. This file does not use
pytest."""

import json
import os
import subprocess

UNITS = ("B", "KiB", "MiB", "GiB", "TiB")
HOLDERS = 3  # the number of rows of evidence in the message of a failed test


def in_words(size):
    """Returns a size in bytes as the command prints it: 1.50 GiB."""
    unit = min(len(UNITS) - 1, max(0, (int(size).bit_length() - 1) // 10))
    return f"{size / 1024**unit:.2f} {UNITS[unit]}" if unit else f"{size} B"


def answer_of(command, *words):
    """Runs gpumemtrace. Returns (status, stdout, stderr). os.environ lacks the COLUMNS that Python's readline sets for child
    processes even without a terminal."""
    options = dict(stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    done = subprocess.run([command, *words], env=os.environ, **options)
    return done.returncode, done.stdout, done.stderr.strip()


def peak_of(command, traces):
    """Returns {"bytes", "site"} of the highest peak in any trace, on any device, of the leading layer. Returns None if
    there is no peak."""
    best = None
    for trace in traces:
        status, output, _ = answer_of(command, "peak", "--json", "--top=1", str(trace))
        for device in json.loads(output)["devices"] if status == 0 else ():
            peak = next((each for each in device["moments"] if each["layer"] == device["leading_layer"]), None)
            if peak and (best is None or peak["live_bytes"] > best["bytes"]):
                best = {"bytes": peak["live_bytes"], "site": next((row["site"] for row in device["sites"]), None)}
    return best


def broken_limits(command, traces, options):
    """Returns the texts that `check` prints for traces that break a limit or that it cannot check; "" if all limits
    hold."""
    texts = []
    for trace in traces:
        status, text, error = answer_of(command, "check", f"--top={HOLDERS}", *options, str(trace))
        if status != 0:
            texts.append(text if status == 1 else error or text)
    return "\n".join(texts)


def opening_of(command, trace):
    """Returns the first lines of `report`: its verdict, and the command that shows more."""
    status, output, error = answer_of(command, "report", "--json", "--top=1", str(trace))
    if status != 0:
        return error
    report = json.loads(output)
    lines = [said["text"] if said["role"] == "what" else f"{said['role'].capitalize()}: {said['text']}" for said in report["verdict"]]
    return "\n".join([*lines, *([f"Next: {report['next']}"] if report["next"] else [])])
