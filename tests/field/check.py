# SPDX-License-Identifier: MIT
"""`make check-field`: installs other frameworks one at a time, with pinned dependencies only, runs each framework in a
dry run and deletes it. FIELD="numba_cuda cupy" tries only these two. Exits 1 if a row of doc/simulator.md is no longer
true. A framework is skipped only if PyPI cannot be reached."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from support.outcome import Outcome
from support.pip import Unreachable, pinned, pip
from support.published import OFF_RATIO, TORCHTITAN_GIB
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, load_json, run_command

SCRIPTS = ROOT / "tests/field/scripts"
STATIC = "has NVIDIA's runtime linked in statically"

# {name: (end of the script's output, text that the dry run must print; None: the trace must have device memory)}
ROWS = {
    "numba_cuda": ("done", None),
    "triton": ("done", None),
    "lightning": ("done", None),
    "onnxruntime": ("done", None),
    "trl": ("done", None),
    "vllm": ("done", None),
    "deepspeed": ("done", None),
    "cupy": ("", STATIC),
    "rmm": ("", STATIC),
    "monitors": ("done", "no CUDA call was recorded"),
    "jax": ("done on cpu", "no CUDA call was recorded"),
}


def install(folder, name):
    """Installs into a virtual environment, as users do, because the libraries of a wheel are searched beside its
    packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    install = ("--python", folder / "venv/bin/python", "install", "--no-deps")
    pip(*install, *pinned(f"field_{name}"))
    if pinned(f"field_{name}_source"):
        # The build imports PyTorch, which needs NVIDIA's libraries; the simulator's stand-ins replace them.
        build = {**os.environ, "DS_BUILD_OPS": "0", "LD_LIBRARY_PATH": str(BUILD / "simulator")}
        pip(*install, "--no-build-isolation", "--no-binary=:all:", *pinned(f"field_{name}_source"), environment=build)


def try_one(folder, name):
    """Tries one framework. Returns the fault as a text, or None if the row is true."""
    last, says = ROWS[name]
    trace = folder / "trace.db"
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", "--dry-run=h100", "-o", trace, "--", folder / "venv/bin/python",
         SCRIPTS / f"use_{name}.py"],
        env=clean_environment(HOME=folder), cwd=folder, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if not completed.stdout.endswith(f"{last}\n" if last else ""):
        return f"printed {completed.stdout[-200:]!r}; {completed.stderr[-600:]}"
    if says:
        return None if says in completed.stderr else f"does not say {says!r}: {completed.stderr[-600:]}"
    if not any(device["driver"]["peak_bytes"] for device in load_json("report", trace)["devices"]):
        return "recorded no device memory"
    return None


def compare_log(folder):
    """Compares the import of RMM's log with RMM's own counts. Returns the fault as a text, or None."""
    python, trace = folder / "venv/bin/python", folder / "log.db"
    told = json.loads(subprocess.run([python, ROOT / "tests/imports/log_of_rmm.py"], cwd=folder, capture_output=True, text=True,
                                     timeout=TIMEOUT_S, check=True).stdout)  # fmt: skip
    completed = run_command("import", "-o", trace, told.pop("log"))
    if completed.returncode:
        return completed.stderr
    (pool,) = load_json("report", trace)["devices"][0]["pools"]
    found = {key: pool[key] for key in told}
    return None if found == told else f"its log, imported, says {found}; it counted {told}"


def compare_llama(folder):
    """Compares the sample's compiled rows with torchtitan's published figures. Returns the fault as a text, or None."""
    trace = folder / "llama.db"
    for (rank, compiled), published in TORCHTITAN_GIB.items():
        if not compiled:
            continue
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "run", "--dry-run=95GiB", f"--rank={rank}", "-o", trace, "--", folder / "venv/bin/python",
             ROOT / "samples/fsdp_llama.py", "--compile", "--steps=2"],
            env=clean_environment(HOME=folder, TORCHINDUCTOR_CACHE_DIR=folder / rank.replace("/", "of")), cwd=folder,
            stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
        if completed.returncode:
            return f"rank {rank} of a compiled Llama: {completed.stderr[-600:]}"
        (pool,) = load_json("report", trace)["devices"][0]["pools"]
        found = pool["peak_reserved_bytes"] / 2**30
        if abs(found - published) > OFF_RATIO * published:
            return f"rank {rank} of a compiled Llama reserves {found:.2f} GiB; published are {published}"
        print(f"check-field: rank {rank} of a compiled Llama reserves {found:.2f} GiB, published {published}", flush=True)
    return None


# {framework: function that compares more than the row}
COMPARED = {"rmm": compare_log, "triton": compare_llama}


def main():
    outcome = Outcome()
    for name in os.environ.get("FIELD", "").split() or ROWS:
        with tempfile.TemporaryDirectory(prefix=f"field-{name}-") as folder:
            try:
                install(pathlib.Path(folder), name)
                reason = try_one(pathlib.Path(folder), name) or COMPARED.get(name, lambda _: None)(pathlib.Path(folder))
            except Unreachable as unreachable:
                outcome.skipped(name, unreachable)
                continue
            except RuntimeError as error:
                reason = error
        if reason:
            outcome.failed(name, reason)
        else:
            outcome.passed(f"check-field: {name}: as the manual says")
    return outcome.finish()


if __name__ == "__main__":
    sys.exit(main())
