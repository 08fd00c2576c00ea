# SPDX-License-Identifier: MIT
"""`make check-releases`: plain wheels of PyTorch from PyPI, without NVIDIA's packages, each unpacked, tried in a dry
run and deleted before the next. What the replay says is compared with PyTorch's own counters and snapshot.

RELEASES="2.0.1 2.6.0" tries these and no others; WRITE=1 puts the table in doc/simulator.md. Exit 1: a release that should
work does not. Where no wheel can be had it says so, and that is no failure."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from support.run import BUILD, ROOT, clean_environment, load_json

PINNED = (ROOT / ".ci/versions").read_text()
PAGE = ROOT / "doc/simulator.md"
HEAD = "| release | CUDA | dry run | peak allocated, reserved: PyTorch's own | replay |\n|---|---|---|---|---|\n"
# Their libc10_cuda.so has NVIDIA's runtime in it: one line says so, and nothing can be recorded.
STATIC = ("1.13.",)
TIMEOUT_S = 1200


def pinned(name):
    return re.search(rf'^{name}="([^"]*)"', PINNED, re.MULTILINE).group(1).split()


def pip(*words):
    command = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check", *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)


def imported(folder):
    """What every release imports; numpy, which it need not, has no release that goes with all of them."""
    done = pip("install", "--no-deps", "--target", folder, *pinned("pytorch_imported_packages"))
    return done.returncode == 0


def try_release(release, packages, folder):
    """A row of the table, and what is wrong with it."""
    done = pip("install", "--no-deps", "--no-compile", "--no-cache-dir", "--target", folder / "torch", f"torch=={release}")
    if done.returncode:
        return [release, "", "not tried: " + (done.stderr.strip().splitlines() or ["pip failed"])[-1][:80], "", ""], None
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
    """Rows of releases that were not tried this time stay."""
    before, _, rest = PAGE.read_text().partition(HEAD)
    old = re.match(r"(\|.*\n)*", rest).group()
    kept = {line.split("|")[1].strip(): line + "\n" for line in old.splitlines()}
    kept.update({row[0]: f"| {' | '.join(row)} |\n" for row in rows})
    order = sorted(kept, key=lambda release: [int(part) for part in release.split(".")])
    PAGE.write_text(before + HEAD + "".join(kept[release] for release in order) + rest[len(old) :])


def main():
    releases = os.environ.get("RELEASES", "").split() or pinned("pytorch_releases")
    wrong = []
    with tempfile.TemporaryDirectory() as packages:
        if not imported(packages):
            print("check-releases: skipped: PyPI cannot be reached, or has not what .ci/versions names")
            return 0
        for release in releases:
            with tempfile.TemporaryDirectory() as folder:
                row, fault = try_release(release, packages, pathlib.Path(folder))
            print("check-releases:", ", ".join(word for word in row if word), flush=True)
            if os.environ.get("WRITE") and not row[2].startswith("not tried"):
                write([row])
            if fault:
                wrong.append(f"{release}: {fault}")
    for line in wrong:
        print("check-releases: WRONG:", line)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
