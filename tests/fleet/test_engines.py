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

# This program runs in a process of its own. It reads {"before", "statements"}, runs all of them and writes the answer to
# each of the statements.
PROGRAM = """
import json, sys
from chdb import session
given = json.load(sys.stdin)
engine = session.Session()
engine.query("CREATE DATABASE fleet")
engine.query("USE fleet")
for statement in given["before"]:
    engine.query(statement)
json.dump([str(engine.query(statement, "TabSeparated")) for statement in given["statements"]], sys.stdout)
"""


def statements_of(text):
    return [statement.strip() for statement in text.split(";\n") if statement.strip()]


def insert_file(insert, path):
    """Returns the INSERT statement with the rows of a file."""
    return insert.replace(" FORMAT ", f" FROM INFILE '{path}' FORMAT ")


def run_todays_engine(folder, before, statements):
    """Returns the answers to the statements. The database is gone after that."""
    if not (CHDB / "chdb").is_dir():
        pytest.skip("no chdb; make check-fleet installs it from PyPI")
    given = {"before": before, "statements": statements}
    completed = subprocess.run([sys.executable, "-c", PROGRAM], input=json.dumps(given), capture_output=True, text=True,
                               timeout=TIMEOUT_S, env={"PYTHONPATH": str(CHDB), "HOME": str(folder)})  # fmt: skip
    assert completed.returncode == 0, completed.stderr[-2000:]
    return json.loads(completed.stdout)


def test_todays_engine_answers_as_debians_does(database, tmp_path):
    traces = run_job(tmp_path, 4)
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    push_all(database.url, traces)
    inserts = []
    for table in ("process", "device", "site", "phase", "ledger", "failure", "event", "stack", "push"):
        inserts.append(insert_file(f"INSERT INTO {table} FORMAT TabSeparated", tmp_path / f"{table}.tsv"))
        (tmp_path / f"{table}.tsv").write_text(database.query(f"SELECT * FROM {table}"))
    statements = statements_of(run_command("fleet", "--sql", "--job=pretrain", "--run=77", "--against=77").stdout)
    schema = statements_of(run_command("push", "--schema=single").stdout)
    assert len(statements) == 12 and fleet(database.url)["stand_out"]
    for statement, answer in zip(statements, run_todays_engine(tmp_path, schema + inserts, statements)):
        assert answer == database.query(statement), statement


@pytest.mark.parametrize("blocks, tables", [([(1 << 20, 12)], ["event", "stack"]), ([], ["event"])])
def test_todays_engine_takes_the_rows_of_staging_tables_and_moves_them(database, rank, tmp_path, blocks, tables):
    with Between(database) as proxy:
        pushed = run_command("push", "--create", f"--to={proxy.url(database.database)}", rank(0, blocks))
    assert pushed.returncode == 0, pushed.stderr
    changing = []
    for number, (statement, body) in enumerate(zip(proxy.statements, proxy.bodies)):
        if statement.startswith("INSERT INTO staging"):
            (tmp_path / f"{number}.rows").write_bytes(body)
            statement = insert_file(statement, tmp_path / f"{number}.rows")
        if statement.startswith(("CREATE", "ALTER", "DROP")) or "INFILE" in statement:
            changing.append(statement)
    rows = [f"SELECT * FROM {table} ORDER BY {order}" for table, order in (("event", "seq"), ("stack", "stack_id"))]
    answers = run_todays_engine(tmp_path, changing, [*rows, "SHOW TABLES LIKE 'staging%'"])
    assert answers == [*map(database.query, rows), ""]
    assert len([statement for statement in changing if "REPLACE PARTITION" in statement]) == len(tables)
