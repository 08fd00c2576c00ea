# SPDX-License-Identifier: MIT
"""`make check-field`: other frameworks in dry runs, each installed without dependencies that are not pinned, tried and deleted
before the next. FIELD="numba_cuda cupy" tries these and no others. Exit 1: a row of doc/simulator.md is no longer true. Where no
wheel can be had it says so, and that is no failure."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from support.published import OFF_RATIO, TORCHTITAN_GIB
from support.run import BUILD, ROOT, clean_environment, load_json, run_command

PINNED = (ROOT / ".ci/versions").read_text()
SCRIPTS = ROOT / "tests/field/scripts"
TIMEOUT_S = 600
STATIC = "has NVIDIA's runtime linked in statically"

# {name: (what it prints last, what the dry run says; None: its trace has device memory)}
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
    "jax": ("done on cpu", "no CUDA call was recorded"),
}


def pinned(name):
    found = re.search(rf'^field_{name}="([^"]*)"', PINNED, re.MULTILINE)
    return found.group(1).split() if found else []


def install(folder, name):
    """In an environment of its own, as people do: libraries of wheels are looked for beside its packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "venv"], check=True)
    command = [sys.executable, "-m", "pip", "--python", folder / "venv/bin/python", "install", "-q", "--disable-pip-version-check"]
    command.append("--no-deps")
    source = pinned(f"{name}_source")
    if subprocess.run([*command, *pinned(name)], check=False).returncode:
        return False
    # Its build imports PyTorch, whose libraries of NVIDIA are not there.
    build = {**os.environ, "DS_BUILD_OPS": "0", "LD_LIBRARY_PATH": str(BUILD / "simulator")}
    return not source or not subprocess.run([*command, "--no-build-isolation", "--no-binary=:all:", *source], env=build, check=False).returncode


def try_one(folder, name):
    """What is wrong; None: nothing."""
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
    """RMM's own log, imported, beside what RMM counted: what is wrong; None: nothing."""
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
    """The sample's compiled rows beside what torchtitan published: what is wrong; None: nothing."""
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


# What is compared beside the row.
COMPARED = {"rmm": compare_log, "triton": compare_llama}


def main():
    wrong = []
    for name in os.environ.get("FIELD", "").split() or ROWS:
        with tempfile.TemporaryDirectory(prefix=f"field-{name}-") as folder:
            if not install(pathlib.Path(folder), name):
                print(f"check-field: {name}: skipped: PyPI cannot be reached, or has not what .ci/versions names")
                continue
            reason = try_one(pathlib.Path(folder), name) or COMPARED.get(name, lambda _: None)(pathlib.Path(folder))
        print(f"check-field: {name}: {reason or 'as the manual says'}", flush=True)
        if reason:
            wrong.append(name)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
