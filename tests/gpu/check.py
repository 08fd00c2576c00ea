# SPDX-License-Identifier: MIT
"""make check-gpu: the recorder on a real driver and NVIDIA's own runtime.

Runs the program that keeps its own books through every way to the driver and compares its books with
the report. Without a GPU, or without a CUDA 13 runtime, it says so and exits 77.
"""
import ctypes
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = pathlib.Path(os.environ.get("GPUMEMTRACE_BUILD", ROOT / "build")).resolve()
WAYS = ("runtime", "linked", "dlopen", "lookup")


def skip(reason):
    print(f"check-gpu: skipped: {reason}")
    sys.exit(77)


def open_library(name):
    try:
        return ctypes.CDLL(name)
    except OSError as error:
        return skip(f"{name} cannot be loaded ({error})")


def describe_machine():
    driver = open_library("libcuda.so.1")
    if driver.cuInit(0) != 0:
        skip("the driver finds no GPU")
    version, name = ctypes.c_int(), ctypes.create_string_buffer(256)
    driver.cuDriverGetVersion(ctypes.byref(version))
    driver.cuDeviceGetName(name, 256, 0)
    open_library("libcudart.so.13")
    print(f"check-gpu: {name.value.decode()}, driver API {version.value}")


def check(way, folder):
    trace = pathlib.Path(folder) / f"{way}.db"
    environment = {
        **os.environ,
        "LD_PRELOAD": str(BUILD / "libgpumemtrace.so"),
        "GPUMEMTRACE_OUTPUT": str(trace),
        "GPUMEMTRACE_QUIET": "1",
    }
    program = [str(BUILD / "tests/random_allocations"), way, "4", "20000", "1"]
    completed = subprocess.run(program, env=environment, capture_output=True, text=True)
    if completed.returncode != 0:
        return f"exit {completed.returncode}: {completed.stderr.strip()}"
    books = json.loads(completed.stdout)
    report = json.loads(
        subprocess.run(
            [str(BUILD / "gpumemtrace"), "report", str(trace), "--json"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
    )
    layer = report["devices"][0]["driver"]
    wrong = {key: (layer[key], value) for key, value in books.items() if layer[key] != value}
    if report["trace"]["lost_events"] or not report["trace"]["complete"]:
        wrong["trace"] = report["trace"]
    return f"report and books differ: {wrong}" if wrong else None


def main():
    describe_machine()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for way in WAYS:
            problem = check(way, folder)
            failed += problem is not None
            print(f"  {way:<8} {problem or 'the report equals the books'}")
    print(f"{len(WAYS) - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
