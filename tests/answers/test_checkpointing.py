# SPDX-License-Identifier: MIT
"""`estimate --checkpointing`: the bytes that are kept of each block. This file adds them up independently."""
import json

import pytest

from support.run import load_json, run_command

BATCH, BLOCKS, WIDE, NARROW, FLOAT = 4, 4, 64, 32, 4
PRODUCTS = [WIDE, NARROW, WIDE, NARROW]


def ask(tmp_path, *options, bias=False, **keys):
    path = tmp_path / "model.json"
    layers = [{"repeat": BLOCKS, "layers": [{"type": "Linear", "out": out, "bias": bias} for out in PRODUCTS]}]
    path.write_text(json.dumps({"schema": "gpumemtrace.model/1", "input": [NARROW], "batch": BATCH, "optimizer": "sgd", "layers": layers, **keys}))
    return load_json("estimate", path, *options)


def kept(tmp_path, *options, **keys):
    return ask(tmp_path, *options, **keys)["kept_for_backward_bytes"]


def rows(*widths):
    return BATCH * FLOAT * sum(widths)


ENDS = rows(NARROW, NARROW)  # the input of the model, and the output that the training loop holds


def test_a_selective_block_keeps_its_first_and_third_product(tmp_path):
    inputs = rows(NARROW) * (BLOCKS - 1)
    assert kept(tmp_path, "--checkpointing=1") == ENDS + inputs
    assert kept(tmp_path, "--checkpointing=selective") == ENDS + inputs + BLOCKS * rows(WIDE, WIDE)


def test_products_with_a_bias_are_not_kept(tmp_path):
    assert kept(tmp_path, "--checkpointing=selective", bias=True) == kept(tmp_path, "--checkpointing=1", bias=True)


def test_one_block_of_two_runs_again(tmp_path):
    whole, inputs = rows(WIDE, NARROW, WIDE), rows(NARROW) * (BLOCKS - 1)
    assert kept(tmp_path, "--checkpointing=every-2") == ENDS + inputs + BLOCKS // 2 * whole
    assert kept(tmp_path, "--checkpointing=every-1") == kept(tmp_path, "--checkpointing=1")


def test_a_file_says_it_by_number_or_by_word(tmp_path):
    assert kept(tmp_path, checkpointing=1) == kept(tmp_path, "--checkpointing=1")
    assert kept(tmp_path, checkpointing="selective") == kept(tmp_path, "--checkpointing=selective")
    ask(tmp_path)
    options = tmp_path / "options.json"
    for value in (1, "1"):
        options.write_text(json.dumps({"model": "model.json", "checkpointing": value}))
        assert load_json("estimate", options)["kept_for_backward_bytes"] == kept(tmp_path, "--checkpointing=1")


@pytest.mark.parametrize("word", ["0", "-1", "every-0", "every-", "selectiv", "2x", "99999999999999999999"])
def test_another_word_is_refused(word):
    done = run_command("estimate", "gpt2", f"--checkpointing={word}")
    assert done.returncode == 2 and "every-2" in done.stderr


def test_what_saves_nothing_is_shown_in_json_only(tmp_path):
    found = ask(tmp_path, "--what-if")["what_if"]
    shown = run_command("estimate", tmp_path / "model.json", "--what-if").stdout
    for row in found:
        assert (row["how"] in shown) == (row["saved_bytes"] != 0)
    assert any(row["saved_bytes"] == 0 for row in found)
