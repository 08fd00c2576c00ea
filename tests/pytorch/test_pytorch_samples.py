# SPDX-License-Identifier: MIT
"""The samples written in PyTorch say the same as their recordings."""
import re

from support.run import ROOT

# A model of 1.4 million parameters, which takes every path of the large one.
SMALL = ("--layers=2", "--hidden=256", "--heads=4", "--kv-heads=2", "--ffn=512", "--vocabulary=1000", "--sequence=128",
         "--steps=2")
COUNTED = re.compile(r"own count: (\d+) bytes allocated, (\d+) reserved")


def test_a_rank_of_a_sharded_llama_peaks_at_what_pytorch_counts(dry_run):
    recording = dry_run(ROOT / "samples/fsdp_llama.py", "--fake-ranks=8", *SMALL)
    allocated, reserved = map(int, COUNTED.search(recording.completed.stdout).groups())
    (pool,) = recording.report()["devices"][0]["pools"]
    assert pool["peak_live_bytes"] == allocated > 0
    assert pool["peak_reserved_bytes"] == reserved > allocated
