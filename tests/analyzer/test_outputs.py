# SPDX-License-Identifier: MIT
"""Output of every command for the made-up traces, byte by byte, in every format.

tests/golden/outputs/NAME.FORMAT.txt holds the output for one trace: each command line, its exit status unless
it is 0, stderr and stdout. support/stored.py explains how a file refers to parts that stand elsewhere. CSV and JUnit are
derived from the stored JSON, except those of WHOLE, which are stored. After an intended change:

    GPUMEMTRACE_REWRITE=1 pytest tests/analyzer/test_outputs.py     writes them again; read the diff
"""
import functools
import json
import os
import re
import subprocess

import pytest

from support.derived import csv_of, junit_of
from support.made_traces import MADE
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment
from support.stored import ROLES, expand, fold, name_of, outputs, session, verdict_of
from support.tracefile import Trace

STORED = ROOT / "tests" / "golden" / "outputs"
ANSWERS = """
report | peak | peak --at=end --layer=driver | timeline --samples=3 | frag --samples=3 | frag --segments --samples=1 --at=end
phases | leaks | leaks --top=1 | steps | oom | ledger | info | check --max-peak=1MiB --max-leak=1KiB
check --max-peak=1TiB --top=1
""".replace("\n", "|").split("|")[1:-1]
ANSWERS = [answer.strip() for answer in ANSWERS]
FORMATS = {
    "text": [answer for answer in ANSWERS if "--at" not in answer and "--layer" not in answer] + ["peak --tree --by=function"],
    "json": ANSWERS,
    "csv": ANSWERS,
    "junit": [answer for answer in ANSWERS if answer.startswith("check")],
}
BASE = "without_events"
WHOLE = {
    "csv": [BASE, "names_that_need_quoting", "several_traces", "models", "resolved", "holders_of_a_leak"],
    "junit": ["names_that_need_quoting"],
}
TABLES = {
    "report": "sites_at_peak", "peak": "sites", "timeline": "timeline", "frag": "over_time", "phases": "phases",
    "leaks": "live_at_exit", "steps": "steps", "oom": "oom", "ledger": "terms", "info": "events_by_kind", "check": "checks",
}  # fmt: skip
SEVERAL = ["two_devices", "dry_run_of_a_rank"]
MODELS = {
    "linear": {"input": [32], "batch": 100, "optimizer": "sgd",
               "layers": [{"type": "Linear", "in": 32, "out": 16, "bias": False}]},
    "convolutions": {"name": "small net", "input": [3, 8, 8], "layers": [
        {"type": "Conv2d", "in": 3, "out": 4, "kernel": 3}, {"type": "BatchNorm2d", "features": 4}, {"type": "ReLU"},
        {"type": "Flatten"}, {"type": "Linear", "in": 144, "out": 10}, {"type": "CrossEntropyLoss"}]},
}  # fmt: skip


# --- the stored text ---


def path_of(name, form):
    return STORED / f"{name}.{form}.txt"


def text_of(name, form):
    with open(path_of(name, form), encoding="utf-8", newline="") as file:
        return file.read()


def others_of(name, form):
    """Returns the stored sessions of other traces to which the file of this one may refer."""
    others = SEVERAL if name == "several_traces" else [] if name == BASE else [BASE]
    return {other: stored(other, form) for other in others}


def said(name, form):
    """Returns what the stored texts of the same commands say, for their JSON."""
    texts = outputs(stored(name, "text")) if form == "json" else {}
    return {line: verdict_of(text) for line, text in texts.items()}


@functools.cache
def stored(name, form):
    """Returns the stored session, whole."""
    if form not in WHOLE or name in WHOLE[form]:
        text = text_of(name, form)
        return text if form in WHOLE else expand(text, form, others_of(name, form), said(name, form))
    printed = outputs(stored(name, "json"))
    if form == "junit":
        return session({line: junit_of(text) for line, text in printed.items() if line.startswith("check")})
    heads = {name_of(line): text.split("\r\n")[0] for line, text in outputs(text_of(BASE, "csv")).items()}
    return session({line: csv_of(text, TABLES[line.split()[0]], heads[name_of(line)]) for line, text in printed.items()})


def store(name, form, text):
    if form not in WHOLE:
        text = fold(text, form, others_of(name, form), said(name, form))
    elif name not in WHOLE[form]:
        return
    path_of(name, form).write_bytes(text.encode())
    stored.cache_clear()


# --- the output ---


def answer(folder, line, form):
    """Returns the output of one command line. In it, each level of JSON's indentation is one space."""
    completed = subprocess.run(
        [BUILD / "gpumemtrace", *line.split(), f"--format={form}"],
        cwd=folder, env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S,
    )  # fmt: skip
    status = b"exit %d\n" % completed.returncode if completed.returncode else b""
    text = completed.stdout
    if form == "json":
        text = re.sub(rb"^(?:  )+", lambda spaces: b" " * (len(spaces[0]) // 2), text, flags=re.M)
    return (status + completed.stderr + text).decode()


def check(folder, name, form, lines):
    text = session({line: answer(folder, line, form) for line in lines})
    if os.environ.get("GPUMEMTRACE_REWRITE"):
        store(name, form, text)
    assert stored(name, form) == text


def write(folder, name):
    fill, meta = MADE[name]
    trace = Trace(folder / f"{name}.db", **meta)
    fill(trace)
    trace.write()


def with_operands(line, *operands):
    command, *options = line.split()
    return " ".join([command, *operands, *options])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", MADE)
def test_a_made_up_trace_is_answered_as_stored(tmp_path, name, form):
    write(tmp_path, name)
    lines = [with_operands(line, f"{name}.db") for line in FORMATS[form]]
    check(tmp_path, name, form, lines)


@pytest.mark.parametrize("form", FORMATS)
def test_several_traces_are_answered_as_stored(tmp_path, form):
    for name in SEVERAL:
        write(tmp_path, name)
    lines = [with_operands(line, *(f"{name}.db" for name in SEVERAL)) for line in FORMATS[form]]
    check(tmp_path, "several_traces", form, lines)


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_models_are_answered_as_stored(tmp_path, form):
    write(tmp_path, "one_training_step")
    for name, model in MODELS.items():
        (tmp_path / f"{name}.json").write_text(json.dumps({"schema": "gpumemtrace.model/1", **model}))
    lines = ["estimate linear.json", "estimate linear.json --inference", "estimate convolutions.json --context=1MiB",
             "estimate linear.json --gpu=24GiB --what-if", "estimate convolutions.json --gpu=h100 --batch=1000000000",
             "compare one_training_step.db linear.json", "compare one_training_step.db convolutions.json"]
    check(tmp_path, "models", form, lines)


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_a_resolved_trace_is_answered_as_stored(tmp_path, form):
    write(tmp_path, "native_stack")
    check(tmp_path, "resolved", form, ["resolve native_stack.db"])


def test_every_stored_answer_is_of_a_trace_that_is_still_made():
    names = [*MADE, "several_traces", "models", "resolved"]
    whole = {path_of(name, form) for form in WHOLE for name in WHOLE[form]}
    assert set(STORED.iterdir()) == {path_of(name, form) for form in ("text", "json") for name in names} | whole


# --- the verdict in the stored answers ---


def documents(name):
    """Returns the JSON document of each command line that printed one."""
    printed = {line: re.search(r"^\{.*^\}", text, re.M | re.S) for line, text in outputs(stored(name, "json")).items()}
    return {line: json.loads(found[0]) for line, found in printed.items() if found}


def opened(document):
    """Returns the document and those of its traces, without a frame that has no answer of its own."""
    return [page for page in (document, *document.get("traces", [])) if "answer" in page or "verdict" in page]


@pytest.mark.parametrize("name", sorted(path.name.split(".")[0] for path in STORED.glob("*.text.txt")))
def test_text_opens_with_the_sentences_and_labels_their_roles(name):
    of_json, of_text = documents(name), outputs(stored(name, "text"))
    for line in of_text.keys() & of_json.keys():
        page = opened(of_json[line])[0]
        said, more = ([ROLES[one["role"]] + one["text"] for one in page[key]] for key in ("verdict", "more"))
        text = " ".join(of_text[line].split()).removeprefix("exit 1 ")
        assert text.startswith(" ".join(" ".join(said).split())), line
        assert " ".join(" ".join(more).split()) in text, line
