# SPDX-License-Identifier: MIT
"""Answers of `fleet` about a pushed job. They name the ranks that stand out, and their figures equal the figures of
`report`."""
import concurrent.futures
import re
import shlex
import shutil
import time

import pytest

from fleet.job import FAULTS, RANKS, fleet, push_all, run_job
from support.run import ROOT, load_json, run_command, sentences_of
from support.tracefile import MIB, Trace

LEAKS, DOUBLE, KILLED = FAULTS


@pytest.fixture(scope="module")
def traces(tmp_path_factory):
    return run_job(tmp_path_factory.mktemp("job"))


def push_job(database, traces):
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    for completed in push_all(database.url, traces):
        assert completed.returncode == 0, completed.stderr
    return database


@pytest.fixture
def pushed(database, traces):
    return push_job(database, traces)


def test_the_ranks_that_stand_out_are_named_with_their_reasons(pushed):
    document = fleet(pushed.url)
    leak, kept, double, held, killed, all_of_them = sentences_of(document)
    above = f"above the median of {RANKS} ranks"
    assert leak == f"Rank {LEAKS} peaks at 14.75 MiB, 4.75 MiB {above}."
    assert kept == "fleet_rank.c:41 keep_loss, in floats: it holds 4.75 MiB more, which grows by 256.00 KiB with each step."
    assert double == f"Rank {DOUBLE} peaks at 12.00 MiB, 2.00 MiB {above}."
    assert held == "fleet_rank.c:27 run_forward, in floats: it holds 2.00 MiB more."
    assert killed.startswith(f"Rank {KILLED} was killed")
    assert all_of_them == f"{RANKS} ranks of job 'pretrain', run '77', peak at 10.00 MiB to 14.75 MiB, the median at 10.00 MiB."
    assert [(row["rank"], row["killed"], row["leak_bytes_per_step"]) for row in document["stand_out"]] == [
        (LEAKS, False, 256 << 10), (DOUBLE, False, None), (KILLED, True, None)]  # fmt: skip


def test_every_figure_is_that_of_the_report(pushed, traces):
    rows = {row["rank"]: row for row in fleet(pushed.url)["ranks"]}
    assert sorted(rows) == list(range(RANKS))
    for trace in traces:
        report, leaks = load_json("report", trace), load_json("leaks", trace)
        row, (device,) = rows[report["trace"]["rank"]], report["devices"]
        driver, growing = device["driver"], leaks["devices"][0]["leaks"]["growth"][0]
        assert (row["host"], row["ended"] == "exit") == (report["trace"]["host"], report["trace"]["complete"])
        assert {key: row[key] for key in ("peak_bytes", "peak_time_ns", "live_at_exit_bytes", "failed")} == {
            key: driver[key] for key in ("peak_bytes", "peak_time_ns", "live_at_exit_bytes", "failed")}  # fmt: skip
        assert (row["leak"], row["bytes_per_step"], row["leak_bytes_per_step"]) == (
            growing["verdict"], growing["bytes_per_step"], growing["leak_bytes_per_step"])  # fmt: skip
        sites = pushed.rows(f"SELECT bytes FROM site WHERE rank = {row['rank']} AND moment = 'peak'")
        assert sum(int(size) for (size,) in sites) == driver["peak_bytes"]


def test_pushing_all_again_changes_no_answer(pushed, traces):
    before = fleet(pushed.url)
    push_all(pushed.url, traces)
    assert fleet(pushed.url) == before


def test_a_server_that_is_killed_while_all_push_and_comes_back_changes_no_answer(own_server, traces):
    before = fleet(push_job(own_server, traces).url)
    for wait_s in (0.1, 0.3, 0.5):
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            pushes = pool.submit(push_all, own_server.url, traces)
            time.sleep(wait_s)
            own_server.stop()
            own_server.start()
            ended = pushes.result()
        assert {completed.returncode for completed in ended} <= {0, 2}
        assert fleet(own_server.url) == before
        again = push_all(own_server.url, traces)
        assert {completed.returncode for completed in again} == {0}, [completed.stderr for completed in again]
        assert fleet(own_server.url) == before


def test_hosts_and_history_are_sums_of_the_ranks(pushed):
    document = fleet(pushed.url)
    (host,) = document["hosts"]
    assert (host["ranks"], host["killed"], host["highest_rank"]) == (RANKS, 1, LEAKS)
    assert document["job"]["highest_rank"] == LEAKS
    (run,) = document["history"]
    assert (run["run"], run["ranks"], run["killed"], run["highest_bytes"]) == ("77", RANKS, 1, document["job"]["highest_bytes"])


def test_two_runs_are_compared_by_rank_and_by_site(database, rank):
    first = [rank(number, [(100 * MIB, 12), (50 * MIB, 15)], name=f"a{number}.db") for number in range(3)]
    second = [rank(number, [(100 * MIB, 12), (80 * MIB, 15)], name=f"b{number}.db") for number in range(3)]
    run_command("push", "--create", f"--to={database.url}", "--run=1", *first)
    run_command("push", f"--to={database.url}", "--run=2", *second)
    document = fleet(database.url, "--run=2", "--against=1")
    assert [(row["rank"], row["more_bytes"]) for row in document["against_ranks"]] == [(n, 30 * MIB) for n in range(3)]
    ((more, site),) = [(row["more_bytes"], row["site"]) for row in document["against_sites"]]
    assert (more, site) == (30 * MIB, "train.py:15 forward")
    assert [(row["run"], row["highest_bytes"]) for row in document["history"]] == [("1", 150 * MIB), ("2", 180 * MIB)]


def test_processes_of_one_rank_are_compared(database, rank):
    traces = [rank(0, [(size * MIB, 12)], name=f"{number}.db") for number, size in enumerate((7, 9, 9))]
    run_command("push", "--create", f"--to={database.url}", *traces)
    who, held = sentences_of(fleet(database.url))[:2]
    assert who == "Rank 0 process 0 peaks at 7.00 MiB, 2.00 MiB below the median of 1 rank."
    assert held == "train.py:12 forward: it holds 2.00 MiB less."


def test_the_first_rank_that_ran_out_of_memory_comes_first(database, rank, tmp_path):
    def failing(number, at_ns):
        trace = Trace(tmp_path / f"rank{number}.db", rank=number, start_unix_ns=at_ns, exit_status=1)
        trace.device(0, uuid=f"GPU-{number}", name="H100", total_bytes=1 << 30)
        trace.alloc(1000 * MIB, stack=trace.stack(("/job/train.py", 12, "forward")))
        trace.device_memory(24 * MIB, 1 << 30, call=9, nested=1)
        trace.fail(100 * MIB, call=9, stack=trace.stack(("/job/train.py", 15, "forward")))
        trace.exit()
        return trace.write()

    traces = [failing(0, 1_795_000_000_000_000_900), failing(1, 1_795_000_000_000_000_100)]
    run_command("push", "--create", f"--to={database.url}", *traces)
    document = fleet(database.url)
    assert [row["rank"] for row in document["failures"]] == [1, 0]
    assert document["answer"][0] == "Rank 1 ran out of memory first: train.py:15 forward asked for 100.00 MiB."
    assert document["more"][0]["text"].startswith("Rank 0 ran out of memory: ")


def test_a_database_without_ranks_and_a_job_that_is_not_there_are_named(database, rank):
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    empty = run_command("fleet", f"--from={database.url}")
    assert (empty.returncode, empty.stdout) == (2, "") and "no rank was pushed" in empty.stderr
    run_command("push", f"--to={database.url}", rank(0, [(MIB, 12)]))
    other = run_command("fleet", f"--from={database.url}", "--job=it's")
    assert other.returncode == 2 and "has no run of a job 'it's' in" in other.stderr
    assert "has no run '99' in" in run_command("fleet", f"--from={database.url}", "--run=99").stderr
    assert "has no run '99' of a job 'train.py' in" in run_command("fleet", f"--from={database.url}", "--against=99").stderr


NAMES = ["it's", "a\\b", "a\\'b", "two\nlines", "\t\r\b\f\x01\x1b", "100%s%n", "{job:String}", "'; DROP TABLE push; --",
         "a/b", "\u202e\u6f22"]  # fmt: skip


def test_a_job_with_any_characters_in_its_name_is_found_and_its_statements_run_by_hand(database, rank):
    trace = rank(0, [(MIB, 12)])
    run_command("push", "--create", f"--to={database.url}")
    for name in NAMES:
        assert run_command("push", f"--to={database.url}", f"--job={name}", f"--run={name}", trace).returncode == 0
    for name in NAMES:
        document = fleet(database.url, f"--job={name}", f"--run={name}")
        assert (document["job"]["job"], document["job"]["run"], len(document["ranks"])) == (name, name, 1)
        peaks = run_command("fleet", "--sql", f"--job={name}", f"--run={name}").stdout.split("-- peaks\n")[1].split(";\n\n")[0]
        assert len(database.rows(peaks)) == 1


def test_printed_statements_run_by_hand(pushed):
    printed = run_command("fleet", "--sql", "--job=pretrain", "--run=77", "--against=77").stdout
    statements = [statement.strip() for statement in printed.split(";\n\n") if statement.strip()]
    assert len(statements) == 12
    for statement in statements:
        pushed.query(statement)


def test_commands_of_the_manuals_page_run(database, traces, tmp_path):
    lines = re.findall(r"^    gpumemtrace ((?:push|fleet) .*)$", (ROOT / "doc/fleet.md").read_text(), re.M)
    (tmp_path / "traces").mkdir()
    for trace in traces[:2]:
        shutil.copy(trace, tmp_path / "traces")
    shutil.copy(traces[0], tmp_path / "train.db")
    run_command("push", "--create", f"--to={database.url}", "--job=pretrain", "--run=41", tmp_path / "traces")
    assert len(lines) >= 5
    for line in lines:
        words = shlex.split(line.replace("http://HOST:8123/fleet", database.url))
        completed = run_command(*words, cwd=tmp_path)
        assert completed.returncode == 0, (line, completed.stderr)
