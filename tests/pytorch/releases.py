# SPDX-License-Identifier: MIT
"""`make check-releases`: installs plain wheels of PyTorch from PyPI, without NVIDIA's packages, one at a time. Runs
each wheel in a dry run and deletes it. The replay's figures are compared with PyTorch's own counters and snapshot.

RELEASES="2.0.1 2.6.0" tries only these releases; WRITE=1 writes the table to doc/simulator.md. Exits 1 if a release
that should work does not work. A release is skipped only if PyPI cannot be reached."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from support.outcome import Outcome
from support.pip import Unreachable, pinned, pip
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, load_json

PAGE = ROOT / "doc/simulator.md"
HEAD = "| release | CUDA | dry run | peak allocated, reserved: PyTorch's own | replay |\n|---|---|---|---|---|\n"
# The libc10_cuda.so of these releases contains NVIDIA's static runtime, so nothing can be recorded. The recorder says
# this in one line.
STATIC = ("1.13.",)


def try_release(release, packages, folder):
    """Returns (row of the table, fault or None)."""
    pip("install", "--no-deps", "--no-compile", "--no-cache-dir", "--target", folder / "torch", f"torch=={release}")
    trace = folder / "trace.db"
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", "-o", trace, "--dry-run=16GiB", "--",
         sys.executable, ROOT / "tests/pytorch/scripts/release.py"],
        env=clean_environment(PYTHONPATH=f"{folder / 'torch'}:{packages}", PYTHONDONTWRITEBYTECODE="1"),
        capture_output=True, text=True, timeout=TIMEOUT_S, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return judge(release, completed, trace)


def judge(release, completed, trace):
    said = {}
    lines = completed.stdout.splitlines()
    if completed.returncode == 0 and lines:
        said = json.loads(lines[-1])
    if release.startswith(STATIC):
        named = "linked in statically" in completed.stderr
        return [release, said.get("cuda", ""), "NVIDIA's static runtime: a line says so", "", ""], None if named else "no line says why"
    if "allocated_peak" not in said:
        reason = (completed.stderr.strip().splitlines() or ["no words"])[-1]
        return [release, said.get("cuda", ""), "fails: " + reason[:100], "", ""], reason
    pool = load_json("report", trace)["devices"][0]["pools"][0]
    own = [said["allocated_peak"], said["reserved_peak"], said["allocated"]]
    replay = [pool["peak_live_bytes"], pool["peak_reserved_bytes"], pool["live_at_exit_bytes"]]
    same = own == replay
    row = [release, said["cuda"], "trains", f"{own[0]:,} B, {own[1]:,} B", "equal" if same else f"{replay[0]:,} B, {replay[1]:,} B"]
    return row, None if same else f"PyTorch says {own} (peaks, allocated at the end), the replay {replay}"


def write(rows):
    """Writes the rows to doc/simulator.md; keeps the rows of releases that were not tried this time."""
    before, _, rest = PAGE.read_text().partition(HEAD)
    old = re.match(r"(\|.*\n)*", rest).group()
    kept = {line.split("|")[1].strip(): line + "\n" for line in old.splitlines()}
    kept.update({row[0]: f"| {' | '.join(row)} |\n" for row in rows})
    order = sorted(kept, key=lambda release: [int(part) for part in release.split(".")])
    PAGE.write_text(before + HEAD + "".join(kept[release] for release in order) + rest[len(old) :])


def main():
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as packages:
        for release in os.environ.get("RELEASES", "").split() or pinned("pytorch_releases"):
            try:
                # numpy is not among these packages, because no release of PyTorch needs it, and no version of numpy
                # works with all releases.
                if not os.listdir(packages):
                    pip("install", "--no-deps", "--target", packages, *pinned("pytorch_imported_packages"))
                with tempfile.TemporaryDirectory() as folder:
                    row, fault = try_release(release, packages, pathlib.Path(folder))
            except Unreachable as unreachable:
                outcome.skipped(release, unreachable)
                continue
            except RuntimeError as error:
                outcome.failed(release, error)
                continue
            if os.environ.get("WRITE"):
                write([row])
            if fault:
                outcome.failed(release, fault)
            else:
                outcome.passed("check-releases: " + ", ".join(word for word in row if word))
    return outcome.finish()


if __name__ == "__main__":
    sys.exit(main())
