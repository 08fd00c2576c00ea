# SPDX-License-Identifier: MIT
"""Invalid settings. One line reports them, the program runs, and no other file is touched."""
import os
import socket
import subprocess

import pytest

from support.run import TIMEOUT_S


def make_device(path):
    os.symlink("/dev/null", path)


def make_socket(path):
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


OTHERS = {"folder": os.mkdir, "FIFO": os.mkfifo, "socket": make_socket, "device": make_device}


@pytest.mark.parametrize("kind", OTHERS)
def test_what_is_no_file_is_no_output(record, program, tmp_path, monkeypatch, kind):
    """The test uses a relative name, because the path of a socket may have at most 107 bytes."""
    monkeypatch.chdir(tmp_path)
    OTHERS[kind]("trace.db")
    recording = record(program("phases"))
    assert recording.completed.stderr == (
        f"gpumemtrace: not recording: GPUMEMTRACE_OUTPUT is a {kind}: {recording.trace}; name a file\n"
    )
    assert os.listdir(tmp_path) == ["trace.db"]


def test_dev_null_gets_no_neighbour(record, program):
    recording = record(program("phases"), name="/dev/null")
    assert "GPUMEMTRACE_OUTPUT is a device: /dev/null" in recording.completed.stderr
    assert not [name for name in os.listdir("/dev") if name.startswith("null.")]


@pytest.mark.parametrize("setting", ["RING_MAX", "QUIET", "DEPTH"])
def test_a_setting_that_is_refused_cannot_control_the_terminal(record, program, setting):
    value = "a\x1b[31mb\u009b31m\n\x7f"
    recording = record(program("phases"), **{f"GPUMEMTRACE_{setting}": value})
    first, last = recording.completed.stderr.splitlines()
    assert f"GPUMEMTRACE_{setting}=a?[31mb??31m?? is not " in first
    assert "; see: " in last
    assert recording.report()["trace"]["complete"] is True


@pytest.mark.parametrize("setting", ["GPUMEMTRACE_SIM", "GPUMEMTRACE_SIM_FAULT"])
def test_nor_can_one_of_the_simulator(program, sim_env, setting):
    completed = subprocess.run(
        [program("phases")],
        env={**sim_env(), setting: "\x1b[31m"},
        capture_output=True,
        timeout=TIMEOUT_S,
    )
    assert b"'?[31m'" in completed.stderr and b"\x1b" not in completed.stderr
