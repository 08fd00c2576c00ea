# SPDX-License-Identifier: MIT
"""Facts that a trace holds about its process besides the events: the job of the process, the settings of its
allocators, its exit."""
import ctypes.util
import sys

import pytest

EXITS = "SELECT seq, time_ns FROM event WHERE kind=15 ORDER BY seq"


def table(recording, name):
    return dict(recording.rows(f"SELECT name, value FROM {name}"))


def exit_of(recording):
    meta = dict(recording.rows("SELECT key, value FROM meta"))
    return meta["exit_seq"], meta["exit_ns"]


def test_a_launchers_variables_are_kept_and_no_others(record, program):
    job = {"RANK": "3", "WORLD_SIZE": "16", "MASTER_ADDR": "node0", "SLURM_JOB_ID": "77", "OMPI_COMM_WORLD_SIZE": "4"}
    recording = record(program("phases"), **job, SLURM_JWT="secret", API_TOKEN="secret")
    assert table(recording, "job_variable").items() >= job.items()
    for name in ("job_variable", "allocator_setting"):
        assert "secret" not in table(recording, name).values()


def test_settings_of_allocators_are_kept(record, program):
    settings = {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:True", "PYTORCH_ALLOC_CONF": "", "CUDA_MODULE_LOADING": "LAZY"}
    recording = record(program("phases"), **settings)
    assert table(recording, "allocator_setting").items() >= settings.items()


def test_a_variable_of_megabytes_is_cut(record, program):
    recording = record(program("phases"), SLURM_JOB_NAME="n" * 100_000)
    assert table(recording, "job_variable")["SLURM_JOB_NAME"] == "n" * 4096


def test_a_trace_says_that_its_recorder_tells_the_nodes_of_autograd(record, program):
    """With this entry, a reader can tell a run without nodes from a run of a recorder that cannot see nodes."""
    recording = record(program("phases"))
    assert recording.rows("SELECT value FROM meta WHERE key = 'tells_autograd'") == [(1,)]


@pytest.mark.parametrize("mode", ["return", "exit", "_exit", "quick-exit", "exec"])
def test_meta_names_the_event_of_the_exit(record, program, mode):
    recording = record(program("process_end"), mode, check=False)
    recording.report()  # after an exec, the ring still holds the event until `report` reads it
    assert [exit_of(recording)] == recording.rows(EXITS)


def test_an_exec_that_failed_takes_its_exit_back(record, program):
    recording = record(program("process_end"), "failed-exec", check=False)
    exits = recording.rows(EXITS)
    assert len(exits) == 2
    assert exit_of(recording) == exits[1]
    undone = recording.rows("SELECT seq FROM event JOIN event_kind USING (kind) WHERE name = 'exit-undone'")
    assert len(undone) == 1 and exits[0][0] < undone[0][0] < exits[1][0]


KEEPER = """
import ctypes
CUDA = ctypes.CDLL("libcudart.so.12")
class Block:
    def __init__(self, size):
        self.address = ctypes.c_void_p()
        CUDA.cudaMalloc(ctypes.byref(self.address), ctypes.c_size_t(size))
    def __del__(self, free=CUDA.cudaFree):
        free(self.address)
kept = Block(5 << 20)
Block(1 << 20)
"""


def test_what_pythons_end_frees_was_live_at_the_exit(record):
    recording = record(sys.executable, "-c", KEEPER)
    layer = recording.report()["devices"][0]["driver"]
    assert (layer["allocations"], layer["frees"], layer["live_at_exit_bytes"]) == (2, 1, 5 << 20)
    assert recording.rows("SELECT kind, object FROM event JOIN meta ON key = 'exit_seq' AND seq >= value ORDER BY seq"
                          ) == [(15, 3), (2, 0)]  # fmt: skip
    assert [exit_of(recording)] == recording.rows(EXITS)


@pytest.mark.parametrize("script", [(), (KEEPER,)])
def test_a_program_that_goes_on_without_its_interpreter_has_its_own_exit(record, program, script):
    library = ctypes.util.find_library("python3.11")
    if not library:
        pytest.skip("no libpython3.11 to load here")
    recording = record(program("stack_embedded"), library, "close", *script)
    layer = recording.report()["devices"][0]["driver"]
    assert (layer["allocations"], layer["frees"]) == ((5, 2) if script else (3, 0))
    assert layer["live_at_exit_bytes"] == 3 * 4096
    assert recording.rows("SELECT object FROM event JOIN meta ON key = 'exit_seq' AND seq = value") == [(0,)]


def test_a_killed_process_has_no_exit(record, program):
    recording = record(program("process_end"), "signal", check=False)
    recording.report()
    assert exit_of(recording) == (None, None)


ALLOCATE = "import ctypes, os, sys; ctypes.CDLL('libcudart.so.12').cudaMalloc(ctypes.byref(ctypes.c_void_p()), 4096); "


@pytest.mark.parametrize(
    "ends, status",
    [
        ("", 0), ("sys.exit(3)", 3), ("raise MemoryError", 1), ("os._exit(7)", 7), ("os.kill(os.getpid(), 9)", None),
        ("os.execlp('true', 'true')", None),
        ("os.fork() or os._exit(5); os.wait(); sys.exit(4)", 4),
    ],
)  # fmt: skip
def test_the_trace_keeps_what_its_process_left_with(record, ends, status):
    recording = record(sys.executable, "-c", ALLOCATE + ends, check=False)
    recording.report()
    assert dict(recording.rows("SELECT key, value FROM meta"))["exit_status"] == status


def test_the_stream_of_a_pools_piece_is_not_known(record, program):
    recording = record(program("pool_events"), 100)
    assert recording.rows("SELECT DISTINCT memory_kind.name, stream FROM event JOIN memory_kind USING (memory) WHERE kind = 1"
                          " ORDER BY 1") == [("linear", 0), ("tensor", None)]  # fmt: skip
