# SPDX-License-Identifier: MIT
"""One rank of many that runs alone (`run --rank=K/N`) allocates the same memory as when all ranks run."""
import subprocess

import pytest

from support.pytorch_builds import BYTECODE
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, run_command
from test_pytorch_dry_run import looked

SCRIPT = ROOT / "tests/job/rank_alone.py"


def run_alone(build, folder, rank, what):
    return subprocess.run(
        [BUILD / "gpumemtrace", "run", "--stacks=none", "-o", folder / "alone.db", "--dry-run=16GiB", f"--rank={rank}", "--",
         build.python, SCRIPT, what],
        env=clean_environment(ALONE=1, **BYTECODE), stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
        cwd=folder, check=False)  # fmt: skip


@pytest.mark.parametrize("what", ["ddp", "fsdp"])
def test_rank_0_of_4_alone_allocates_byte_for_byte_what_it_does_among_four(dry_run, torch_build, tmp_path, what):
    among = looked(dry_run(SCRIPT, "--ranks=4", what, spec="4x16GiB", GPUMEMTRACE_STACKS="none"))
    completed = run_alone(torch_build, tmp_path, "0/4", what)
    assert completed.returncode == 0, completed.stderr
    assert looked(type("Run", (), {"completed": completed})) == among
    assert len(among["took"]) > 100 and among["said"] == 4


def test_rank_0_gathers_its_own_values_from_all_ranks_and_scatters_objects(torch_build, tmp_path):
    completed = run_alone(torch_build, tmp_path, "0/3", "coordinates")
    assert completed.returncode == 0, completed.stderr
    seen = looked(type("Run", (), {"completed": completed}))
    assert seen == [[[5, 7]] * 3, [{"rank": 0}] * 3, [{"to": 0}], ["said"]]


def test_rank_0_saves_its_own_shards(torch_build, tmp_path):
    completed = run_alone(torch_build, tmp_path, "0/4", "checkpoint")
    assert completed.returncode == 0, completed.stderr
    assert sorted(path.name for path in (tmp_path / "saved").iterdir()) == [".metadata", "__0_0.distcp"]


@pytest.mark.parametrize("what, named", [("gloo", "a gloo group of 128 ranks"), ("key", "theirs'"),
                                         ("scatter", "scatter_object_list asks for an object of another rank"),
                                         ("checkpoint", "scatter_object_list asks for an object of another rank")])
def test_what_another_rank_would_have_to_say_ends_in_one_line_that_names_it(torch_build, tmp_path, what, named):
    completed = run_alone(torch_build, tmp_path, "5/128", what)
    lines = [line for line in completed.stderr.splitlines() if line.startswith("gpumemtrace: --rank=5/128: ")]
    assert completed.returncode == 1 and "Traceback" not in completed.stderr
    assert len(lines) == 1 and named in lines[0]


@pytest.mark.parametrize("rank", ["4/4", "x/4", "1", "-1/2", "0/0"])
def test_what_is_no_rank_is_refused(rank):
    completed = run_command("run", "--dry-run=16GiB", f"--rank={rank}", "--", "true")
    assert completed.returncode == 2 and "is not a rank" in completed.stderr


def test_one_rank_is_not_started_by_torchrun():
    completed = run_command("run", "--dry-run=16GiB", "--rank=0/4", "--", "torchrun", "train.py")
    assert completed.returncode == 2 and "torchrun starts several" in completed.stderr
