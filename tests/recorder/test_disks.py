# SPDX-License-Identifier: MIT
"""Disks that are full, read-only or limited. The program ends as it does without the recorder. Events that were stored
can be read even on such a disk, and lost events are counted."""
import json
import pathlib
import resource
import signal
import subprocess
import textwrap

import pytest

from support.run import BUILD, TIMEOUT_S, load_json, simulator_environment

KIB = 1 << 10
EVENTS = 40_000  # a lower bound for the number of events that "many-events" of harm_ends makes


def may_mount():
    return subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode == 0


mounting = pytest.mark.skipif(not may_mount(), reason="mounting is not allowed here")


def in_own_mounts(script, folder, **settings_):
    """Runs a shell script in a mount namespace of its own. No other process sees its mounts, and they end with the
    script. Returns the CompletedProcess."""
    environment = simulator_environment(**settings_)
    environment["RECORDER"] = str(BUILD / "libgpumemtrace.so")
    environment["PROGRAMS"] = str(BUILD / "tests")
    environment["COMMAND"] = str(BUILD / "gpumemtrace")
    environment["FOLDER"] = str(folder)
    return subprocess.run(
        ["unshare", "-m", "sh", "-c", textwrap.dedent(script)],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=folder,
    )


def assert_said_once(said):
    lines = said.splitlines()
    assert all(line.startswith("gpumemtrace: ") for line in lines), said
    at_exit = [line for line in lines if "; see: " in line or "is incomplete" in line]
    assert len(at_exit) <= 1 and len(lines) - len(at_exit) <= 1, said


def assert_all_counted(figures, said):
    events, lost = figures["events"], figures["lost_events"]
    assert events + lost >= EVENTS
    assert not lost or "lost" in said or "is incomplete" in said, said


# --- full ------------------------------------------------------------------------------------------

ON_A_FULL_DISK = """
    mkdir small && mount -t tmpfs -o size=${SIZE}k none small || exit 99
    LD_PRELOAD=$RECORDER GPUMEMTRACE_OUTPUT=$FOLDER/small/trace.db TMPDIR=$FOLDER/small \\
        $PROGRAMS/harm_ends many-events 2>said
    echo status $?
    if [ -e small/trace.db ]; then
        cp -r small copy
        $COMMAND info small/trace.db --json >figures || echo unreadable there
    else
        ls small
    fi
"""


@mounting
@pytest.mark.parametrize("first", range(4))
def test_a_disk_that_gets_full_at_any_write_harms_only_the_trace(tmp_path, first):
    """The schema takes 100 KiB, and the whole trace takes 6 MiB. With each size of the disk, a different write
    fails."""
    sizes = [*range(4, 180, 8), 260, 380, 420, 700, 1100, 1600, 2200, 3000, 3600, 4200, 5000, 9000]
    for size in sizes[first::4]:
        folder = tmp_path / str(size)
        folder.mkdir()
        done = in_own_mounts(ON_A_FULL_DISK, folder, SIZE=size)
        said = (folder / "said").read_text()
        assert done.stdout == "status 5\n", (size, done.stdout, done.stderr, said)
        assert_said_once(said)
        if not (folder / "copy").exists():
            assert "not recording" in said
            continue
        there = json.loads((folder / "figures").read_text())["trace"]
        assert_all_counted(there, said)
        elsewhere = load_json("info", folder / "copy/trace.db")["trace"]
        assert {**elsewhere, "path": ""} == {**there, "path": ""}
        assert not list(folder.glob("copy/trace.db-ring.*"))


AT_THE_START = """
    mkdir small tmp && mount -t tmpfs -o size=${SIZE}k none small || exit 99
    LD_PRELOAD=$RECORDER GPUMEMTRACE_OUTPUT=$FOLDER/small/trace.db TMPDIR=$FOLDER/$ELSEWHERE \\
        $PROGRAMS/process_end return
    echo status $?; ls small
"""


@mounting
@pytest.mark.parametrize("size", [4, 88, 104, 160, 350])
@pytest.mark.parametrize("elsewhere", ["small", "tmp"])
def test_a_disk_that_is_full_at_the_start_is_named_and_another_one_taken(tmp_path, size, elsewhere):
    """The sizes leave room for nothing, for a part of the database, or for the database without the ring."""
    done = in_own_mounts(AT_THE_START, tmp_path, SIZE=size, ELSEWHERE=elsewhere)
    assert done.stdout == "status 5\n"
    said = done.stderr.splitlines()
    named = f"the disk of {tmp_path}/small is full ("
    advice = "); free space there, or name a file on another disk in GPUMEMTRACE_OUTPUT"
    if elsewhere == "small":
        assert len(said) == 1
        assert said[0].startswith(f"gpumemtrace: not recording: {named}") and said[0].endswith(advice)
        return
    assert said[0].startswith(f"gpumemtrace: {named}")
    assert said[0].endswith(f"{advice}; recording to {tmp_path}/tmp/trace.db instead")
    assert "; see: " in said[1]
    trace = load_json("report", tmp_path / "tmp/trace.db")["trace"]
    assert (trace["complete"], trace["lost_events"]) == (True, 0)


WHILE_IT_RUNS = """
    mkdir small && mount -t tmpfs -o size=${SIZE}k none small || exit 99
    mkfifo go_on
    LD_PRELOAD=$RECORDER GPUMEMTRACE_OUTPUT=$FOLDER/small/trace.db TMPDIR=$FOLDER/small \\
        $PROGRAMS/harm_traces threads-at-once 2>said >ended <go_on &
    exec 3>go_on
    until [ -s ended ]; do sleep 0.05; done
    $BEFORE_IT_GOES_ON
    exec 3>&-
    wait
    $COMMAND info small/trace.db --json
"""


@mounting
@pytest.mark.parametrize("has_room_at_the_end", [False, True])
@pytest.mark.parametrize("size", [560, 800, 1200, 4000])
def test_events_lost_on_a_full_disk_make_the_trace_incomplete_and_name_the_disk(tmp_path, size, has_room_at_the_end):
    """Each of 16 threads needs a segment of the ring, and only some of the segments fit on the disk. Whether the
    database fits beside them depends on when the writer stores it, unless the disk is enlarged after the threads."""
    enlarge = "mount -o remount,size=32m small" if has_room_at_the_end else ":"
    info = json.loads(in_own_mounts(WHILE_IT_RUNS, tmp_path, SIZE=size, BEFORE_IT_GOES_ON=enlarge).stdout)
    said = (tmp_path / "said").read_text()
    facts = info["meta"]
    assert (facts["complete"], facts["lost_reason"]) == (0, "No space left on device")
    assert info["trace"]["complete"] is False
    lost = f"{facts['lost_events']} events were lost, as the disk had no room for the ring"
    assert any(warning.startswith(lost) for warning in info["warnings"])
    if has_room_at_the_end:
        assert "is incomplete" not in said and "peak at least " in said
        lost = f"{facts['lost_events']} events lost (the ring could not grow in {tmp_path}/small: "
        assert f", {lost}No space left on device; free space there" in said
        assert not any("without exit" in warning for warning in info["warnings"])


@pytest.mark.parametrize("size", [0, 4, 76, 90, 130, 200, 300, 600, 1000, 1600, 2400])
def test_a_limit_on_the_size_of_files_at_any_write_harms_only_the_trace(sim_env, tmp_path, size):
    environment = sim_env(
        LD_PRELOAD=BUILD / "libgpumemtrace.so",
        GPUMEMTRACE_OUTPUT=tmp_path / "trace.db",
        TMPDIR=tmp_path,
    )
    done = subprocess.run(
        [BUILD / "tests/harm_ends", "many-events"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size * KIB, size * KIB)),
    )
    assert done.returncode == 5, done.stderr
    assert_said_once(done.stderr)
    if (tmp_path / "trace.db").exists():
        assert_all_counted(load_json("info", tmp_path / "trace.db")["trace"], done.stderr)
    else:
        assert "not recording" in done.stderr


# --- read-only -------------------------------------------------------------------------------------


def tree(folder):
    """Returns {name: bytes} of every file."""
    return {path.name: path.read_bytes() for path in pathlib.Path(folder).iterdir()}


@mounting
@pytest.mark.parametrize("mode", ["signal", "system-call"])
def test_the_trace_of_a_killed_process_can_be_read_where_nothing_can_be_written(
    record, program, tmp_path, mode
):
    name = "process_end" if mode == "signal" else "process_children"
    folder = tmp_path / "left"
    folder.mkdir()
    killed = record(program(name), mode, check=False, name="left/trace.db")
    assert killed.completed.returncode == (-signal.SIGTERM if mode == "signal" else 5)
    before = tree(folder)
    assert "trace.db-ring.0" in before
    done = in_own_mounts(
        """
        mount --bind left left && mount -o remount,bind,ro left || exit 99
        touch left/x 2>/dev/null && exit 98
        $COMMAND report left/trace.db --json && $COMMAND report left/trace.db --json >again
        """,
        tmp_path,
    )
    assert done.returncode == 0, done.stderr
    read_only = json.loads(done.stdout)
    assert read_only["devices"][0]["driver"]["allocations"] == (3 if mode == "signal" else 2)
    assert (read_only["trace"]["complete"], read_only["trace"]["lost_events"]) == (False, 0)
    assert json.loads((tmp_path / "again").read_text()) == read_only
    assert tree(folder) == before
    folded = load_json("report", folder / "trace.db")
    relative = json.dumps(folded, sort_keys=True).replace(f"{folder}/", "left/")
    assert relative == json.dumps(read_only, sort_keys=True)


@mounting
@pytest.mark.parametrize("elsewhere", ["tmp", "left"])
def test_a_program_in_a_read_only_folder_runs_and_is_recorded_where_it_may_be(tmp_path, elsewhere):
    (tmp_path / "left").mkdir()
    (tmp_path / "tmp").mkdir()
    done = in_own_mounts(
        """
        mount --bind left left && mount -o remount,bind,ro left || exit 99
        LD_PRELOAD=$RECORDER GPUMEMTRACE_OUTPUT=$FOLDER/left/trace.db TMPDIR=$FOLDER/$ELSEWHERE \\
            $PROGRAMS/process_end return
        """,
        tmp_path,
        ELSEWHERE=elsewhere,
    )
    assert done.returncode == 5, done.stderr
    assert_said_once(done.stderr)
    assert "Read-only file system" in done.stderr
    if elsewhere == "tmp":
        assert load_json("report", tmp_path / "tmp/trace.db")["trace"]["complete"] is True
    else:
        assert "not recording" in done.stderr
