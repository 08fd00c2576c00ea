# SPDX-License-Identifier: MIT
"""The kernel kills a program because the memory cgroup of the program is full. The cgroup is of version 1 or, where
that is missing, one that systemd creates."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

from support.run import BUILD, TIMEOUT_S, clean_environment

LIMIT_BYTES = 64 << 20
SCOPE = ["systemd-run", "--user", "--scope", "--quiet", "-p", f"MemoryMax={LIMIT_BYTES}", "-p", "MemorySwapMax=0"]
MEMORY = pathlib.Path("/sys/fs/cgroup/memory")
PROGRAM = """
import ctypes
CUDA = ctypes.CDLL("libcudart.so.12")
CUDA.cudaMalloc(ctypes.byref(ctypes.c_void_p()), ctypes.c_size_t(1 << 20))
kept = bytearray(200 << 20)
"""


def scope_is_possible():
    return shutil.which(SCOPE[0]) and subprocess.run([*SCOPE, "true"], capture_output=True, timeout=TIMEOUT_S).returncode == 0


@pytest.fixture
def limited():
    """Returns the words to put before a command so that it runs with little memory."""
    folder = MEMORY / f"gpumemtrace-test-{os.getpid()}"
    try:
        folder.mkdir()
    except OSError as error:
        if not scope_is_possible():
            pytest.skip(f"neither systemd makes a memory cgroup here, nor this user: {error}")
        yield SCOPE
        return
    try:
        (folder / "memory.limit_in_bytes").write_text(str(LIMIT_BYTES))
        yield ["sh", "-c", f'echo $$ > {folder}/cgroup.procs; exec "$@"', "sh"]
    finally:
        folder.rmdir()


def test_run_says_that_the_kernel_killed_the_program_for_host_memory(limited, tmp_path):
    command = [BUILD / "gpumemtrace", "run", "-o", tmp_path / "trace.db", "--dry-run=16GiB", "--", sys.executable, "-c", PROGRAM]
    done = subprocess.run([*limited, *command], env=clean_environment(), capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tmp_path)
    assert done.returncode == 137
    assert "was killed by the kernel's OOM killer" in done.stderr
