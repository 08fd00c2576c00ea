# SPDX-License-Identifier: MIT
"""Tries the cards that `fit` prints. On a card of that size, a dry run works or fails as `fit` says, and retries as
often as `fit` says."""
from support.pytorch_builds import SCRIPTS
from support.run import load_json, sentences_of

SCRIPT = "growing.py"
TRANSFORMER = SCRIPTS / "strangers/vit.py"
GRANULE = 2 << 20


def sizes(recording):
    (device,) = load_json("fit", recording.trace)["devices"]
    return {row["retries"]: row for row in device["fit"]}


def refusals(recording):
    (device,) = load_json("report", recording.trace)["devices"]
    return device["driver"]["failed"]


def test_the_smallest_card_without_retries_never_refuses_and_one_granule_less_does(dry_run):
    size = sizes(dry_run(SCRIPT))["none"]["card_bytes"]
    assert refusals(dry_run(SCRIPT, spec=str(size))) == 0
    assert refusals(dry_run(SCRIPT, spec=str(size - GRANULE))) > 0


def test_a_dry_run_without_limit_needs_what_fit_says_without_retries(dry_run):
    recording = dry_run(SCRIPT, spec="any")
    answer = sentences_of(load_json("report", recording.trace))
    size = sizes(recording)["none"]["card_bytes"]
    assert refusals(recording) == 0
    assert size == sizes(dry_run(SCRIPT))["none"]["card_bytes"]
    assert any(f"needs a card of {size / (1 << 30):.2f} GiB" in text or f"needs a card of {size / (1 << 20):.2f} MiB" in text for text in answer)


def test_a_vision_transformer_needs_that_card_to_one_granule(dry_run):
    size = sizes(dry_run(TRANSFORMER, "16"))["none"]["card_bytes"]
    assert refusals(dry_run(TRANSFORMER, "16", spec=str(size))) == 0
    assert refusals(dry_run(TRANSFORMER, "16", spec=str(size - GRANULE))) > 0


def on_the_next_smaller_card(dry_run, batch, **settings):
    """Returns (the row of `fit`, a dry run on as much of the card as `fit` counts as usable)."""
    row = sizes(dry_run(TRANSFORMER, batch, spec="32GiB"))["allowed"]
    return row, dry_run(TRANSFORMER, batch, spec=str(row["card_bytes"] // 100 * 98), **settings)


def test_the_next_smaller_card_runs_it_with_as_many_retries_as_fit_says(dry_run):
    row, smaller = on_the_next_smaller_card(dry_run, "172")
    assert row["fits"] is True
    assert refusals(smaller) == row["retry_count"] > 0


def test_the_next_smaller_card_fails_where_fit_says_so(dry_run):
    row, smaller = on_the_next_smaller_card(dry_run, "230", check=False)
    assert row["fits"] is False
    assert smaller.completed.returncode != 0
    assert "out of memory" in smaller.completed.stderr.lower()
