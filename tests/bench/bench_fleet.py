# SPDX-License-Identifier: MIT
"""make bench-fleet: measures the costs of pushing ranks to a ClickHouse server on this machine and of querying it.

RANKS=N and EVENTS=N change the size of the bench (default: 64 ranks of 1 million events). Server and commands share the
cores, so only ratios within one run are meaningful, and no figure is a test. """
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

from bench import measurements
from fleet.server import MISSING, Server, program
from support.long_traces import make_trace
from support.run import run_command

RANKS = int(os.environ.get("RANKS") or 64)
EVENTS = int(os.environ.get("EVENTS") or 1_000_000)
SUMMARIES = ("process", "device", "site", "phase", "ledger", "failure", "push")
COLUMNS = "process, seq, time_ns, thread, kind, call, memory, device, address, bytes, stream, result, stack_id, live_bytes"


def timed(*arguments):
    begin = time.monotonic()
    completed = run_command(*arguments)
    seconds = time.monotonic() - begin
    if completed.returncode:
        raise SystemExit(completed.stderr)
    return seconds


def push_one(server, trace):
    """Returns the seconds of the whole push, the seconds of clickhouse-client with the same rows, the bytes of these rows as
    text, and their bytes on disk."""
    pushed = timed("push", f"--to={server.url}", "--job=one", trace)
    path = server.folder / "rows.tsv"
    path.write_text(server.query(f"SELECT {COLUMNS} FROM event WHERE job = 'one' ORDER BY seq"))
    server.query("CREATE TABLE same AS event")
    begin = time.monotonic()
    with open(path, "rb") as rows:
        subprocess.run(["clickhouse-client", f"--host={server.host}", f"--port={server.tcp_port}", "--database=fleet",
                        f"--query=INSERT INTO same ({COLUMNS}) FORMAT TabSeparated"], stdin=rows, check=True)  # fmt: skip
    inserted = time.monotonic() - begin
    text_bytes = path.stat().st_size
    path.unlink()
    stored = "SELECT sum(bytes_on_disk) FROM system.parts WHERE active AND database = 'fleet' AND table = 'event'"
    return pushed, inserted, text_bytes, int(server.query(stored))


def push_job(server, folder, trace):
    """Pushes RANKS copies of the trace with one command. Returns their folder and the seconds of the push."""
    copies = folder / "ranks"
    copies.mkdir()
    for number in range(RANKS):
        copy = copies / f"rank{number}.db"
        shutil.copy(trace, copy)
        with sqlite3.connect(copy) as database:
            database.execute("INSERT OR REPLACE INTO meta VALUES ('rank', ?)", (number,))
    return copies, timed("push", f"--to={server.url}", "--job=many", copies)


def add_summaries(server, count):
    """Adds a run of `count` ranks to the database, each with a copy of one rank's summary."""
    keys = ("day", "job", "run", "rank", "push")
    for table in SUMMARIES:
        rest = [row[0] for row in server.rows(f"DESCRIBE TABLE {table}") if row[0] not in keys]
        server.query(f"INSERT INTO {table} SELECT day, 'thousand', '1', toInt32(number), push + number, {', '.join(rest)} "
                     f"FROM (SELECT *, 1 AS one FROM {table} WHERE job = 'one') ALL INNER JOIN "
                     f"(SELECT number, 1 AS one FROM (SELECT number FROM system.numbers LIMIT {count})) USING one")  # fmt: skip


def print_costs(server, folder):
    trace = make_trace(folder / "trace.db", "driver", EVENTS)
    timed("push", "--create", f"--to={server.url}")
    pushed, inserted, text_bytes, stored = push_one(server, trace)
    print(f"push of {EVENTS:,} events: {EVENTS / pushed:,.0f} a second; clickhouse-client with the same rows as TabSeparated: "
          f"{EVENTS / inserted:,.0f}; ratio {inserted / pushed:.2f}")  # fmt: skip
    print(f"an event is {text_bytes / EVENTS:.0f} bytes on the way and {stored / EVENTS:.1f} on disk")
    traces, all_pushed = push_job(server, folder, trace)
    asked, reported = timed("fleet", f"--from={server.url}", "--job=many"), timed("report", traces)
    print(f"{RANKS} ranks of {EVENTS:,} events: pushed in {all_pushed:.1f} s; fleet answers in {asked:.2f} s, report of the same "
          f"files in {reported:.2f} s: {reported / asked:.1f} times")  # fmt: skip
    every = timed("report", "--every-trace", traces) if RANKS <= 8 else None
    if every:
        print(f"report --every-trace of them: {every:.2f} s: {every / asked:.1f} times")
    add_summaries(server, 1000)
    size = "SELECT sum(bytes) FROM system.parts WHERE active AND database = 'fleet' AND table IN ({})"
    summaries = int(server.query(size.format(", ".join(f"'{table}'" for table in SUMMARIES))))
    print(f"1,000 ranks of summaries: fleet answers in {timed('fleet', f'--from={server.url}', '--job=thousand'):.2f} s; a summary "
          f"is {summaries / (1001 + RANKS):,.0f} bytes on disk")  # fmt: skip


def main():
    if not program() or not shutil.which("clickhouse-client"):
        print(f"bench-fleet: skipped: {MISSING}")
        return 0
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpumemtrace-bench-fleet."))
    server = Server(folder / "server")
    try:
        server.start()
        server.query("CREATE DATABASE fleet", database="default")
        server.database = "fleet"
        with measurements.section("bench-fleet"):
            print_costs(server, folder)
    finally:
        server.stop()
        shutil.rmtree(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
