# SPDX-License-Identifier: MIT
"""The samples that push traces at the end of a job: an epilogue of Slurm, and a wrapper for the ranks of torchrun. The
test does the work of both launchers."""
import os
import signal
import subprocess

import pytest

from fleet.job import fleet, run_rank
from support.run import BUILD, ROOT, TIMEOUT_S, run_command, simulator_environment, wait_for

SAMPLES = ROOT / "samples/fleet"


@pytest.fixture
def empty(database):
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    return database


def environment_of(database, **extra):
    return simulator_environment(PATH=f"{BUILD}:{os.environ['PATH']}", FLEET=database.url, **extra)


def wait_for_ranks(database, count):
    """Waits until the database has `count` ranks. The samples push in the background."""
    wait_for(lambda: database.query("SELECT uniqExact(rank) FROM push").strip(), str(count).__eq__, "the ranks")


def test_the_epilogue_pushes_what_ran_on_the_node_also_what_was_killed(empty, tmp_path):
    for number, fault in enumerate(["", "killed", "leak"]):
        run_rank(tmp_path, number, 3, fault).rename(tmp_path / f"rank{number}.4711.db")
        for ring in tmp_path.glob(f"rank{number}.db-*"):
            ring.rename(str(ring).replace(f"rank{number}.db", f"rank{number}.4711.db"))
    settings = tmp_path / "settings"
    settings.write_text(f"FLEET={empty.url}\nFLEET_TRACES={tmp_path}\nFLEET_PUSH=--summary-only\n")
    environment = environment_of(empty, FLEET_SETTINGS=settings, SLURM_JOB_ID="77")
    completed = subprocess.run([SAMPLES / "slurm-epilog"], env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")
    wait_for_ranks(empty, 3)
    document = fleet(empty.url)
    assert document["job"]["run"] == "77" and [row["ended"] for row in document["ranks"]] == ["exit", "killed", "exit"]


def test_the_epilogue_does_nothing_where_no_database_is_named(tmp_path):
    environment = simulator_environment(SLURM_JOB_ID="77", FLEET_SETTINGS=tmp_path / "none")
    completed = subprocess.run([SAMPLES / "slurm-epilog"], env=environment, capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (completed.returncode, completed.stdout, completed.stderr) == (0, "", "")


def test_a_rank_of_torchrun_is_pushed_whatever_its_end_and_its_status_is_kept(empty, tmp_path):
    statuses = []
    for number, fault in enumerate(["", "killed"]):
        environment = environment_of(empty, RANK=number, WORLD_SIZE=2, TORCHELASTIC_RUN_ID="abc", FLEET_TRACES=tmp_path)
        words = [SAMPLES / "push-rank", BUILD / "tests/fleet_rank", number, *([fault] if fault else [])]
        command = [str(word) for word in words]
        statuses.append(subprocess.run(command, env=environment, capture_output=True, timeout=TIMEOUT_S).returncode)
    assert statuses == [0, 128 + signal.SIGKILL]
    wait_for_ranks(empty, 2)
    document = fleet(empty.url)
    assert (document["job"]["job"], document["job"]["run"]) == ("fleet_rank", "abc")
    assert [row["ended"] for row in document["ranks"]] == ["exit", "killed"]
