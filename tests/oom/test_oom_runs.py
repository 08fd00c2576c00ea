# SPDX-License-Identifier: MIT
"""Runs of real programs on the simulator that run out of memory for a known cause. Each must get the verdict that a
person who knows the cause would give. The list also has the runs of PyTorch (tests/pytorch/test_pytorch_oom.py).
Made-up traces (test_oom_cases.py) cover all other causes.

    cause                                   verdict      where
    the card is full, and the program dies  exhausted    PyTorch: fatal, aborted
    the same, and it goes on                exhausted    PyTorch: caught, backward, handled_at_the_end
    9 GiB cached, 10 asked and served       a retry      PyTorch: retry
    the same with expandable segments       a retry      PyTorch: retry
    holes between pinned pieces             fragmented   samples/fragment.c, samples/pool.c
    a library beside an idle pool           cached       PyTorch: cached
    a hole of another stream                cached       PyTorch: stream
    a CUDA graph's private pool             exhausted    PyTorch: graph
    10 GiB taken past PyTorch               outside      PyTorch: outside
    a neighbour that took 8 GiB             others       large_neighbour
    set_per_process_memory_fraction         limit        PyTorch: fraction
    a memory pool's maximum                 limit        full_pool
    odd sizes in a pool of the driver's     fragmented   odd_sizes
    an invalid call                         cannot tell  invalid
    pinned memory that the host refuses     cannot tell  pinned
    memory of another process               cannot tell  imported
    700 MiB: the context or a neighbour     cannot tell  small_neighbour
    managed memory, wherever it lies        cannot tell  managed
    a capture forbids cuMemGetInfo          cannot tell  captured
"""
import pytest

from support.run import load_json

GIB = 1 << 30


def only(recording):
    (oom,) = load_json("oom", recording.trace)["oom"]
    return oom


@pytest.fixture
def fails(record, program, tmp_path):
    def run(way):
        recording = record(program("known_causes"), way, GPUMEMTRACE_SIM_SHARED=tmp_path / "card")
        oom = only(recording)
        assert sum(term["bytes"] for term in oom["sum"]) in (0, 16 * GIB)
        return oom

    return run


# (run, verdict, text that the explanation must contain)
CASES = [
    ("invalid", "unknown", "invalid value"),
    ("pinned", "unknown", "host memory was refused"),
    ("imported", "unknown", "Not a lack of memory: the call returned 400"),
    ("small_neighbour", "unknown", "context's growth or other processes hold"),
    ("managed", "unknown", "managed memory (6.00 GiB"),
    ("captured", "unknown", "no free-memory sample (cuMemGetInfo) near the failure"),
    ("large_neighbour", "others", "other processes"),
    ("full_pool", "limit", "a limit of a memory pool"),
    ("odd_sizes", "fragmented", "in pieces that were too small"),
]


@pytest.mark.parametrize("way, verdict, words", CASES, ids=[case[0] for case in CASES])
def test_the_verdict_is_the_cause_that_the_program_has(fails, way, verdict, words):
    oom = fails(way)
    assert (oom["verdict"], oom["kind"]) == (verdict, "caught")
    assert words in oom["explanation"]


def test_the_samples_fragments_are_fragmentation(record, sample):
    for name in ("fragment", "pool"):
        oom = load_json("oom", record(sample(name), name=f"{name}.db").trace)["oom"][-1]
        assert (oom["verdict"], oom["kind"]) == ("fragmented", "caught")


def test_what_the_drivers_pool_took_beyond_the_first_request_is_not_counted_as_the_context(fails):
    """The first request is for 300 KB, and the pool takes 32 MiB for it. The simulator's context has 300 MiB."""
    sizes = {term["term"]: term["bytes"] for term in fails("odd_sizes")["sum"]}
    assert sizes["context"] == 300 << 20 and "growth_or_others" not in sizes
