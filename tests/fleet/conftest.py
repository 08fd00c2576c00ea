# SPDX-License-Identifier: MIT
"""Fixtures of this suite: a server for all tests of a file, a database for each test, and hand-written traces of
ranks."""
import itertools

import pytest

from fleet.server import MISSING, Server, program
from support.tracefile import Trace

NUMBERS = itertools.count(1)
START_NS = 1_795_000_000_000_000_000  # 2026-11-18


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    if not program():
        pytest.skip(MISSING)
    server = Server(tmp_path_factory.mktemp("clickhouse")).start()
    yield server
    server.stop()


@pytest.fixture
def database(server):
    """Returns the server with a new, empty database, to which the helpers of the server send their queries by
    default."""
    server.database = f"fleet{next(NUMBERS)}"
    server.query(f"CREATE DATABASE {server.database}", database="default")
    yield server
    server.query(f"DROP DATABASE {server.database}", database="default")


@pytest.fixture
def own_server(tmp_path):
    """Returns a server with an empty database that a test may kill."""
    if not program():
        pytest.skip(MISSING)
    server = Server(tmp_path / "server").start()
    server.query("CREATE DATABASE fleet", database="default")
    server.database = "fleet"
    yield server
    server.stop()


@pytest.fixture
def rank(tmp_path):
    """Returns rank(number, [(bytes, line)]), which returns the trace of a rank with one allocation for each pair.
    `line` is a line of train.py."""

    def write(number, blocks, device=0, name=None, host="node1", **meta):
        trace = Trace(tmp_path / (name or f"rank{number}.db"), rank=number, host=host,
                      **{"exit_status": 0, "start_unix_ns": START_NS, **meta})  # fmt: skip
        trace.device(device, uuid=f"GPU-{number}", name="H100", total_bytes=80 << 30)
        for size, line in blocks:
            trace.alloc(size, device=device, stack=trace.stack(("/job/train.py", line, "forward"), ("/job/train.py", 9, "main")))
        trace.exit()
        return trace.write()

    return write
