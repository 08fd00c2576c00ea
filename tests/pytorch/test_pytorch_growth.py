# SPDX-License-Identifier: MIT
"""`leaks` gives PyTorch programs that leak, or only seem to leak, the verdict of a person who knows the program."""
import re

import pytest

from support.pytorch_builds import SCRIPTS
from support.run import load_json, sentences_of, texts_of

SOURCE = (SCRIPTS / "growth.py").read_text().splitlines()
STRANGERS = SCRIPTS / "strangers/loops.py"


def leaks(recording):
    page = load_json("leaks", recording.trace)
    return page["answer"][0], page["devices"][0]["leaks"]


def line_of(text, source=tuple(SOURCE)):
    return next(number for number, line in enumerate(source, 1) if text in line)


# A step leaks 512, 1024 or 768 rows of 256 floats; a loss takes a block of 512 bytes. Only 39 of the 40 steps are found, because
# no stack shows the end of the last step.
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
    assert re.match(r"Leak: [\d.]+ [KM]iB per step by ", says), says
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
    assert says.startswith("No leak: live bytes ")


def test_a_cache_of_tokens_that_is_copied_for_each_one_gets_larger_and_is_no_leak(dry_run):
    recording = dry_run("values.py", "generate")
    says, page = leaks(recording)
    source = (SCRIPTS / "values.py").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "cache = torch.cat" in text)
    assert re.match(rf"No leak, but each block is 8\.0[0-9] KiB larger than the last, by values\.py:{line} generate", says), says
    assert page["growth"][0]["verdict"] == "grows"
    assert not any("Leak" in sentence for sentence in sentences_of(load_json("report", recording.trace)))


def test_the_experts_of_one_forward_are_no_steps_that_leak(dry_run):
    recording = dry_run("values.py", "router")
    says, page = leaks(recording)
    assert page["growth"][0]["verdict"] == "cannot tell"
    assert says == "Cannot tell whether memory leaks: memory waits for a backward that never came."
    who = [row["text"] for row in load_json("leaks", recording.trace)["verdict"] if row["role"] == "who"]
    assert re.match(r"Each time that a line repeats \(4 times\), [\d.]+ MiB more is kept: [\d.]+ MiB by values\.py:", who[0]), who


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


# (loop, start of the answer, guilty line or None, steps), as a person who knows the script would answer. One step less
# is also right, because the end of the last step may show in no stack.
@pytest.mark.parametrize("way, opening, text, steps", [
    ("hidden_state", "Leak: 6.57 MiB per step", "self.lstm(self.embed", 20),
    ("exceptions", "Leak: 2.50 MiB per step", "loss = model(batch)", 10),  # counts only steps that end without the exception
    ("masks", "Leak: ", "known[length] = torch.full", 40),
    ("tokens", "No leak, but kept blocks get larger: 12", "torch.cat([past", 100),
    ("average", "No leak: live bytes ", None, 20),
    ("mixed_precision", "No leak: live bytes ", None, 20),
    ("evaluation", "Leak: 2.5", "outputs.append(model(batch))", 20),  # a step keeps its batch and four outputs, 512 KiB each
    ("momentum", "No leak: live bytes ", None, 20),
])  # fmt: skip
def test_loops_as_people_write_them_get_the_answer_of_a_person(way, opening, text, steps, dry_run):
    says, page = leaks(dry_run(STRANGERS, way))
    assert says.startswith(opening), says
    assert page["growth"][0]["steps"] in (steps - 1, steps)
    assert not text or f"by loops.py:{line_of(text, STRANGERS.read_text().splitlines())}" in says, says


# (loop, how to mend it, as a person who knows the script would say)
@pytest.mark.parametrize("way, action", [
    ("hidden_state", "detach() what goes on into the next step, or is stored."),
    ("evaluation", "Run the forward under torch.no_grad(), or detach() what is kept."),
    ("masks", "Remove the entries that are no longer needed (del, clear()), or limit their number."),
    ("exceptions", "Store the text of the exception in place of the exception, whose traceback keeps the frames."),
])  # fmt: skip
def test_a_leak_says_how_to_mend_it_where_the_trace_shows_the_cause(way, action, dry_run):
    verdict = load_json("leaks", dry_run(STRANGERS, way).trace)["verdict"]
    assert [row["text"] for row in verdict if row["role"] == "do"] == [action]
