# SPDX-License-Identifier: MIT
"""`diff` and `check` name the guilty line of each change of tests/diff. The changed script lies in a folder with
another name."""
import json
import shutil
import subprocess

import pytest

from support.pytorch_builds import SCRIPTS
from support.run import ROOT, TIMEOUT_S, load_json, run_command

CHANGES = ROOT / "tests/diff"


def names_of(kind):
    return sorted(path.stem for path in (CHANGES / kind).glob("*.patch"))


def read_head(patch):
    """Returns {"Change": …, "Script": …, "Guilty": …}, read from the lines above the patch."""
    head = patch.read_text().split("\n\n", 1)[0]
    return dict(line.split(": ", 1) for line in head.splitlines())


@pytest.fixture
def change(dry_run, tmp_path):
    """Returns change(kind, name), which returns (trace before, trace after, guilty line or None)."""

    def make(kind, name):
        patch = CHANGES / kind / f"{name}.patch"
        head = read_head(patch)
        script, *arguments = head["Script"].split()
        folder = tmp_path / "elsewhere" / "renamed"
        folder.mkdir(parents=True)
        for file in (script, "moments.py"):
            shutil.copy(SCRIPTS / file, folder)
        subprocess.run(["patch", "-p1", "-s", "-i", patch], cwd=folder, check=True, timeout=TIMEOUT_S)
        before, after = dry_run(script, *arguments).trace, dry_run(folder / script, *arguments).trace
        return before, after, head.get("Guilty")

    return make


def place(row):
    return f"{row['file']}:{row['line']}"


def sums_up(device):
    return sum(row["delta_bytes"] for row in device["sites"]) == device["delta_bytes"]


@pytest.mark.parametrize("name", names_of("grown"))
def test_the_first_row_of_a_change_that_holds_more_is_the_line_to_blame(change, name):
    before, after, guilty = change("grown", name)
    (device,) = load_json("diff", before, after)["devices"]
    assert place(device["sites"][0]) == guilty
    assert sums_up(device)
    (back,) = load_json("diff", after, before)["devices"]
    assert sums_up(back) and back["delta_bytes"] == -device["delta_bytes"]
    completed = run_command("check", after, f"--baseline={before}", "--tolerance=0.5%", "--json")
    assert completed.returncode == 1
    (device,) = json.loads(completed.stdout)["devices"]
    assert place(device["grown"][0]) == guilty
    kept = after.parent / "memory.json"
    assert run_command("check", before, f"--write-baseline={kept}").returncode == 0
    completed = run_command("check", after, f"--baseline={kept}", "--tolerance=0.5%", "--json")
    assert completed.returncode == 1
    ((row, *_),) = [device["grown"] for device in json.loads(completed.stdout)["devices"]]
    assert place(row) == guilty


@pytest.mark.parametrize("name", names_of("same"))
def test_a_change_that_holds_nothing_more_has_no_rows_and_passes(change, name):
    before, after, _ = change("same", name)
    (device,) = load_json("diff", before, after)["devices"]
    assert device["sites"] == []
    assert run_command("check", after, f"--baseline={before}", "--tolerance=0%").returncode == 0


def test_every_change_is_of_one_of_the_two_kinds():
    kinds = {kind: len(names_of(kind)) for kind in ("grown", "same")}
    assert min(kinds.values()) >= 10
    assert len(list(CHANGES.rglob("*.patch"))) == sum(kinds.values())
