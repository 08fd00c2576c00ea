# SPDX-License-Identifier: MIT
"""Stacks of the real PyTorch in a dry run: each allocation has a Python frame or a label."""
from support.pytorch_builds import SCRIPTS
from support.run import load_json

STACKS = """
WITH RECURSIVE path(seq, frame_id) AS (
    SELECT seq, stack_id FROM event WHERE kind = 1 AND result = 0
    UNION ALL
    SELECT seq, parent_id FROM path JOIN frame USING (frame_id) WHERE parent_id IS NOT NULL
)
SELECT seq, sum(kind = 0), sum(kind = 1), max(CASE WHEN kind = 2 THEN text END)
FROM path JOIN frame USING (frame_id) LEFT JOIN string ON kind = 2 AND string_id = address
GROUP BY seq
"""
FUNCTIONS = """
SELECT DISTINCT text FROM frame JOIN location ON kind = 1 AND location_id = address
JOIN string ON string_id = function_id
"""


def test_each_allocation_of_a_training_names_python_or_backward(dry_run):
    recording = dry_run("mlp.py", "adam")
    stacks = recording.rows(STACKS)
    assert len(stacks) > 100
    assert all(native > 5 for _, native, _, _ in stacks)
    labels = [label for _, _, python, label in stacks if not python]
    assert labels and set(labels) == {"backward (autograd)"}
    assert {label for _, _, python, label in stacks if python} == {None}
    functions = {name for name, in recording.rows(FUNCTIONS)}
    assert {"main", "<module>"} <= functions


def test_what_was_compiled_is_named_by_the_line_that_called_it(dry_run, torch_build):
    """The wheel runs Python code that PyTorch generated. Debian's build interprets the graph."""
    source = (SCRIPTS / "values.py").read_text().splitlines()
    line = next(number for number, text in enumerate(source, 1) if "model(torch.randn(8, 64, device" in text)
    (device,) = load_json("peak", dry_run("values.py", "compiled").trace)["devices"]
    found = {(row["site"], row["called"]) for row in device["sites"] if row["layer"] == "pool"}
    assert all("values.py:" in site for site, _ in found), found
    called = "compiled code" if torch_build.name == "wheel" else "OpOverload.__call__"
    assert (f"backward of values.py:{line} compiled", called) in found
