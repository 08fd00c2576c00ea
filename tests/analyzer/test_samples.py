# SPDX-License-Identifier: MIT
"""Each sample does the things that its first lines describe, and the commands named there show them."""
import json
import re
import subprocess
import sys

import pytest

from support.run import ROOT, TIMEOUT_S, clean_environment, load_json

SAMPLES = ROOT / "samples"
PROGRAMS = sorted(path.stem for path in SAMPLES.glob("*.c"))


def test_there_are_samples():
    assert {"train", "fragment", "leak", "oom"} <= set(PROGRAMS)


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_sample_is_short_and_says_how_to_run_it(name):
    text = (SAMPLES / f"{name}.c").read_text(encoding="utf-8")
    assert text.count("\n") < 120
    assert f"build/gpumemtrace run --dry-run -o {name}.db -- build/samples/{name}\n" in text
    assert f"build/gpumemtrace run -o {name}.db -- build/samples/{name}\n" in text
    assert f"| `{name}.c`" in (SAMPLES / "README.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_sample_succeeds_without_the_recorder(name, sample, sim_env):
    completed = subprocess.run([sample(name)], env=sim_env("4GiB"), capture_output=True, timeout=TIMEOUT_S)
    assert completed.returncode == 0, completed.stderr


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_command_a_sample_names_answers(name, sample, record, gpumemtrace):
    text = (SAMPLES / f"{name}.c").read_text(encoding="utf-8")
    trace = record(sample(name), spec="4GiB").trace
    commands = re.findall(rf"build/gpumemtrace (\w+)( --at=\S+)? {name}\.db", text)
    assert commands
    for command, option in commands:
        completed = gpumemtrace(command, *option.split(), trace)
        assert completed.returncode == 0, completed.stderr
        assert completed.stdout


def test_train_gives_back_all_but_parameters_buffers_and_states(sample, record):
    device = record(sample("train"), spec="4GiB").report()["devices"][0]
    estimate = load_json("estimate", SAMPLES / "train.json")
    model_bytes = estimate["load"]["requested_bytes"]
    states_bytes = estimate["categories"]["optimizer"]
    assert device["driver"]["live_at_exit_bytes"] == model_bytes + states_bytes
    assert device["driver"]["failed"] == 0


def test_train_names_every_phase_of_a_training_loop(sample, record):
    device = record(sample("train"), spec="4GiB").report()["devices"][0]
    counts = {row["name"]: row["count"] for row in device["phases"] if row["name"]}
    assert counts == {"init": 1, "data": 5, "forward": 5, "backward": 5, "optimizer": 5}


def test_fragment_ends_with_the_verdict_fragmented(sample, record):
    failures = load_json("oom", record(sample("fragment"), spec="4GiB").trace)["oom"]
    assert [failure["verdict"] for failure in failures] == ["exhausted", "fragmented"]


def test_leak_grows_by_one_mebibyte_in_each_of_20_steps(sample, record):
    device = record(sample("leak"), spec="4GiB").report()["devices"][0]
    assert device["driver"]["live_at_exit_bytes"] == 20 << 20


def test_oom_tells_its_own_memory_from_that_of_others(sample, record):
    for spec, verdict in (("16GiB", "exhausted"), ("16GiB,others=6GiB", "others")):
        trace = record(sample("oom"), spec=spec, name=f"{verdict}.db").trace
        assert [failure["verdict"] for failure in load_json("oom", trace)["oom"]] == [verdict]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.json")), ids=lambda path: path.name)
def test_every_model_description_can_be_estimated(path):
    assert load_json("estimate", path)["parameters"]["count"] > 0


def test_train_py_describes_the_network_of_train_json():
    description = json.loads((SAMPLES / "train.json").read_text())
    text = (SAMPLES / "train.py").read_text(encoding="utf-8")
    names = re.findall(r"nn\.(\w+)\((?:\w+(?:, \w+)*)?\),", text)
    assert names == [layer["type"] for layer in description["layers"][:-1]]
    sizes = re.search(r"BATCH, FEATURES, HIDDEN, CLASSES, STEPS = ([\d, ]+)", text).group(1)
    batch, features, hidden, classes, _ = map(int, sizes.split(","))
    assert (batch, [features]) == (description["batch"], description["input"])
    assert hidden == description["layers"][0]["out"] and classes == description["layers"][3]["out"]


def test_train_py_says_what_it_needs_where_that_is_missing():
    completed = subprocess.run(
        [sys.executable, SAMPLES / "train.py"], env=clean_environment(CUDA_VISIBLE_DEVICES=""),
        capture_output=True, text=True, timeout=TIMEOUT_S)
    assert completed.returncode == 1
    assert completed.stderr.startswith("train.py: ") and "needs" in completed.stderr
