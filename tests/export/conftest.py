# SPDX-License-Identifier: MIT
"""Fixtures: a trace with two devices, a framework's pool and names that could attack a viewer; and exports of this
trace."""
import pytest

from support.run import run_command
from support.tracefile import MIB, Trace

HOSTILE = ["\x1b[31mred", "=1+1", "a;b 7", "x\ny", "snow\u2603 \u202eright", 'say "hi" #1', "<script>", "long" * 2000, "%s%n\\"]


@pytest.fixture
def made_trace(tmp_path):
    """Returns a trace. Device 0 has a pool with 90 MiB live at its peak and 70 MiB at the end. Device 1 has 7 MiB from
    the driver."""
    trace = Trace(tmp_path / "made.db")
    deep = [("model.py", 10 + i, f"layer{i}") for i in range(3)]
    stacks = [trace.stack("malloc", ("evil.py", i, text), *deep) for i, text in enumerate(HOSTILE)]
    segment = trace.alloc(100 * MIB, stack=stacks[0])
    with trace.phase("forward"):
        kept = [trace.tensor(segment + i * 10 * MIB, 10 * MIB, stack=stack) for i, stack in enumerate(stacks)]
        trace.alloc(7 * MIB, device=1, stack=trace.stack(("other.py", 1, "other"), ("main.py", 2, "main")))
    with trace.phase("backward =2"):
        for tensor in kept[:2]:
            trace.free(tensor, "tensor", device=0)
        trace.fail(1 << 40)
    trace.exit()
    trace.write()
    return trace.path


@pytest.fixture
def export(tmp_path):
    """Returns export("pprof", trace, "--at=end"): the path of the file, written without any message."""

    def run(name, trace, *options):
        path = tmp_path / f"export.{name}"
        completed = run_command("export", f"--to={name}", "-o", path, trace, *options)
        assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
        return path

    return run
