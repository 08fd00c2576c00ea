# SPDX-License-Identifier: MIT
"""Finds what check.py needs on a machine: a driver with a card, shared runtimes, a static runtime.

The driver is queried in a separate process (python3 machine.py), so that check.py itself holds no CUDA context.
"""
import ctypes
import glob
import json
import os
import subprocess
import sys

# These folders have runtimes, but the loader does not search them: they belong to the toolkit and to wheels.
PLACES = ["/usr/local/cuda/lib64", "/usr/local/cuda/lib", "/usr/local/cuda-*/lib64",
          "/usr/local/cuda-*/targets/*/lib", "/opt/cuda/lib64", "/usr/lib/*-linux-gnu", "/usr/lib64"]
WHEELS = ["nvidia/cuda_runtime/lib", "nvidia/cu1*/lib"]


def driver():
    """Returns {"name", "version", "simulated", "path"} of the driver and its first card, or {"reason": text}."""
    try:
        library = ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        return {"reason": f"libcuda.so.1 cannot be loaded ({error})"}
    count, version, name = ctypes.c_int(), ctypes.c_int(), ctypes.create_string_buffer(256)
    result = library.cuInit(0)
    if result != 0 or library.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return {"reason": f"the driver finds no GPU (cuInit: {result})"}
    library.cuDriverGetVersion(ctypes.byref(version))
    library.cuDeviceGetName(name, 256, 0)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        path = next(line.split(None, 5)[5].strip() for line in maps if "libcuda.so" in line)
    return {"name": name.value.decode(), "version": version.value, "path": path,
            "simulated": hasattr(library, "gpumemtrace_simulator")}


def ask(environment):
    completed = subprocess.run(
        [sys.executable, __file__], env=environment, stdout=subprocess.PIPE, text=True
    )
    if completed.returncode != 0:
        return {"reason": f"asking for the driver ended with {completed.returncode}"}
    return json.loads(completed.stdout)


def kernel_driver():
    try:
        with open("/sys/module/nvidia/version", encoding="utf-8") as text:
            return text.read().strip()
    except OSError:
        return "unknown"


def find(name, environment):
    """Returns the first file of that name in LD_LIBRARY_PATH or in the folders of PLACES, or None."""
    places = environment.get("LD_LIBRARY_PATH", "").split(":") + PLACES
    places += [os.path.join(path, wheel) for path in sys.path for wheel in WHEELS]
    for place in places:
        found = sorted(glob.glob(os.path.join(place, name))) if place else []
        if found:
            return found[0]
    return None


if __name__ == "__main__":
    print(json.dumps(driver()))
