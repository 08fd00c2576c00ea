# SPDX-License-Identifier: MIT
"""What a dry run cannot know is said where its figures are."""
import pytest

from support.run import load_json
from support.tracefile import MIB, Trace


def write_trace(path, library, **meta):
    trace = Trace(path, **meta)
    trace.rows["module"].append((1, f"/opt/torch/lib/{library}", None, 0x1000, 0x1000, 0x2000))
    trace.alloc(MIB)
    trace.write()


def warnings(path, library, **meta):
    write_trace(path, library, **meta)
    return [w for w in load_json("report", path)["warnings"] if "dry run" in w]


def test_the_report_of_pytorchs_dry_run_says_what_it_does_not_know(tmp_path):
    (warning,) = warnings(tmp_path / "trace.db", "libc10_cuda.so.2.6", simulated=1)
    for part in ("values are zeros", "inside kernels", "NCCL", "cuBLAS and cuDNN"):
        assert part in warning


def test_the_text_says_it_once_in_the_heading_at_the_end(gpumemtrace, tmp_path):
    write_trace(tmp_path / "trace.db", "libc10_cuda.so", simulated=1)
    text = gpumemtrace("report", tmp_path / "trace.db").stdout
    assert text.count("a dry run:") == 1
    assert text.index("a dry run:") > text.index("\nMemory ")


@pytest.mark.parametrize("simulated", [1, 0])
def test_the_ledger_of_a_dry_run_says_that_the_context_is_assumed(gpumemtrace, tmp_path, simulated):
    trace = Trace(tmp_path / "trace.db", simulated=simulated)
    trace.rows["device"] = [(0, None, None, 16384 * MIB, 16000 * MIB)]
    trace.alloc(MIB)
    text = " ".join(gpumemtrace("ledger", trace.write()).stdout.split())
    assert ("what the context takes is assumed" in text) is bool(simulated)


def test_a_recording_on_a_card_has_no_such_warning(tmp_path):
    assert warnings(tmp_path / "trace.db", "libc10_cuda.so", simulated=0) == []


def test_a_dry_run_without_pytorch_has_no_such_warning(tmp_path):
    assert warnings(tmp_path / "trace.db", "libcuda.so.1", simulated=1) == []
