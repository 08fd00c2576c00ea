# SPDX-License-Identifier: MIT
"""A context grows when kernels are used for the first time, and no call reports this growth. The recorder asks the card
for its free memory often enough to see the growth."""
import pytest

from support.run import load_json

MIB = 1 << 20
CONTEXT, CODE = 300 * MIB, 30 * MIB
SPEC = "16GiB,context=300MiB"


def looks(recording):
    return recording.rows("SELECT count(*) FROM event JOIN event_kind USING (kind) WHERE name = 'device-memory'")[0][0]


def test_the_ledger_at_the_peak_names_what_the_context_grew_by(record, program):
    (device,) = load_json("ledger", record(program("context_growth"), "grows", spec=SPEC).trace)["devices"]
    for moment in device["moments"]:
        assert {term["owner"]: term["bytes"] for term in moment["terms"]} == {
            "program": 3072 * MIB, "context": CONTEXT, "growth": CODE,
        }  # fmt: skip
        assert moment["unaccounted_bytes"] == 0


def test_the_card_that_fit_names_runs_it_and_one_granule_less_does_not(record, program):
    grows = program("context_growth"), "grows"
    (device,) = load_json("fit", record(*grows, spec=SPEC).trace)["devices"]
    size = device["fit"][0]["card_bytes"]
    assert size == 3072 * MIB + CONTEXT + CODE
    runs = [record(*grows, spec=f"{card},context=300MiB", name=f"{card}.db", check=False) for card in (size, size - 2 * MIB)]
    assert [run.completed.returncode for run in runs] == [0, 1]


@pytest.mark.parametrize("way, most", [("rises", 64), ("loops", 140)])
def test_a_card_is_asked_for_each_64th_of_it_and_seldom_where_no_new_high_comes(record, program, way, most):
    assert most / 4 < looks(record(program("context_growth"), way, spec=SPEC)) <= most
