# SPDX-License-Identifier: MIT
"""Leaks of PyTorch programs, and what only looks like one: the verdict that a person would give."""
import re

import pytest

from support.pytorch_builds import SCRIPTS
from support.run import load_json

SOURCE = (SCRIPTS / "growth.py").read_text().splitlines()


def leaks(recording):
    page = load_json("leaks", recording.trace)
    return page["answer"][0], page["devices"][0]["leaks"]


def line_of(text):
    return next(number for number, line in enumerate(SOURCE, 1) if text in line)


# 512, 1024 and 768 rows of 256 floats; a loss is a block of 512 bytes. Of 40 steps the end of the last one shows in no stack.
@pytest.mark.parametrize(
    "loop, text, bytes_per_step",
    [
        ("list", "mask = torch.zeros(512", (512 << 10) + 512),
        ("cache", "cache[step] = torch.zeros", 1024 << 10),
        ("closure", "seen = torch.zeros", 768 << 10),
    ],
)
def test_a_leak_is_named_with_its_line_and_bytes_per_step(loop, text, bytes_per_step, dry_run):
    says, page = leaks(dry_run("growth.py", loop))
    assert page["growth"][0]["leak_bytes_per_step"] == bytes_per_step
    assert page["growth"][0]["steps_end_with"] == "the optimizer, as the stacks show it"
    assert re.match(r"Leak: [\d.]+ [KM]iB per step \(±0 B, 39 steps\)", says), says
    assert f"by growth.py:{line_of(text)} " in says, says


def test_a_leak_is_found_where_the_optimizer_allocates_in_its_first_step_alone(dry_run):
    says, page = leaks(dry_run("growth.py", "outputs"))
    growth = page["growth"][0]
    assert (growth["leak_bytes_per_step"], growth["steps_end_with"]) == (128 << 10, "backward, as the stacks show it")
    assert f"by growth.py:{line_of('.detach()')} " in says, says


@pytest.mark.parametrize("loop", ["adam", "lengths", "bounded"])
def test_what_only_looks_like_a_leak_is_none(loop, dry_run):
    says, page = leaks(dry_run("growth.py", loop))
    assert (page["growth"][0]["verdict"], page["growing"]) == ("no leak", [])
    assert says == "No leak: live bytes do not grow from step to step (39 steps)."


def test_what_the_script_named_leak_keeps_is_a_leak(dry_run):
    says, page = leaks(dry_run("leak.py"))
    assert page["growth"][0]["verdict"] == "leak" and "leak.py:" in says


@pytest.mark.parametrize("way", ["adam", "critics", "parts", "sgd", "sgd_parts"])
def test_two_optimizers_that_take_turns_are_one_step(way, dry_run):
    recording = dry_run("gan.py", way)
    growth = leaks(recording)[1]["growth"][0]
    assert (growth["steps"], growth["leak_bytes_per_step"]) == (40, 512 << 10)
    assert len(load_json("steps", recording.trace)["devices"][0]["steps"]["steps"]) == 40


@pytest.mark.parametrize("way, expected", [("once", ("cannot tell", None)), ("batches", ("no leak", 30)), ("blocks", ("no leak", 20))])
def test_a_loop_over_layers_is_no_loop_over_steps(way, expected, dry_run):
    growth = leaks(dry_run("layers.py", way))[1]["growth"][0]
    assert (growth["verdict"], growth["steps"]) == expected
