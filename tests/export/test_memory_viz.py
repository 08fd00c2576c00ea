# SPDX-License-Identifier: MIT
"""Tests the export as PyTorch's memory snapshot, which PyTorch's own memory_viz opens."""
import pathlib
import subprocess
import sys

import pytest

from support.run import BUILD, TIMEOUT_S

VIEWER = BUILD / "pytorch/wheel/packages/torch/cuda/_memory_viz.py"
pytestmark = pytest.mark.skipif(not VIEWER.exists(), reason="no wheel of PyTorch; make check-export gets one from PyPI")


def viewed(view, path, *options):
    """Returns the output of PyTorch's viewer for the snapshot. The viewer runs as a separate program."""
    script = "import runpy, sys; sys.path.pop(0); sys.argv.pop(0); runpy.run_path(sys.argv[0], run_name='__main__')"
    return subprocess.run([sys.executable, "-c", script, VIEWER, view, path, *options], capture_output=True, text=True,
                          check=True, timeout=TIMEOUT_S).stdout  # fmt: skip


def test_memory_viz_adds_up_what_is_reserved_and_live(made_trace, export):
    printed = viewed("stats", export("torch-snapshot", made_trace, "--device=0"))
    assert "segments: 1\ntotal_reserved: 100.0MiB\ntotal_allocated: 70.0MiB\ntotal_free: 30.0MiB (0.0% internal)\n" in printed


def test_memory_viz_tells_the_events(made_trace, export):
    printed = viewed("trace", export("torch-snapshot", made_trace))
    assert "raise OutOfMemoryError # 1.0TiB requested" in printed
    assert printed.count("cudaMalloc(") == 2 and printed.count("# free completed") == 2


@pytest.mark.parametrize("view", ["trace_plot", "segment_plot"])
def test_memory_viz_draws_it(made_trace, export, tmp_path, view):
    viewed(view, export("torch-snapshot", made_trace), "-o", str(tmp_path / "page.html"))
    assert "snapshot.pickle" in pathlib.Path(tmp_path / "page.html").read_text()
