# SPDX-License-Identifier: MIT
"""Compares the first line of a program's report with a stored line. Also checks that no two rows of a list read
alike."""
import fcntl
import os
import re

from support.alike import alike_rows
from support.run import ROOT, load_json

DURATION = re.compile(r"\b\d+(?:\.\d+)? (?:ns|us|ms|s)\b|\b\d+ min \d+ s\b")
STORED = ROOT / "tests" / "golden"


def first_line(trace):
    """Returns the finding of the report, its reason and who holds the memory. Each duration is replaced by T."""
    said = {sentence["role"]: sentence["text"] for sentence in load_json("report", trace)["verdict"]}
    return DURATION.sub("T", " ".join(said[role] for role in ("what", "why", "who") if role in said))


def check_first_line(file, key, trace, source):
    """Compares the first line with the line "KEY: …" of tests/golden/FILE. With GPUMEMTRACE_REWRITE=1, stores the first
    line in that file instead."""
    path, line = STORED / file, first_line(trace)
    with path.open("a+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)  # several workers may store their lines at once
        stored = dict(text.split(": ", 1) for text in path.read_text().splitlines())
        if os.environ.get("GPUMEMTRACE_REWRITE"):
            stored[key] = line
            path.write_text("".join(f"{name}: {text}\n" for name, text in sorted(stored.items())))
    assert stored.get(key) == line
    assert alike_rows(trace) == []
    if "No GPU memory was allocated" not in line:
        assert re.search(rf"\b{re.escape(source)}:\d+ ", line), line
