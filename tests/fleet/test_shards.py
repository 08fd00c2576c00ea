# SPDX-License-Identifier: MIT
"""Two servers on loopback addresses are the shards of a cluster. Each rank is on one shard. Together the shards answer
as one server does."""
import pytest

from fleet.job import fleet, push_all, run_job
from fleet.server import CLUSTER, MISSING, Server, program
from support.run import own_ports, run_command
from support.tracefile import MIB


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    """Returns the two servers. Both use the same HTTP port, each at its own address, as the servers of a cluster do.
    Their other ports differ, because a server recognizes its own shard by address and port, and every loopback address
    is local."""
    if not program():
        pytest.skip(MISSING)
    http, *ports = own_ports(5)
    servers = [Server(tmp_path_factory.mktemp("shard"), host, (http, *two))
               for host, two in (("127.0.0.1", ports[:2]), ("127.0.0.2", ports[2:]))]  # fmt: skip
    for server in servers:
        server.shards = [(one.host, one.tcp_port) for one in servers]
        server.start()
        server.query("CREATE DATABASE fleet", database="default")
        server.database = "fleet"
    yield servers
    for server in servers:
        server.stop()


def test_the_sum_over_two_shards_is_that_of_one_server(shards, database, tmp_path):
    traces = run_job(tmp_path, 8)
    first, second = shards
    assert run_command("push", f"--create={CLUSTER}", f"--to={first.url}").returncode == 0
    assert run_command("push", "--create", f"--to={database.url}").returncode == 0
    for server in (database, first):
        for completed in push_all(server.url, traces):
            assert completed.returncode == 0, completed.stderr
    assert fleet(first.url) == fleet(second.url) == fleet(database.url)
    for table in ("event", "stack", "site", "device", "push"):
        sums = [int(server.query(f"SELECT count() FROM {table}_local")) for server in shards]
        assert min(sums) > 0 and sum(sums) == int(database.query(f"SELECT count() FROM {table}"))
        assert int(second.query(f"SELECT count() FROM {table}")) == sum(sums)
    key = "cityHash64(job, run, rank) % 2"
    assert first.rows(f"SELECT DISTINCT {key} FROM event_local") != second.rows(f"SELECT DISTINCT {key} FROM event_local")
    before = fleet(second.url)
    push_all(second.url, traces[:2])
    assert fleet(first.url) == before


def test_of_ranks_with_equal_peaks_the_lowest_is_named_wherever_they_lie(shards, rank):
    run_command("push", f"--create={CLUSTER}", f"--to={shards[0].url}", "--job=alike", *[rank(number, [(MIB, 12)]) for number in range(8)])
    documents = [fleet(server.url, "--job=alike") for server in shards]
    assert [document["job"]["highest_rank"] for document in documents] == [0, 0] and documents[0] == documents[1]


def test_a_cluster_that_the_server_does_not_know_is_named(shards):
    completed = run_command("push", "--create=nobody", f"--to={shards[0].url}")
    assert completed.returncode == 2 and "knows no cluster 'nobody'" in completed.stderr
