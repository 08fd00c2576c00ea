# SPDX-License-Identifier: MIT
"""Compares PyTorch's own counters with the recording, as make check-gpu does on a real card."""
import json

import pytest

from support import matrix
from support.run import ROOT


@pytest.mark.parametrize("program", ["torch", "torch-expandable"])
def test_what_pytorch_reserves_is_what_is_recorded(dry_run, program):
    recording = dry_run(ROOT / "tests/gpu/counters.py", program)
    told = json.loads(recording.completed.stdout.splitlines()[-1])
    recorded = matrix.live_change(matrix.read_rows(recording.trace))
    assert recorded == told["own_bytes"] == told["driver_bytes"] > 0
