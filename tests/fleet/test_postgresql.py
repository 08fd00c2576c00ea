# SPDX-License-Identifier: MIT
"""PostgreSQL loads the tables that `export --to=tsv` writes. The test starts a server of its own, with a socket in the
test's folder."""
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from support.run import TIMEOUT_S, load_json, run_command

PROGRAMS = sorted(pathlib.Path("/usr/lib/postgresql").glob("*/bin"))
TABLES = ("process", "device", "site", "phase", "ledger", "failure", "event", "stack")


def as_postgres(*words):
    """Runs a command. If this process is root, runs the command as the user postgres, because PostgreSQL refuses to run
    as root. Returns the CompletedProcess."""
    prefix = ["setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups"] if os.geteuid() == 0 else []
    return subprocess.run([*prefix, *map(str, words)], cwd="/", capture_output=True, text=True, timeout=TIMEOUT_S)


@pytest.fixture
def psql():
    """Returns psql(statement), which returns the answer: one row per line, with tabs between the values."""
    if not PROGRAMS:
        pytest.skip("no PostgreSQL; on Debian `.ci/deps fleet` installs it")
    folder = pathlib.Path(tempfile.mkdtemp(prefix="gpumemtrace-postgresql."))
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    assert as_postgres(PROGRAMS[-1] / "initdb", "--auth=trust", "--username=fleet", "-D", folder / "data").returncode == 0
    server = [PROGRAMS[-1] / "pg_ctl", "--wait", "-D", folder / "data", "-l", folder / "log"]
    options = f"-c listen_addresses='' -c unix_socket_directories={folder} -c fsync=off"
    assert as_postgres(*server, "-o", options, "start").returncode == 0, (folder / "log").read_text()

    def ask(statement):
        words = ["psql", f"--host={folder}", "--username=fleet", "--dbname=postgres", "-qAt", "-F\t", "-v", "ON_ERROR_STOP=1"]
        done = subprocess.run(words, input=statement, capture_output=True, text=True, timeout=TIMEOUT_S)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    yield ask
    as_postgres(*server, "-m", "immediate", "stop")
    shutil.rmtree(folder)


def test_postgresql_copies_the_exported_tables(psql, record, sample, tmp_path):
    trace = record(sample("train")).trace
    assert run_command("export", "--to=tsv", "-o", tmp_path, trace).returncode == 0
    psql((tmp_path / "postgresql.sql").read_text())
    for table in TABLES:
        psql(f"\\copy {table} FROM '{tmp_path}/{table}.tsv'")
        rows = (tmp_path / f"{table}.tsv").read_text().count("\n")
        assert psql(f"SELECT count(*) FROM {table}") == str(rows), table
    (device,) = load_json("report", trace)["devices"]
    assert psql("SELECT peak_bytes, live_at_exit_bytes FROM device") == "{peak_bytes}\t{live_at_exit_bytes}".format(**device["driver"])
    assert psql("SELECT max(live_bytes) FROM event") == str(device["driver"]["peak_bytes"])
