# SPDX-License-Identifier: MIT
"""The statements of `fleet` return the same rows on two versions of ClickHouse: Debian's version and the current
version, which chdb (PyPI) embeds."""
import json
import subprocess
import sys

import pytest

from fleet.job import fleet, push_all, run_job
from support.run import BUILD, TIMEOUT_S, run_command

CHDB = BUILD / "chdb"

# This program runs in a process of its own. It reads {"schema", "rows": {table: path}, "statements"} and writes the
# answer to each statement.
PROGRAM = """
import json, sys
from chdb import session
given = json.load(sys.stdin)
engine = session.Session()
engine.query("CREATE DATABASE fleet")
engine.query("USE fleet")
for statement in given["schema"]:
    engine.query(statement)
for table, path in given["rows"].items():
    engine.query(f"INSERT INTO {table} FROM INFILE '{path}' FORMAT TabSeparated")
json.dump([str(engine.query(statement, "TabSeparated")) for statement in given["statements"]], sys.stdout)
"""


def statements_of(text):
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


def test_todays_engine_answers_as_debians_does(database, tmp_path):
    if not (CHDB / "chdb").is_dir():
        pytest.skip("no chdb; make check-fleet installs it from PyPI")
    traces = run_job(tmp_path, 4)
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    push_all(database.url, traces)
    rows = {}
    for table in ("process", "device", "site", "phase", "ledger", "failure", "event", "stack", "push"):
        rows[table] = str(tmp_path / f"{table}.tsv")
        (tmp_path / f"{table}.tsv").write_text(database.query(f"SELECT * FROM {table}"))
    statements = statements_of(run_command("fleet", "--sql", "--job=pretrain", "--run=77", "--against=77").stdout)
    given = {"schema": statements_of(run_command("push", "--schema=single").stdout), "rows": rows, "statements": statements}
    completed = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(given), capture_output=True, text=True,
                               timeout=TIMEOUT_S, env={"PYTHONPATH": str(CHDB), "HOME": str(tmp_path)})  # fmt: skip
    assert completed.returncode == 0, completed.stderr[-2000:]
    assert len(statements) == 12 and fleet(database.url)["stand_out"]
    for statement, answer in zip(statements, json.loads(completed.stdout)):
        assert answer == database.query(statement), statement
