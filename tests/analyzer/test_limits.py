# SPDX-License-Identifier: MIT
"""What reading a trace may take: memory grows with what is different in a file, not with how often it is named."""
import os
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, clean_environment
from support.tracefile import MIB, Trace

sanitized = pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own memory is larger")


def resident_mib(*arguments):
    """The most memory that the command ever used, or that this process did before it became the command."""
    process = subprocess.Popen(
        [BUILD / "gpumemtrace", *map(str, arguments)], env=clean_environment(),
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
    )  # fmt: skip
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.stderr.close()
    assert (os.waitstatus_to_exitcode(status), said) == (0, b"")
    return usage.ru_maxrss / 1024


@sanitized
def test_a_live_call_stack_takes_little_memory_in_json(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    outer = [("/home/me/train.py", 100 + depth, f"level{depth}") for depth in range(6)]
    for line in range(20_000):
        trace.alloc(MIB, stack=trace.stack(("/home/me/model.py", line, "Layer.forward"), *outer))
    assert resident_mib("peak", "--json", trace.write()) < 90


@sanitized
def test_a_long_text_is_kept_once_however_many_stacks_show_it(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for line in range(300):
        trace.alloc(MIB, stack=trace.stack(("a.py", line, "x" * 900_000)))
    assert resident_mib("report", "--json", trace.write()) < 90
