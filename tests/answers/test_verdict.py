# SPDX-License-Identifier: MIT
"""The shape of the verdict that each command opens with: at most four sentences, one of a role and in the order of the
roles. The first is one clause of at most 100 characters. No sentence has more than one semicolon. Other sentences stand
below, in "more"."""
import json

import pytest

from support.made_traces import MADE
from support.run import ROOT, run_command
from support.tracefile import MIB, Trace

ROLES = ("what", "why", "who", "do")
MOST_CHARACTERS = 100
COMMANDS = """
report | peak | peak --at=end | timeline | frag | phases | leaks | steps | oom | ledger | info | fit | resolve
frag --what-if=expandable_segments | diff --at=1 --at=end | check --max-peak=1MiB --max-leak=1KiB | check --max-peak=1TiB
""".replace("\n", "|").split("|")[1:-1]  # fmt: skip


def faults(page):
    """Returns what is wrong with the verdict of a page."""
    roles, texts = zip(*((sentence["role"], sentence["text"]) for sentence in page["verdict"]))
    found = ["answer and verdict differ"] if list(texts) != page["answer"] else []
    found += [f"roles {roles}"] if roles[0] != "what" or list(roles) != sorted(set(roles), key=ROLES.index) else []
    found += [f"{len(texts[0])} characters: {texts[0]}"] if len(texts[0]) > MOST_CHARACTERS else []
    found += [f"a role of {one}" for one in page["more"] if one["role"] not in ROLES]
    return found + [f"semicolons: {text}" for text in texts if text.count("; ") > 1 or ".." in text]


def pages_of(*arguments, **options):
    """Returns the document and its pages that have a verdict. There is none if the command refuses the trace."""
    completed = run_command(*arguments, "--json", **options)
    if completed.returncode == 2:
        return []
    document = json.loads(completed.stdout)
    return [page for page in (document, *document.get("traces", [])) if page.get("verdict")]


def write(folder, name):
    fill, meta = MADE[name]
    trace = Trace(folder / f"{name}.db", **meta)
    fill(trace)
    return trace.write()


@pytest.mark.parametrize("name", MADE)
def test_every_command_opens_with_a_verdict_of_this_shape(tmp_path, name):
    trace = write(tmp_path, name)
    for line in COMMANDS:
        command, *options = line.split()
        for page in pages_of(command, trace, *options):
            assert faults(page) == [], line


@pytest.mark.parametrize("command", [*(line.strip() for line in COMMANDS if "--" not in line), "check --max-peak=1MiB"])
def test_a_job_opens_with_a_verdict_of_this_shape(tmp_path, command):
    traces = [write(tmp_path, name) for name in ("two_devices", "dry_run_of_a_rank", "growing_steps")]
    name, *options = command.split()
    pages = pages_of(name, *traces, *options)
    assert pages and [faults(page) for page in pages] == [[]] * len(pages)


def test_diffs_and_models_open_with_a_verdict_of_this_shape(tmp_path):
    old, new, model = write(tmp_path, "driver_only"), write(tmp_path, "one_training_step"), ROOT / "samples" / "train.json"
    for arguments in (("diff", old, new), ("diff", new, old), ("diff", old, old), ("compare", new, model),
                      ("compare", old, model),
                      ("estimate", model), ("estimate", model, "--gpu=24GiB"), ("estimate", model, "--gpu=1MiB", "--what-if"),
                      ("estimate", "llama-3-8b", "--gpu=h100", "--batch=64"), ("estimate", "gpt2", "--inference")):  # fmt: skip
        for page in pages_of(*arguments):
            assert faults(page) == [], arguments


# --- long names ---


FUNCTION = "Decoder.forward.<locals>.attend.<locals>.<genexpr>"


@pytest.fixture
def long_names(tmp_path):
    """A trace that fails and leaks in a function with a long name, in a file with a name of twenty characters."""
    trace = Trace(tmp_path / "long.db", exit_status=1)
    for step in range(1, 9):
        with trace.phase("epoch/validation/forward"):
            trace.alloc(1000 * MIB, stack=trace.stack("alloc", ("mixture_of_expert.py", 1088, FUNCTION)))
        trace.alloc(900 * MIB, stack=trace.stack("alloc", ("mixture_of_routes.py", 1044, FUNCTION)))
        trace.step(step)
    with trace.phase("epoch/validation/forward"):
        trace.fail(1000 * MIB, stack=trace.stack("alloc", ("mixture_of_expert.py", 1088, FUNCTION)))
    return trace.write()


@pytest.mark.parametrize("command", [line.strip() for line in COMMANDS])
def test_a_long_name_loses_its_end_and_never_its_line(long_names, command):
    name, *options = command.split()
    pages = pages_of(name, long_names, *options)
    assert [faults(page) for page in pages] == [[]] * len(pages)
    if command in ("report", "oom", "leaks"):
        assert "mixture_of_expert.py:1088" in pages[0]["answer"][0]
