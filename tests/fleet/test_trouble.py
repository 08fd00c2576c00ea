# SPDX-License-Identifier: MIT
"""Errors between a command and the server. The command prints one clear line and exits with status 2, and no push is
written in part."""
import signal
import socketserver
import subprocess
import threading

import pytest

from fleet.between import Between, exception
from fleet.server import Server
from support.run import BUILD, TIMEOUT_S, clean_environment, run_command, wait_for

MIB = 1 << 20
BLOCKS = [(100 * MIB, 12), (50 * MIB, 15)]
SECRET = "not-for-anybody"
LOGIN = {"GPUMEMTRACE_FLEET_USER": "fleet", "GPUMEMTRACE_FLEET_PASSWORD": SECRET}


def complaint(*arguments, env=None):
    """Runs a command that must exit with status 2. Returns the single line that it prints to stderr."""
    completed = run_command(*arguments, env=env)
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout == "" and completed.stderr.count("\n") == 1, completed.stderr
    assert SECRET not in completed.stderr
    return completed.stderr


def both(url, trace, *options, env=None):
    """Returns the complaints of `push` and of `fleet` about an address."""
    return complaint("push", f"--to={url}", *options, trace, env=env), complaint("fleet", f"--from={url}", *options, env=env)


@pytest.mark.parametrize("url, words", [
    ("gpu:8123/fleet", "is not an address of a database"), ("ftp://gpu/fleet", "is not an address"), ("http://gpu:8123", "is not an address"),
    ("http://gpu:8123/a/b", "is not an address"), ("http://gpu:8123/fleet?x=1", "is not an address"),
    (f"http://me:{SECRET}@gpu:8123/fleet", "an address with a user or password is refused"),
    ("http://127.0.0.1:1/fleet", "no server answers at 127.0.0.1:1"),
    ("http://no-such-host.invalid:8123/fleet", "no server answers at no-such-host.invalid:8123")])  # fmt: skip
def test_a_wrong_address_is_named_at_once(rank, url, words):
    for line in both(url, rank(0, BLOCKS)):
        assert words in line


@pytest.mark.parametrize("code", [192, 193, 516])
def test_a_refused_login_names_the_user_and_never_the_password(rank, code):
    trace = rank(0, BLOCKS)
    with Between(answer=lambda statement, number: exception(code, "Wrong password for user fleet")) as fake:
        for line in both(fake.url(), trace, env=clean_environment(**LOGIN)):
            assert "refuses the login of user 'fleet'" in line
        assert {headers["X-ClickHouse-Key"] for headers in fake.headers} == {SECRET}


def test_a_login_from_a_file_or_the_environment_is_taken_by_the_server(database, rank, tmp_path):
    (tmp_path / "login").write_text(f"fleet\n{Server.PASSWORD}\n")
    good = clean_environment(GPUMEMTRACE_FLEET_USER="fleet", GPUMEMTRACE_FLEET_PASSWORD=Server.PASSWORD)
    assert run_command("push", "--create", f"--to={database.url}", f"--login={tmp_path}/login", rank(0, BLOCKS)).returncode == 0
    assert run_command("fleet", f"--from={database.url}", env=good).returncode == 0
    line = complaint("fleet", f"--from={database.url}", env=clean_environment(**LOGIN))
    assert "refuses the login of user 'fleet'" in line
    assert "--login=/no/file: No such file" in complaint("fleet", f"--from={database.url}", "--login=/no/file")


@pytest.mark.parametrize("what", ["user", "password"])
def test_a_user_or_password_that_is_too_long_is_refused_wherever_it_stands(rank, tmp_path, what):
    trace, user, password = rank(0, BLOCKS), "u" * (256 if what == "user" else 255), SECRET * (18 if what == "password" else 17)
    (tmp_path / "login").write_text(f"{user}\n{password}\n")
    environment = clean_environment(GPUMEMTRACE_FLEET_USER=user, GPUMEMTRACE_FLEET_PASSWORD=password)
    with Between(answer=lambda statement, number: exception(192, "Wrong")) as fake:
        for line in (*both(fake.url(), trace, f"--login={tmp_path}/login"), *both(fake.url(), trace, env=environment)):
            assert f"the {what} for the server is longer than 255 bytes" in line
        assert fake.statements == []


@pytest.fixture
def certificate(tmp_path):
    """Returns certificate(name), which returns a file with a self-signed certificate for that host and the
    certificate's key."""

    def make(name):
        key, path = tmp_path / "key", tmp_path / f"{name}.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", f"/CN={name}", "-days", "2",
                        "-addext", f"subjectAltName={name}", "-keyout", key, "-out", path], check=True, capture_output=True)  # fmt: skip
        path.write_text(path.read_text() + key.read_text())
        return path

    return make


def test_a_server_with_tls_is_asked_only_if_its_certificate_is_trusted(database, rank, certificate):
    trace, path = rank(0, BLOCKS), certificate("IP:127.0.0.1")
    with Between(database, certificate=path) as proxy:
        for line in both(proxy.url(database.database), trace):
            assert f"127.0.0.1:{proxy.port} is not trusted" in line and "GPUMEMTRACE_FLEET_CERTIFICATES" in line
        assert proxy.statements == []
        trusting = clean_environment(GPUMEMTRACE_FLEET_CERTIFICATES=str(path))
        assert run_command("push", "--create", f"--to={proxy.url(database.database)}", trace, env=trusting).returncode == 0
        assert run_command("fleet", f"--from={proxy.url(database.database)}", env=trusting).returncode == 0


def test_a_certificate_of_another_host_is_not_trusted(rank, certificate):
    path = certificate("DNS:elsewhere.example")
    with Between(certificate=path) as proxy:
        for line in both(proxy.url(), rank(0, BLOCKS), env=clean_environment(GPUMEMTRACE_FLEET_CERTIFICATES=str(path))):
            assert "is not trusted" in line
        assert proxy.statements == []


def test_a_server_that_is_no_clickhouse_is_named(rank):
    with Between(answer=lambda statement, number: (404, b"<html>\x1b[31mnot here</html>", {})) as fake:
        for line in both(fake.url(), rank(0, BLOCKS)):
            assert "does not answer as ClickHouse does: HTTP 404" in line and "\x1b" not in line


@pytest.mark.parametrize("greeting", [b"SSH-2.0-OpenSSH_9.2\r\n", b""])
def test_a_port_where_nobody_speaks_http_is_named(rank, greeting):
    class Other(socketserver.BaseRequestHandler):
        def handle(self):
            self.request.recv(65536)
            self.request.sendall(greeting)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Other) as other:
        threading.Thread(target=other.serve_forever, daemon=True).start()
        address = f"127.0.0.1:{other.server_address[1]}"
        for line in both(f"http://{address}/fleet", rank(0, BLOCKS)):
            assert f"{address} does not answer as an HTTP server does" in line and "by default 8123?" in line
        other.shutdown()


@pytest.mark.parametrize("text", [b"<html>welcome</html>", b""])
def test_a_server_that_accepts_every_request_is_not_taken_for_clickhouse(rank, text):
    with Between(answer=lambda statement, number: (200, text, {})) as fake:
        for line in [*both(fake.url(), rank(0, BLOCKS)), complaint("push", "--create", f"--to={fake.url()}")]:
            assert f"127.0.0.1:{fake.port} gives no version of the tables in 'fleet'; is it a ClickHouse server?" in line
        assert not any("CREATE" in statement for statement in fake.statements)


def test_a_server_without_tls_at_an_address_with_https_is_named(rank):
    with Between() as plain:
        for line in both(plain.url().replace("http:", "https:"), rank(0, BLOCKS)):
            assert f"no TLS with 127.0.0.1:{plain.port}: " in line and "does its address begin with http://?" in line


def test_a_redirect_is_not_followed_and_the_other_host_learns_nothing(rank):
    with Between() as other:
        away = {"Location": f"{other.url()}"}
        with Between(answer=lambda statement, number: (307, b"", away)) as fake:
            for line in both(fake.url(), rank(0, BLOCKS), env=clean_environment(**LOGIN)):
                assert f"redirects to {other.url()}, which is not followed" in line
        assert other.headers == []


@pytest.mark.parametrize("how", ["hang", "drip"])
def test_a_server_that_hangs_is_given_up(rank, how):
    trace = rank(0, BLOCKS)
    with Between(answer=lambda statement, number: how) as fake:
        for line in both(fake.url(), trace, "--timeout=1"):
            assert "does not answer within 1 s" in line


def test_tables_of_another_version_are_refused(database, rank):
    trace = rank(0, BLOCKS)
    for line in both(database.url, trace):
        assert "has no tables for traces" in line and "push --create" in line
    database.query("CREATE TABLE gpumemtrace_schema ENGINE = Log AS SELECT toInt32(99) AS version, '' AS cluster")
    for line in both(database.url, trace):
        assert "are of schema 99, and this gpumemtrace knows 1" in line
    assert "are of schema 99" in complaint("push", "--create", f"--to={database.url}", trace)
    assert database.rows("SHOW TABLES") == [("gpumemtrace_schema",)]


def test_tables_of_a_cluster_that_the_server_does_not_know_are_named(database, rank):
    database.query("CREATE TABLE gpumemtrace_schema ENGINE = Log AS SELECT toInt32(1) AS version, 'nobody' AS cluster")
    line = complaint("push", f"--to={database.url}", rank(0, BLOCKS))
    assert f"the tables belong to the cluster 'nobody', which 127.0.0.1:{database.http_port} does not know" in line


def test_a_database_that_is_not_there_is_named(server, rank):
    for line in both(f"http://{server.host}:{server.http_port}/nowhere", rank(0, BLOCKS)):
        assert "has no database 'nowhere'; create it there: CREATE DATABASE nowhere" in line


# --- in the middle of a push ---


def answers(database):
    return run_command("fleet", f"--from={database.url}", "--json").stdout


@pytest.fixture
def before(database, rank):
    """Pushes one trace of a rank and returns the answers of `fleet`. After that, a test pushes a second trace of the
    same rank."""
    assert run_command("push", "--create", f"--to={database.url}", rank(0, [(7 * MIB, 12)], name="first.db")).returncode == 0
    return answers(database)


STEPS = ["NOT EXISTS staging", "_event (process", "_stack (process", "ALTER TABLE event REPLACE", "ALTER TABLE stack REPLACE",
         "INSERT INTO process", "INSERT INTO site", "INSERT INTO push"]  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_a_full_disk_at_any_step_is_one_line_and_changes_no_answer(database, rank, before, step):
    full, trace = exception(243, "Cannot reserve 1.00 MiB, not enough space"), rank(0, BLOCKS)
    with Between(database, lambda statement, number: full if step in statement else None) as proxy:
        line = complaint("push", f"--to={proxy.url(database.database)}", trace)
    assert f"the disk of 127.0.0.1:{proxy.port} is full: Cannot reserve 1.00 MiB" in line
    assert answers(database) == before
    assert run_command("push", f"--to={database.url}", trace).returncode == 0
    assert '"peak_bytes": 157286400' in answers(database)
    assert database.rows("SELECT count() FROM event") == [("3",)] and database.rows("SHOW TABLES LIKE 'staging%'") == []


def test_a_full_disk_is_told_by_the_words_of_the_system_too(rank):
    words = "DB::ErrnoException: Cannot write to file /data/push.bin, errno: 28, strerror: No space left on device"
    full = 500, f"Code: 75, e.displayText() = {words}, e.what() = DB::ErrnoException".encode(), {}
    with Between(answer=lambda statement, number: full) as fake:
        for line in both(fake.url(), rank(0, BLOCKS)):
            assert f"the disk of 127.0.0.1:{fake.port} is full: Cannot write to file /data/push.bin, errno: 28" in line


@pytest.mark.parametrize("how", ["break", "break after"])
@pytest.mark.parametrize("step", STEPS)
def test_a_connection_that_breaks_at_any_step_is_made_again_and_no_row_is_there_twice(database, rank, before, step, how):
    trace = rank(0, BLOCKS)
    with Between(database, once(lambda statement, number: how, step)) as proxy:
        completed = run_command("push", f"--to={proxy.url(database.database)}", trace)
    assert any(step in statement for statement in proxy.statements) and completed.returncode == 0, completed.stderr
    assert database.rows("SELECT count(), uniqExact(seq) FROM event") == [("3", "3")]
    through = answers(database)
    run_command("push", f"--to={database.url}", trace)
    assert answers(database) == through != before


@pytest.mark.parametrize("step", STEPS[1:])
def test_a_push_that_is_killed_at_any_step_changes_no_answer(database, rank, before, step):
    with Between(database, lambda statement, number: "hang" if step in statement else None) as proxy:
        command = [BUILD / "gpumemtrace", "push", f"--to={proxy.url(database.database)}", rank(0, BLOCKS)]
        process = subprocess.Popen(list(map(str, command)), env=clean_environment(), stderr=subprocess.DEVNULL)
        wait_for(lambda: any(step in statement for statement in proxy.statements))
        process.send_signal(signal.SIGKILL)
        process.wait(TIMEOUT_S)
    assert answers(database) == before


def test_staging_tables_that_a_dying_server_half_dropped_hinder_no_later_push(own_server, rank):
    """DROP removes the metadata of a table before it removes the table's folder. If the server dies in between, the
    folder remains. The server then refuses to create a table, because the table's folder exists."""
    trace = rank(0, BLOCKS)
    assert run_command("push", "--create", f"--to={own_server.url}", trace).returncode == 0
    before = answers(own_server)
    with Between(own_server, lambda statement, number: "hang" if STEPS[3] in statement else None) as proxy:
        command = [BUILD / "gpumemtrace", "push", f"--to={proxy.url(own_server.database)}", trace]
        process = subprocess.Popen(list(map(str, command)), env=clean_environment(), stderr=subprocess.DEVNULL)
        wait_for(lambda: any(STEPS[3] in statement for statement in proxy.statements))
        process.kill()
        process.wait(TIMEOUT_S)
    own_server.stop()
    known = sorted((own_server.folder / "data/metadata/fleet").glob("staging*"))
    assert len(known) == 2
    for path in known:
        path.unlink()
    own_server.start()
    completed = run_command("push", f"--to={own_server.url}", trace)
    assert completed.returncode == 0, completed.stderr
    assert answers(own_server) == before and own_server.rows("SHOW TABLES LIKE 'staging%'") == []


def test_a_server_that_stops_in_the_middle_and_comes_back_is_waited_for(own_server, rank):
    trace = rank(0, BLOCKS)
    assert run_command("push", "--create", f"--to={own_server.url}", "--job=sound", trace).returncode == 0

    def stop_and_start(statement, number):
        own_server.stop()
        own_server.start()
        return "break"

    with Between(own_server, once(stop_and_start, "INSERT INTO site")) as proxy:
        completed = run_command("push", f"--to={proxy.url()}", "--job=stopped", trace)
    assert completed.returncode == 0, completed.stderr
    sound, stopped = (run_command("fleet", f"--from={own_server.url}", f"--job={job}", "--json") for job in ("sound", "stopped"))
    assert sound.stdout.replace("sound", "stopped") == stopped.stdout


def test_a_push_that_makes_its_staging_tables_during_another_has_its_own(database, rank, before):
    first, second = rank(0, [(9 * MIB, 12)], name="hung.db"), rank(0, BLOCKS)
    with Between(database, lambda statement, number: "hang" if STEPS[1] in statement else None) as hanging:

        def begin_first(statement, number):
            first_push = [BUILD / "gpumemtrace", "push", f"--to={hanging.url(database.database)}", first]
            begun.append(subprocess.Popen(list(map(str, first_push)), env=clean_environment(), stderr=subprocess.DEVNULL))
            wait_for(lambda: any(STEPS[1] in statement for statement in hanging.statements))

        begun = []
        with Between(database, once(begin_first, STEPS[0])) as proxy:
            completed = run_command("push", f"--to={proxy.url(database.database)}", second)
        begun[0].kill()
        begun[0].wait(TIMEOUT_S)
    assert completed.returncode == 0, completed.stderr
    assert '"peak_bytes": 157286400' in answers(database)
    assert database.rows("SELECT count() FROM event WHERE push IN (SELECT max(push) FROM push)") == [("3",)]


def test_a_push_that_another_of_its_rank_replaces_says_so(database, rank, before):
    first, second = rank(0, [(9 * MIB, 12)], name="replaced.db"), rank(0, BLOCKS)
    with Between(database, once(lambda *_: run_command("push", f"--to={database.url}", second) and None, STEPS[3])) as proxy:
        line = complaint("push", f"--to={proxy.url(database.database)}", first)
    assert f"another push of rank 0 of job 'train.py', run '1', to 127.0.0.1:{proxy.port} began and replaces this one" in line
    assert '"peak_bytes": 157286400' in answers(database)
    assert database.rows("SELECT count() FROM event") == [("3",)] and database.rows("SHOW TABLES LIKE 'staging%'") == []


def test_a_list_of_tables_that_another_ranks_push_disturbs_is_asked_for_again(database, rank, before):
    """ClickHouse 18.16 answers so if a table is dropped while it makes the list."""
    told = exception(60, "Table fleet.staging_0123456789abcdef_1_0_event doesn't exist")
    with Between(database, once(lambda *_: told, "SHOW TABLES LIKE 'staging")) as proxy:
        completed = run_command("push", f"--to={proxy.url(database.database)}", rank(0, BLOCKS))
    assert completed.returncode == 0, completed.stderr
    assert len([statement for statement in proxy.statements if "SHOW TABLES LIKE 'staging" in statement]) == 2


def once(answer, step):
    """Returns a function for Between. It answers only the first statement that contains `step` and passes all other
    statements to the server."""
    seen = []

    def first(statement, number):
        if step not in statement or seen:
            return None
        seen.append(number)
        return answer(statement, number)

    return first
