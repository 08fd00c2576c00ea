# SPDX-License-Identifier: MIT
"""A job of simulated ranks. The ranks are dry runs of one program with different seeds. One rank leaks, one rank has a
doubled batch, and one rank is killed."""
import concurrent.futures
import json
import os
import subprocess

from support.run import BUILD, TIMEOUT_S, run_command, simulator_environment

# `make check` runs only a few ranks. `make check-fleet` runs as many ranks as a real job has.
IS_WHOLE = os.environ.get("GPUMEMTRACE_FLEET") == "all"
RANKS = 64 if IS_WHOLE else 5
AT_ONCE = 4


def faults_of(count):
    """Returns {rank: fault} for a job of `count` ranks."""
    return {17: "leak", 30: "double", 45: "killed"} if count > 45 else {1: "leak", 2: "double", 3: "killed"}


FAULTS = faults_of(RANKS)


def run_rank(folder, number, count, fault):
    trace = folder / f"rank{number}.db"
    launcher = {"RANK": number, "WORLD_SIZE": count, "LOCAL_RANK": number % 8, "SLURM_JOB_NAME": "pretrain", "SLURM_JOB_ID": "77"}
    environment = simulator_environment(**launcher)
    words = [BUILD / "gpumemtrace", "run", "--dry-run=16GiB", "-o", trace, "--", BUILD / "tests/fleet_rank", number]
    subprocess.run([str(word) for word in [*words, *([fault] if fault else [])]], env=environment, check=fault != "killed",
                   capture_output=True, timeout=TIMEOUT_S)  # fmt: skip
    assert trace.exists()
    return trace


def run_job(folder, count=RANKS):
    faults = faults_of(count)
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda number: run_rank(folder, number, count, faults.get(number)), range(count)))


def push_all(url, traces, *options):
    """Pushes each trace with a command of its own. AT_ONCE commands run at the same time. Returns their
    CompletedProcesses."""
    with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(lambda trace: run_command("push", f"--to={url}", *options, trace), traces))


def fleet(url, *options):
    completed = run_command("fleet", f"--from={url}", "--json", *options)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)
