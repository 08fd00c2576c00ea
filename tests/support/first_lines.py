# SPDX-License-Identifier: MIT
"""The first line of reports of programs, compared with stored lines; and a check that no rows of sites read alike."""
import os
import re

from support.alike import alike_rows
from support.run import ROOT, load_json

DURATION = re.compile(r"\b\d+(?:\.\d+)? (?:ns|us|ms|s)\b|\b\d+ min \d+ s\b")
STORED = ROOT / "tests" / "golden"


def first_line(trace):
    """The first sentence, with each time replaced by T."""
    answer = load_json("report", trace)["answer"]
    return DURATION.sub("T", answer[0])


def check_first_line(file, key, trace, source):
    """Compares the answer with the line "KEY: …" of tests/golden/FILE, which GPUMEMTRACE_REWRITE=1 rewrites."""
    path, line = STORED / file, first_line(trace)
    stored = dict(text.split(": ", 1) for text in path.read_text().splitlines()) if path.exists() else {}
    if os.environ.get("GPUMEMTRACE_REWRITE"):
        stored[key] = line
        path.write_text("".join(f"{name}: {text}\n" for name, text in sorted(stored.items())))
    assert stored.get(key) == line
    assert alike_rows(trace) == []
    if "No GPU memory was allocated" not in line:
        assert re.search(rf"\b{re.escape(source)}:\d+ ", line), line
