# SPDX-License-Identifier: MIT
"""The stand-in for cuBLAS does not disturb the program's own runtime."""
import json

from support.run import clean_environment, run_command

ASKS = """
import ctypes, json
cuda, cublas = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcublas.so.13")
handle = ctypes.c_void_p()
print(json.dumps([cublas.cublasCreate_v2(ctypes.byref(handle)), cuda.cudaGetLastError()]))
"""
ALLOC_FAILED = 3


def test_a_refused_handle_is_not_the_programs_last_error(tmp_path):
    completed = run_command("run", "-o", tmp_path / "trace.db", "--dry-run=h100", "--", "/usr/bin/python3", "-c", ASKS,
                            env=clean_environment(GPUMEMTRACE_SIM_FAULT="cudaMalloc:1=2"), cwd=tmp_path)  # fmt: skip
    assert completed.returncode == 0, completed.stderr
    assert json.loads(completed.stdout.splitlines()[-1]) == [ALLOC_FAILED, 0]
