# SPDX-License-Identifier: MIT
"""Free memory of PyTorch's pool that a request may not use: of a MemPool, and blocks that wait for another stream's event."""

import pytest

from support.run import load_json, run_command, sentences_of

GIB = 1 << 30
# PyTorch queries the side stream's event while it allocates the next tensor. This first query returns 600,
# CUDA_ERROR_NOT_READY.
NOT_READY = {"GPUMEMTRACE_SIM_FAULT": "cuEventQuery:1=600"}


def what_if(recording):
    (device,) = load_json("frag", recording.trace, "--what-if=no-cache")["devices"]
    return device["what_if"]


def answer(recording, *command):
    return " ".join(sentences_of(load_json(*command, recording.trace)))


@pytest.mark.parametrize("way", ["kept", "beside", "reused", "shared", "two"])
def test_the_replay_of_mempools_equals_pytorchs_own_figures(way, dry_run):
    recording = dry_run("mempools.py", way)
    for seq, moment in recording.marked_moments():
        (device,) = load_json("peak", recording.trace, f"--at={seq}")["devices"]
        live = [row["live_bytes"] for row in device["moments"] if row["layer"] == "pool"] or [0]
        assert (moment["note"], live) == (moment["note"], [moment["devices"][0]["allocated"]])


@pytest.mark.parametrize("way, asked_gib", [("kept", 10), ("two", 9)])
def test_what_a_mempool_keeps_is_idle_and_out_of_reach_and_said_to_be_perhaps_a_mempools(way, asked_gib, dry_run):
    recording = dry_run("mempools.py", way)
    (oom,) = recording.report()["oom"]
    assert (oom["asked_bytes"], oom["idle_bytes"]) == (asked_gib * GIB, 8 * GIB)
    assert (oom["verdict"], oom["kind"]) == ("cached", "caught")
    assert "8.00 GiB lay idle in whole segments" in oom["explanation"] and "as with a MemPool" in oom["explanation"]
    assert sum(term["bytes"] for term in oom["sum"]) == 16 * GIB


@pytest.mark.parametrize("way", ["kept", "beside", "two"])
def test_no_figure_of_another_setting_is_given_where_a_mempools_memory_serves_nobody_else(way, dry_run):
    recording = dry_run("mempools.py", way)
    assert what_if(recording)["replayed"] is False
    assert what_if(recording)["peak_reserved_bytes"] is None
    assert "MemPool" in answer(recording, "fit") and "is not known" in answer(recording, "fit")


@pytest.mark.parametrize("way", ["reused", "shared"])
def test_a_mempool_whose_memory_is_used_again_changes_no_figure(way, dry_run):
    assert what_if(dry_run("mempools.py", way))["replayed"] is True


def test_empty_cache_is_not_said_to_give_back_what_a_mempool_keeps(dry_run):
    assert "except memory that a MemPool keeps" in answer(dry_run("mempools.py", "beside"), "frag", "--at=end")


def test_the_ledger_counts_what_a_mempool_keeps_as_cached(dry_run):
    (device,) = load_json("ledger", dry_run("mempools.py", "beside").trace, "--at=end")["devices"]
    (moment,) = device["moments"]
    assert {row["owner"]: row["bytes"] for row in moment["terms"]}["pool_cached"] == 8 * GIB
    assert moment["unaccounted_bytes"] == 0


def test_no_figure_of_another_setting_is_given_where_a_tensor_waits_for_an_event(dry_run):
    assert what_if(dry_run("waiting.py", **NOT_READY))["replayed"] is False


def test_an_event_that_is_done_at_once_makes_nothing_wait(dry_run):
    recording = dry_run("waiting.py")
    assert run_command("frag", "--what-if=no-cache", recording.trace).returncode == 0
    assert what_if(recording)["replayed"] is True
