# SPDX-License-Identifier: MIT
"""`push` writes into a ClickHouse server the same figures that other commands print. A push is visible either whole or
not at all."""
import csv
import io
import sqlite3

import pytest

from support.made_traces import MADE
from support.run import load_json, run_command
from support.tracefile import Trace

MIB = 1 << 20
BLOCKS = [(100 * MIB, 12), (50 * MIB, 15)]
TABLES = ["process", "device", "site", "phase", "ledger", "failure", "event", "stack"]


def push(database, *arguments):
    return run_command("push", f"--to={database.url}", *arguments)


def pushed(database, *arguments):
    completed = push(database, "--create", *arguments)
    assert completed.returncode == 0, completed.stderr
    return completed


def visible(database, table, columns):
    """Returns the rows of the last push of each rank."""
    last = "SELECT max(push) FROM push GROUP BY job, run, rank"
    return database.rows(f"SELECT {columns} FROM {table} WHERE push IN ({last}) ORDER BY job, run, rank, {columns}")


def everything(database):
    keys = ("day", "job", "run", "rank", "push")
    columns = {table: [row[0] for row in database.rows(f"DESCRIBE TABLE {table}") if row[0] not in keys] for table in TABLES}
    return {table: visible(database, table, "day, job, run, rank, " + ", ".join(columns[table])) for table in TABLES}


def test_figures_of_devices_and_sites_are_those_of_the_report(database, rank):
    trace = rank(3, BLOCKS)
    pushed(database, trace)
    report = load_json("report", trace)["devices"][0]
    assert visible(database, "device", "job, run, rank") == [("train.py", "1", "3")]
    keys = ["peak_bytes", "live_at_exit_bytes", "allocations", "frees", "failed"]
    figures = tuple(str(report["driver"][key]) for key in ["peak_bytes", *keys])
    assert visible(database, "device", ", ".join(["driver_peak_bytes", *keys])) == [figures]
    sites = [(str(i), str(site["bytes"]), str(site["count"]), site["category"]) for i, site in enumerate(report["sites_at_peak"])]
    assert visible(database, "site", "number, bytes, blocks, category") == sites


def test_phases_are_those_of_their_command(database, record, sample):
    trace = record(sample("train")).trace
    pushed(database, trace)
    (device,) = load_json("phases", trace)["devices"]
    keys = ("count", "entry_bytes", "peak_bytes", "allocated_bytes", "freed_bytes", "kept_bytes")
    expected = [(row["path"] or "", *(str(row[key]) for key in keys)) for row in device["phases"] if row["layer"] == "driver"]
    assert database.rows(f"SELECT phase, {', '.join(keys)} FROM phase ORDER BY number") == expected


def test_failures_are_those_of_their_command(database, tmp_path):
    fill, meta = MADE["failures_of_every_kind"]
    trace = Trace(tmp_path / "rank0.db", **meta)
    fill(trace)
    pushed(database, trace.write())
    failures = load_json("oom", trace.path)["oom"]
    keys = ("number", "device", "seq", "time_ns", "asked_bytes", "verdict", "kind")
    rows = database.rows(f"SELECT {', '.join(keys)} FROM failure ORDER BY number")
    unknown = {"device": -1, "asked_bytes": 0}
    assert len(rows) > 3
    assert rows == [tuple(str(unknown[key] if failure[key] is None else failure[key]) for key in keys) for failure in failures]


def test_events_are_those_of_the_exported_table(database, record, sample):
    trace = record(sample("train")).trace
    pushed(database, trace)
    exported = list(csv.DictReader(io.StringIO(run_command("export", "--to=tsv", trace).stdout), delimiter="\t"))
    keys = ("seq", "time_ns", "thread", "kind", "call", "memory", "bytes", "result", "live_bytes")
    rows = database.rows(f"SELECT {', '.join(keys)} FROM event ORDER BY seq")
    assert len(exported) > 300
    known = [tuple(text.replace("\\N", "") for text in row) for row in rows]
    assert known == [tuple(row[key] for key in keys) for row in exported]
    joined = "event ANY INNER JOIN stack USING job, run, rank, push, process, stack_id"
    stacks = database.rows(f"SELECT frames FROM {joined} ORDER BY seq")
    assert stacks == [(row["stack"],) for row in exported if row["stack"]]


def test_ledgers_are_those_of_their_command(database, record, sample):
    trace = record(sample("train")).trace
    pushed(database, trace)
    peak = next(moment for moment in load_json("ledger", trace)["devices"][0]["moments"] if moment["at"] == "peak")
    terms = sorted((term["owner"], str(term["bytes"])) for term in peak["terms"])
    assert sorted(database.rows("SELECT owner, bytes FROM ledger")) == terms


def test_pushing_again_changes_nothing(database, rank):
    traces = [rank(0, BLOCKS), rank(1, [*BLOCKS, (30 * MIB, 88)])]
    pushed(database, *traces)
    before = everything(database)
    pushed(database, *traces)
    assert before["event"] and everything(database) == before
    assert len(database.rows("SELECT DISTINCT push FROM event")) == 2
    assert database.rows("SHOW TABLES LIKE 'staging%'") == []


def test_a_rank_that_ran_again_takes_the_place_of_the_one_before(database, rank):
    pushed(database, rank(0, BLOCKS))
    pushed(database, rank(0, [(7 * MIB, 12)], name="again.db"))
    assert visible(database, "device", "peak_bytes") == [(str(7 * MIB),)]
    assert visible(database, "event", "bytes") == [("0",), (str(7 * MIB),)]


def test_processes_of_one_rank_are_pushed_together(database, rank):
    pushed(database, rank(0, [(7 * MIB, 12)], name="second.db", start_unix_ns=1_795_000_000_000_000_009), rank(0, BLOCKS))
    assert visible(database, "device", "process, peak_bytes") == [("0", str(150 * MIB)), ("1", str(7 * MIB))]


def test_a_summary_has_no_events_and_all_figures(database, rank):
    trace = rank(0, BLOCKS)
    pushed(database, trace)
    whole = everything(database)
    assert "the summary alone" in pushed(database, "--summary-only", trace).stderr
    summary = everything(database)
    assert whole["event"] and summary == {**whole, "event": [], "stack": []}
    assert database.rows("SELECT count() FROM event") == [("0",)]


def set_variables(trace, **variables):
    with sqlite3.connect(trace) as file:
        file.executemany("INSERT INTO job_variable VALUES (?, ?)", variables.items())
    return trace


@pytest.mark.parametrize("variables, options, expected", [
    ({}, [], ("train.py", "1", "0")),
    ({"SLURM_JOB_NAME": "pretrain", "SLURM_JOB_ID": "77"}, [], ("pretrain", "77", "0")),
    ({"SLURM_JOB_ID": "78", "SLURM_ARRAY_JOB_ID": "77", "SLURM_ARRAY_TASK_ID": "2"}, [], ("train.py", "77_2", "0")),
    ({"TORCHELASTIC_RUN_ID": "abc", "RANK": "5"}, [], ("train.py", "abc", "5")),
    ({"TORCHELASTIC_RUN_ID": "none"}, ["--job=it's", "--run=a\\b"], ("it's", "a\\b", "0"))])  # fmt: skip
def test_job_run_and_rank_are_what_the_launcher_said(database, rank, variables, options, expected):
    trace = set_variables(rank(None, BLOCKS, name="rank.db"), **variables)
    with sqlite3.connect(trace) as file:
        file.execute("DELETE FROM meta WHERE key = 'rank'")
    pushed(database, *options, trace)
    job, run, number = literal(expected[0]), literal(expected[1]), expected[2]
    assert database.rows(f"SELECT job = {job}, run = {run}, rank = {number} FROM push") == [("1", "1", "1")]


@pytest.mark.parametrize("option, variable", [("job", "SLURM_JOB_NAME"), ("run", "SLURM_JOB_ID")])
def test_a_name_is_stored_whole_or_refused(database, rank, option, variable):
    longest, trace = "j" * 253 + "é", rank(0, BLOCKS)
    pushed(database, f"--{option}={longest}", trace)
    before = everything(database)
    assert visible(database, "device", option) == [(longest,)]
    assert run_command("fleet", f"--from={database.url}", f"--{option}={longest}").returncode == 0
    refusal = f"the name of the {option} has 256 bytes, but at most 255 are possible; give another with --{option}\n"
    named = set_variables(rank(0, BLOCKS, name="named.db"), **{variable: "j" + longest})
    for refused in (push(database, f"--{option}=j{longest}", trace), push(database, named)):
        assert (refused.returncode, refused.stdout, refused.stderr) == (2, "", f"gpumemtrace: push: {refusal}")
    assert everything(database) == before


def literal(text):
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def test_days_that_are_too_long_ago_are_dropped(database, rank):
    now_ns = int(database.query("SELECT toUnixTimestamp(now())")) * 10**9
    for job, days in (("it's new", 1), ("old", 40)):
        pushed(database, f"--job={job}", rank(0, BLOCKS, name=f"{days}.db", start_unix_ns=now_ns - days * 86400 * 10**9))
    everything_of_both = everything(database)
    pushed(database, "--keep-days=50", "--keep-event-days=50")
    assert everything(database) == everything_of_both
    pushed(database, "--keep-event-days=30")
    assert database.rows("SELECT DISTINCT job FROM event") == [("it\\'s new",)]
    assert len(database.rows("SELECT DISTINCT job FROM device")) == 2
    pushed(database, "--keep-days=30")
    assert database.rows("SELECT DISTINCT job FROM device") == database.rows("SELECT DISTINCT job FROM push") == [("it\\'s new",)]
    pushed(database, "--keep-days=1", "--job=x", rank(1, BLOCKS, name="x.db", start_unix_ns=now_ns))
    assert len(database.rows("SELECT DISTINCT job FROM event")) == 2


def test_an_exported_folder_has_the_rows_that_are_pushed_and_the_tables_as_sql(database, record, sample, tmp_path):
    trace = record(sample("train")).trace
    pushed(database, trace)
    whole = everything(database)
    folder = tmp_path / "rows"
    folder.mkdir()
    assert run_command("export", "--to=tsv", "-o", folder, trace).returncode == 0
    for table in [*TABLES, "push", "gpumemtrace_schema"]:
        database.query(f"DROP TABLE {table}")
    for statement in (folder / "clickhouse.sql").read_text().split(";\n"):
        if statement.strip():
            database.query(statement)
    for table in TABLES:
        rows = (folder / f"{table}.tsv").read_bytes()
        if rows:
            database.query(f"INSERT INTO {table} FORMAT TabSeparated", data=rows)
    database.query("INSERT INTO push SELECT DISTINCT day, job, run, rank, push, '', 0, 1, 0 FROM process")
    assert everything(database) == whole
    assert "CREATE TABLE IF NOT EXISTS device" in (folder / "postgresql.sql").read_text()
