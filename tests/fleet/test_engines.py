# SPDX-License-Identifier: MIT
"""The statements of `fleet` return the same rows on two versions of ClickHouse: Debian's version and the current
version, which chdb (PyPI) embeds."""
import json
import subprocess
import sys

import pytest

from fleet.between import Between
from fleet.job import fleet, push_all, run_job
from support.run import BUILD, TIMEOUT_S, run_command

CHDB = BUILD / "chdb"

# This program runs in a process of its own. It reads {"schema", "rows": {table: path}, "statements"} and writes the
# answer to each statement. `schema` may be any list of statements that have no answer.
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


def run_todays_engine(folder, schema, rows, statements):
    """Returns the answers to the statements. The database is gone after that."""
    if not (CHDB / "chdb").is_dir():
        pytest.skip("no chdb; make check-fleet installs it from PyPI")
    given = {"schema": schema, "rows": rows, "statements": statements}
    completed = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(given), capture_output=True, text=True,
                               timeout=TIMEOUT_S, env={"PYTHONPATH": str(CHDB), "HOME": str(folder)})  # fmt: skip
    assert completed.returncode == 0, completed.stderr[-2000:]
    return json.loads(completed.stdout)


def test_todays_engine_answers_as_debians_does(database, tmp_path):
    traces = run_job(tmp_path, 4)
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    push_all(database.url, traces)
    rows = {}
    for table in ("process", "device", "site", "phase", "ledger", "failure", "event", "stack", "push"):
        rows[table] = str(tmp_path / f"{table}.tsv")
        (tmp_path / f"{table}.tsv").write_text(database.query(f"SELECT * FROM {table}"))
    statements = statements_of(run_command("fleet", "--sql", "--job=pretrain", "--run=77", "--against=77").stdout)
    schema = statements_of(run_command("push", "--schema=single").stdout)
    assert len(statements) == 12 and fleet(database.url)["stand_out"]
    for statement, answer in zip(statements, run_todays_engine(tmp_path, schema, rows, statements)):
        assert answer == database.query(statement), statement


@pytest.mark.parametrize("blocks, tables", [([(1 << 20, 12)], ["event", "stack"]), ([], ["event"])])
def test_todays_engine_takes_staging_tables_and_moves_their_rows(database, rank, tmp_path, blocks, tables):
    with Between(database) as proxy:
        pushed = run_command("push", "--create", f"--to={proxy.url(database.database)}", rank(0, blocks))
    assert pushed.returncode == 0, pushed.stderr
    changing = [statement for statement in proxy.statements if statement.startswith(("CREATE", "ALTER", "DROP"))]
    moves = [statement for statement in changing if "REPLACE PARTITION" in statement]
    inserts = [f"INSERT INTO {move.split()[-1]} (process, stack_id) VALUES (0, {id})" for move in moves for id in range(3)]
    at = changing.index(moves[0])
    counts = [f"SELECT rank, count(), sum(stack_id) FROM {table} GROUP BY rank" for table in tables]
    answers = run_todays_engine(tmp_path, changing[:at] + inserts + changing[at:], {}, [*counts, "SHOW TABLES LIKE 'staging%'"])
    assert len(moves) == len(tables) and answers == ["0\t3\t3\n"] * len(tables) + [""]
