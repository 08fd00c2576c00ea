# SPDX-License-Identifier: MIT
"""What a report opens with, and the rows of its sites, of programs whose first lines are stored."""
import os
import re

from support.run import ROOT, load_json, run_command

DURATION = re.compile(r"\b\d+(?:\.\d+)? (?:ns|us|ms|s)\b|\b\d+ min \d+ s\b")
STORED = ROOT / "tests" / "golden"


def first_line(trace):
    """The first sentence, with a T for each time."""
    answer = load_json("report", trace)["answer"]
    return DURATION.sub("T", answer[0])


def heads_of_sites(trace):
    """The heads of the rows that `report` shows of who held memory at the peak."""
    text = run_command("report", trace).stdout
    table = text.split("Who held it at the peak\n")[1].split("\n\n")[0] if "Who held it at the peak" in text else ""
    lines = table.splitlines()
    return [head.strip() for row, head in zip(lines, lines[1:]) if re.match(r" +[\d.]+ [KMGT]?i?B +[\d.]+ %", row)]


def check_first_line(file, key, trace, source):
    """Against the line "KEY: …" of tests/golden/FILE, which GPUMEMTRACE_REWRITE=1 writes again."""
    path, line = STORED / file, first_line(trace)
    stored = dict(text.split(": ", 1) for text in path.read_text().splitlines()) if path.exists() else {}
    if os.environ.get("GPUMEMTRACE_REWRITE"):
        stored[key] = line
        path.write_text("".join(f"{name}: {text}\n" for name, text in sorted(stored.items())))
    assert stored.get(key) == line
    heads = heads_of_sites(trace)
    assert len(heads) == len(set(heads)), heads
    if "No GPU memory was allocated" not in line:
        assert re.search(rf"\b{re.escape(source)}:\d+ ", line), line
        assert heads
