# SPDX-License-Identifier: MIT
"""When PyTorch runs out of memory, `oom` says whether this counts as a failure (not if a retry succeeded), whether the
program died of it, and the cause."""
import pytest

from support.run import load_json


def run(dry_run, way, **settings):
    return dry_run("out_of_memory.py", way, check=False, **settings)


def ooms(recording):
    return load_json("oom", recording.trace)["oom"]


def test_nine_gib_cached_ten_asked_and_served_is_no_failure(dry_run):
    found = load_json("oom", run(dry_run, "retry").trace)
    (retry,) = found["retries"]
    assert found["oom"] == []
    assert (retry["retries_count"], retry["asked_bytes"], retry["flushed_bytes"]) == (1, 10 << 30, 9 << 30)
    assert retry["frames"][0]["function"]


def test_what_expandable_segments_release_and_map_again_is_no_failure(dry_run):
    found = load_json("oom", run(dry_run, "retry", PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True").trace)
    assert found["oom"] == [] and len(found["retries"]) <= 1


@pytest.mark.parametrize(
    "way, kind",
    [("fatal", "fatal"), ("caught", "caught"), ("handled_at_the_end", "caught"), ("aborted", "fatal"), ("backward", "caught")],
)
def test_one_exception_is_one_failure_of_that_kind(dry_run, way, kind):
    (oom,) = ooms(run(dry_run, way))
    assert (oom["kind"], oom["layer"], oom["verdict"]) == (kind, "pool", "exhausted")
    assert [refusal["api"] for refusal in oom["refusals"]] == ["cudaMalloc", "cudaMalloc", "pool"]


@pytest.mark.parametrize(
    "way, verdict, layer",
    [("fraction", "limit", "pool"), ("outside", "outside", "pool"), ("cached", "cached", "driver"), ("stream", "cached", "pool")],
)
def test_the_verdict_is_the_scripts_cause(dry_run, way, verdict, layer):
    (oom,) = ooms(run(dry_run, way))
    assert (oom["verdict"], oom["layer"]) == (verdict, layer)
    assert sum(term["bytes"] for term in oom["sum"]) == 16 << 30


def test_what_a_graph_keeps_in_its_private_pool_is_neither_idle_nor_fragmented(dry_run):
    (oom,) = ooms(run(dry_run, "graph"))
    assert (oom["verdict"], oom["graph_bytes"]) == ("exhausted", 8 << 30)
    assert oom["idle_bytes"] <= 2 << 20  # what is left of a segment for small tensors
    assert {term["term"]: term["bytes"] for term in oom["sum"]}["graphs"] == 8 << 30


@pytest.mark.parametrize("way, start", [("fatal", "Out of memory, and the program died: "), ("caught", "Out of memory, caught: ")])
def test_the_report_opens_with_the_line_that_asked(dry_run, way, start):
    report = load_json("report", run(dry_run, way).trace)
    assert report["answer"][0].startswith(start + "out_of_memory.py:14 new asked for 1.00 GiB")
    assert report["next"].startswith("gpumemtrace oom ")


def test_a_memory_fraction_that_a_call_set_is_named_with_its_bytes(dry_run):
    (oom,) = ooms(run(dry_run, "fraction"))
    assert (oom["verdict"], oom["limit_bytes"]) == ("limit", 8 << 30)
    assert "limit is 8.00 GiB, 0.5 of the card" in oom["explanation"]


def test_other_processes_are_counted_by_the_nvml_that_pytorch_asks(dry_run):
    (oom,) = ooms(run(dry_run, "fatal", spec="16GiB,others=3GiB"))
    terms = {term["term"]: (term["bytes"], term["source"]) for term in oom["sum"]}
    assert (oom["verdict"], terms["others"], terms["context"]) == ("others", (3 << 30, "NVML"), (300 << 20, "NVML"))
