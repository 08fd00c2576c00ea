# SPDX-License-Identifier: MIT
"""Fixtures that import a file, or check that its import is refused."""
import pytest

from support.run import run_command
from support.tracefile import MIB, Trace


@pytest.fixture
def imported(tmp_path):
    """Returns imported(path, "--from=rmm"): the path of the new trace."""

    def run(path, *options):
        trace = tmp_path / "imported.db"
        completed = run_command("import", "-o", trace, *options, path)
        assert (completed.returncode, completed.stderr) == (0, ""), completed.stderr
        assert not [left.name for left in tmp_path.iterdir() if left.name.startswith("imported.db") and left != trace]
        return trace

    return run


@pytest.fixture
def refused(tmp_path):
    """Returns refused(path): the one-line error. An existing trace stays unchanged, and no other file is left."""

    def run(path, *options):
        folder = tmp_path / "kept"
        folder.mkdir(exist_ok=True)
        trace = Trace(folder / "trace.db")
        trace.alloc(MIB)
        before = trace.written().read_bytes()
        completed = run_command("import", "-o", trace.path, *options, path)
        assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (2, "", 1), completed.stderr
        assert [left.name for left in folder.iterdir()] == ["trace.db"] and trace.path.read_bytes() == before
        return completed.stderr

    return run
