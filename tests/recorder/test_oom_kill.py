# SPDX-License-Identifier: MIT
"""A program that the kernel really kills because its memory cgroup is full, where this user may make one."""
import os
import pathlib
import subprocess
import sys

import pytest

from support.run import BUILD, TIMEOUT_S, clean_environment

MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
PROGRAM = """
import ctypes
CUDA = ctypes.CDLL("libcudart.so.12")
CUDA.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 20))
kept = bytearray(200 << 20)
"""


@pytest.fixture
def cgroup():
    folder = MEMORY / f"gpumemtrace-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        pytest.skip(f"no memory cgroup of version 1 can be made here: {error}")
    try:
        (folder / "memory.limit_in_bytes").write_text(str(64 << 20))
        yield folder
    finally:
        folder.rmdir()


def test_run_says_that_the_kernel_killed_the_program_for_host_memory(cgroup, tmp_path):
    command = [BUILD / "gpumemtrace", "run", "-o", tmp_path / "trace.db", "--dry-run=16GiB", "--", sys.executable, "-c", PROGRAM]
    joined = ["sh", "-c", f'echo $$ > {cgroup}/cgroup.procs; exec "$@"', "sh", *map(str, command)]
    done = subprocess.run(joined, env=clean_environment(), capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tmp_path)
    assert done.returncode == 137
    assert "was killed by the kernel's OOM killer" in done.stderr
    assert "oom_kill 1" in (cgroup / "memory.oom_control").read_text()
