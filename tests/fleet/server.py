# SPDX-License-Identifier: MIT
"""A ClickHouse server for the tests. Its configuration and data are in a folder. It listens on a loopback address and
on free ports. It is stopped by its process id."""
import os
import shutil
import subprocess
import urllib.error
import urllib.parse
import urllib.request

from support.run import TIMEOUT_S, own_ports, wait_for

MISSING = "no clickhouse-server; on Debian `.ci/deps fleet` installs it"
CLUSTER = "gpumemtrace"

CONFIG = """<?xml version="1.0"?>
<yandex>
    <logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
    <listen_host>{host}</listen_host>
    <http_port>{http_port}</http_port>
    <tcp_port>{tcp_port}</tcp_port>
    <interserver_http_port>{interserver_port}</interserver_http_port>
    <interserver_http_host>{host}</interserver_http_host>
    <path>{folder}/data/</path>
    <tmp_path>{folder}/data/tmp/</tmp_path>
    <users_config>{folder}/users.xml</users_config>
    <default_profile>default</default_profile>
    <default_database>default</default_database>
    <timezone>UTC</timezone>
    <uncompressed_cache_size>0</uncompressed_cache_size>
    <mark_cache_size>67108864</mark_cache_size>
    <keep_alive_timeout>10</keep_alive_timeout>
    <remote_servers>{clusters}</remote_servers>
</yandex>
"""

USERS = """<?xml version="1.0"?>
<yandex>
    <profiles><default><max_memory_usage>2000000000</max_memory_usage><max_threads>2</max_threads></default></profiles>
    <quotas><default></default></quotas>
    <users>
        <default><password></password>{rest}</default>
        <fleet><password>{password}</password>{rest}</fleet>
    </users>
</yandex>
"""

USER = "<networks><ip>127.0.0.0/8</ip></networks><profile>default</profile><quota>default</quota>"
SHARD = "<shard><replica><host>{0}</host><port>{1}</port><user>default</user></replica></shard>"


def program():
    """Returns the path of the server's program, or None if there is none."""
    return shutil.which("clickhouse-server") or shutil.which("clickhouse-server", path="/usr/sbin:/usr/local/sbin")


class Server:
    PASSWORD = "not-for-argv"

    def __init__(self, folder, host="127.0.0.1", ports=None):
        self.folder, self.host, self.process = folder, host, None
        self.http_port, self.tcp_port, self.interserver_port = ports or own_ports(3)
        self.shards, self.database = [(host, self.tcp_port)], "default"
        (folder / "data/tmp").mkdir(parents=True, exist_ok=True)

    @property
    def url(self):
        return f"http://{self.host}:{self.http_port}/{self.database}"

    def write_configuration(self):
        shards = "".join(SHARD.format(*shard) for shard in self.shards)
        (self.folder / "config.xml").write_text(CONFIG.format(
            folder=self.folder, host=self.host, http_port=self.http_port, tcp_port=self.tcp_port,
            interserver_port=self.interserver_port, clusters=f"<{CLUSTER}>{shards}</{CLUSTER}>"))  # fmt: skip
        (self.folder / "users.xml").write_text(USERS.format(password=self.PASSWORD, rest=USER))

    def start(self):
        self.write_configuration()
        environment = {**os.environ, "TZ": "UTC"}
        with open(self.folder / "output", "ab") as output:
            self.process = subprocess.Popen(
                [program(), f"--config-file={self.folder}/config.xml"],
                cwd=self.folder, env=environment, stdin=subprocess.DEVNULL, stdout=output, stderr=output)  # fmt: skip
        wait_for(lambda: self.answers() or self.process.poll() is not None, what="the server")
        if self.process.poll() is not None:
            raise RuntimeError(f"clickhouse-server did not start: {(self.folder / 'output').read_text()[-2000:]}")
        return self

    def answers(self):
        try:
            return self.query("SELECT 1", database="default")
        except OSError:
            return None

    def stop(self):
        """Kills the process of this server. A clean shutdown is not needed, because the data is discarded afterwards or
        the test is about a crash."""
        if self.process:
            self.process.kill()
            self.process.wait()

    def query(self, sql, database=None, data=None):
        """Runs a statement and returns the text of the answer. If the server answers with an error, raises an
        AssertionError with the error's message."""
        database = database or self.database
        words = urllib.parse.urlencode({"database": database, **({} if data is None else {"query": sql})})
        body = sql.encode() if data is None else data
        request = urllib.request.Request(f"http://{self.host}:{self.http_port}/?{words}", data=body)
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT_S) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{error.read().decode()[:1000]}\n{sql[:2000]}") from None

    def rows(self, sql):
        return [tuple(line.split("\t")) for line in self.query(sql).splitlines()]
