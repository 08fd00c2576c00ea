# SPDX-License-Identifier: MIT
"""The real PyTorch in a dry run: each test runs on every build that `make check-pytorch` could get."""
import os
import pathlib
import subprocess

import pytest

from conftest import BUILD, Recording, clean_environment

SCRIPTS = pathlib.Path(__file__).parent / "scripts"
TIMEOUT_S = 600


class Build:
    """One build of PyTorch: its folder and the launcher in it."""

    def __init__(self, name):
        self.name = name
        self.folder = BUILD / "pytorch" / name
        self.python = self.folder / "python"

    def missing(self):
        reason = self.folder / "missing"
        if self.python.exists():
            return None
        return reason.read_text().strip() if reason.exists() else "make check-pytorch makes it"


@pytest.fixture(params=["debian", "wheel"])
def torch_build(request):
    build = Build(request.param)
    if build.missing():
        pytest.skip(f"PyTorch's build '{build.name}' is not there: {build.missing()}")
    return build


@pytest.fixture
def dry_run(torch_build, tmp_path):
    """dry_run(script, *arguments) runs it as anyone would: a Recording. A script without a slash is one
    of tests/pytorch/scripts."""

    def run(script, *arguments, spec="16GiB", check=True, name="trace.db", **environment):
        script = SCRIPTS / script if "/" not in str(script) else script
        trace = tmp_path / name
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "run", "-o", trace, f"--dry-run={spec}", "--",
             torch_build.python, script, *map(str, arguments)],
            env=clean_environment(PYTHONDONTWRITEBYTECODE=1, **environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=tmp_path,
        )
        if check:
            assert completed.returncode == 0, completed.stdout + completed.stderr
        return Recording(completed, trace)

    return run
