# SPDX-License-Identifier: MIT
"""Every way in which a process can end. The trace is whole, and the process ends as it does without the recorder."""
import os
import pathlib
import signal
import sqlite3
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, TIMEOUT_S, clean_environment, compile_library, load_json, wait_for

MIB = 1 << 20


def driver_layer(trace):
    report = load_json("report", trace)
    return report["trace"], report["devices"][0]["driver"]


def traces_in(folder):
    return sorted(path.name for path in folder.glob("trace*"))


@pytest.mark.parametrize("mode", ["return", "exit", "_exit", "quick-exit", "atexit", "exec"])
def test_live_at_exit_is_what_was_live_when_exit_began(record, program, mode):
    recording = record(program("process_end"), mode, check=False)
    assert recording.completed.returncode == 5
    trace, layer = driver_layer(recording.trace)
    assert trace["complete"] is True
    assert (layer["allocations"], layer["frees"]) == (3, 1)
    assert layer["live_at_exit_bytes"] == 5 * MIB
    assert layer["peak_bytes"] == 6 * MIB
    assert traces_in(recording.trace.parent) == ["trace.db"]


FREES = "SELECT count(*) FROM event WHERE kind=2 AND result=0 AND nested=0"
AFTER_EXIT = " AND seq > (SELECT seq FROM event WHERE kind=15)"


@pytest.mark.parametrize("mode, frees", [("atexit", 2), ("quick-exit", 2), ("return", 0)])
def test_what_exit_handlers_free_is_recorded_after_the_exit(record, program, mode, frees):
    recording = record(program("process_end"), mode, check=False)
    assert recording.rows(FREES + AFTER_EXIT) == [(frees,)]


@pytest.mark.parametrize("mode", ["return", "exit"])
def test_destructors_of_libraries_that_run_after_everything_of_ours_are_recorded(
    record, program, mode
):
    recording = record(
        program("process_end"), mode, check=False, preload=program("preload_destructor.so")
    )
    assert recording.completed.returncode == 5
    assert driver_layer(recording.trace)[0]["complete"] is True
    assert recording.rows(FREES + AFTER_EXIT) == [(5000,)]


def test_a_trace_goes_on_after_an_exec_that_failed(record, program):
    recording = record(program("process_end"), "failed-exec", check=False)
    assert recording.completed.returncode == 5
    trace, layer = driver_layer(recording.trace)
    assert trace["complete"] is True
    assert (layer["allocations"], layer["frees"]) == (4, 2)
    assert layer["live_at_exit_bytes"] == 5 * MIB


def test_a_process_killed_by_a_signal_leaves_everything_but_is_not_complete(record, program):
    recording = record(program("process_end"), "signal", check=False)
    assert recording.completed.returncode == -signal.SIGTERM
    trace, layer = driver_layer(recording.trace)
    assert trace["complete"] is False
    assert (layer["allocations"], layer["frees"]) == (3, 1)
    assert layer["live_at_exit_bytes"] == 5 * MIB
    assert traces_in(recording.trace.parent) == ["trace.db"]


def test_a_forked_child_with_cuda_makes_a_trace_of_its_own(record, program):
    recording = record(program("process_end"), "fork-before", check=False)
    assert recording.completed.returncode == 5
    assert traces_in(recording.trace.parent) == ["trace.2.db", "trace.db"]
    figures = set()
    for name in traces_in(recording.trace.parent):
        trace, layer = driver_layer(recording.trace.parent / name)
        assert trace["complete"] is True
        assert trace["lost_events"] == 0
        figures.add((layer["allocations"], layer["frees"], layer["live_at_exit_bytes"]))
    assert figures == {(3, 1, 5 * MIB), (2, 0, 3 * MIB)}


def test_a_child_forked_after_cuda_fails_as_without_us_and_its_failure_is_in_its_trace(
    record, program
):
    recording = record(program("process_end"), "fork-after", check=False)
    assert recording.completed.returncode == 5
    assert traces_in(recording.trace.parent) == ["trace.2.db", "trace.db"]
    assert driver_layer(recording.trace)[1]["allocations"] == 3
    child = load_json("report", recording.trace.parent / "trace.2.db")
    assert child["trace"]["complete"] is True
    assert [failure["result"] for failure in child["oom"]] == [3]


@pytest.mark.parametrize("mode", ["fork-idle", "spawn"])
def test_a_child_without_cuda_leaves_nothing(record, program, mode):
    recording = record(program("process_end"), mode, check=False)
    assert recording.completed.returncode == 5
    assert traces_in(recording.trace.parent) == ["trace.db"]
    trace, layer = driver_layer(recording.trace)
    assert trace["complete"] is True
    assert layer["allocations"] == 3


def test_thousands_of_short_threads_are_all_recorded_in_few_segments(record, program):
    ring_of_64_segments = "16MiB"
    recording = record(
        program("process_end"),
        "many-threads",
        check=False,
        GPUMEMTRACE_RING_MAX=ring_of_64_segments,
    )
    assert recording.completed.returncode == 5
    trace, layer = driver_layer(recording.trace)
    assert trace["lost_events"] == 0
    assert (layer["allocations"], layer["frees"]) == (3003, 3001)
    assert recording.rows("SELECT count(DISTINCT thread_id) FROM event")[0][0] == 3001


def test_a_program_without_a_cuda_call_leaves_no_file_and_says_nothing(record, program):
    recording = record(program("process_end"), "no-cuda", check=False)
    assert recording.completed.returncode == 5
    assert recording.completed.stderr == ""
    assert traces_in(recording.trace.parent) == []


def test_the_line_at_exit_names_the_file_the_peak_and_the_command(record, program):
    recording = record(program("process_end"), "return", check=False)
    assert recording.completed.stdout == ""
    assert recording.completed.stderr == (
        f"gpumemtrace: peak 6.00 MiB on device 0; see: gpumemtrace report {recording.trace}\n"
    )


def test_quiet_silences_the_line_at_exit(record, program):
    recording = record(program("process_end"), "return", check=False, GPUMEMTRACE_QUIET=1)
    assert recording.completed.stderr == ""


@pytest.mark.parametrize("mode", ["return", "exec"])
def test_a_finished_trace_of_an_earlier_run_is_replaced(record, program, mode):
    record(program("process_end"), mode, check=False)
    second = record(program("process_end"), "exit", check=False)
    assert traces_in(second.trace.parent) == ["trace.db"]
    assert load_json("report", second.trace)["trace"]["command"].endswith(" exit")


def test_a_finished_trace_whose_name_has_the_process_id_is_kept(record, program, sim_env, tmp_path):
    finished = record(program("process_end"), "return", check=False).trace
    script = f'cp {finished} old.$$.db; echo $$; exec {program("process_end")} exit'
    environment = sim_env(LD_PRELOAD=BUILD / "libgpumemtrace.so", GPUMEMTRACE_OUTPUT="old.%p.db")
    completed = subprocess.run(["sh", "-c", script], env=environment, cwd=tmp_path, capture_output=True,
                               text=True, timeout=TIMEOUT_S)  # fmt: skip
    pid = completed.stdout.split()[0]
    assert load_json("report", tmp_path / f"old.{pid}.db")["trace"]["command"].endswith(" return")
    assert load_json("report", tmp_path / f"old.{pid}.2.db")["trace"]["command"].endswith(" exit")


def test_what_a_deleted_trace_left_beside_it_is_in_nobodys_way(record, program):
    record(program("process_end"), "signal", check=False).trace.unlink()
    second = record(program("process_end"), "exit", check=False)
    assert traces_in(second.trace.parent) == ["trace.db"]
    trace, layer = driver_layer(second.trace)
    assert (trace["complete"], layer["allocations"]) == (True, 3)


def test_a_file_that_is_no_trace_is_left_alone(record, program, tmp_path):
    (tmp_path / "trace.db").write_text("mine")
    recording = record(program("process_end"), "return", check=False)
    assert recording.trace.read_text() == "mine"
    assert load_json("report", tmp_path / "trace.2.db")["trace"]["complete"] is True


def test_a_folder_that_does_not_exist_sends_the_trace_to_tmpdir(record, program, tmp_path):
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    recording = record(
        program("process_end"), "return", check=False, name="missing/trace.db", TMPDIR=elsewhere
    )
    assert recording.completed.returncode == 5
    assert "missing/trace.db" in recording.completed.stderr
    assert load_json("report", elsewhere / "trace.db")["trace"]["complete"] is True


def test_where_nothing_can_be_written_the_program_runs_all_the_same(record, program):
    recording = record(
        program("process_end"), "return", check=False, name="missing/trace.db", TMPDIR="/proc/nope"
    )
    assert recording.completed.returncode == 5
    assert "not recording" in recording.completed.stderr


def test_traces_are_readable_by_their_owner_only(record, program):
    recording = record(program("process_end"), "return", check=False)
    assert recording.trace.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("stacks", ["native", "none"])
def test_a_program_that_closes_every_descriptor_keeps_its_own_files_and_its_whole_trace(
    record, program, stacks
):
    recording = record(program("process_end"), "close-all", check=False, GPUMEMTRACE_STACKS=stacks)
    assert recording.completed.returncode == 5
    for number in range(8):
        assert (recording.trace.parent / f"own-{number}").read_text() == "mine"
    trace, layer = driver_layer(recording.trace)
    assert trace["complete"] is True
    assert trace["lost_events"] == 0
    assert (layer["allocations"], layer["frees"]) == (20003, 20001)
    assert traces_in(recording.trace.parent) == ["trace.db"]


def has_open(pid, path):
    return any(os.path.realpath(entry) == str(path) for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir())


def test_a_reader_waits_for_a_recorder_that_closes_its_trace(record, program):
    recording = record(program("process_end"), "return", check=False)
    recorder = sqlite3.connect(recording.trace)
    recorder.execute("BEGIN EXCLUSIVE")
    with subprocess.Popen([BUILD / "gpumemtrace", "report", recording.trace], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, env=clean_environment()) as reader:  # fmt: skip
        wait_for(lambda: reader.poll() is not None or has_open(reader.pid, recording.trace), what="the reader")
        recorder.rollback()
        _, said = reader.communicate(timeout=TIMEOUT_S)
    assert reader.returncode == 0, said


@pytest.mark.parametrize("size", [0, 4096])
def test_a_recorder_killed_before_its_first_event_leaves_an_empty_trace(record, program, size):
    recording = record(program("process_end"), "return", check=False)
    ring = recording.trace.with_name("trace.db-ring.0")
    ring.write_bytes(bytes(size))  # the file exists, but is still empty
    assert driver_layer(recording.trace)[1]["allocations"] == 3


FAKER = """
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>
static int gone;
__attribute__((destructor)) static void end(void) { gone = 1; }
static long faked(long number, long first, long second)
{
    if (gone)
        abort();
    return syscall(number, first, second);
}
int clock_gettime(int clock, void *time) { return faked(SYS_clock_gettime, clock, (long)time); }
int gettimeofday(void *time, void *zone) { return faked(SYS_gettimeofday, (long)time, (long)zone); }
int fstat(int fd, void *status) { return faked(SYS_fstat, fd, (long)status); }
int fstat64(int fd, void *status) { return faked(SYS_fstat, fd, (long)status); }
int usleep(unsigned us) { return faked(SYS_sched_yield, us, 0); }
"""


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer has its own functions in these places")
def test_a_tool_that_fakes_times_and_files_may_end_before_the_trace(record, program, tmp_path):
    faker = compile_library(tmp_path / "faker.so", FAKER)
    recording = record(program("process_end"), "return", check=False, preload=faker)
    assert recording.completed.returncode == 5, recording.completed.stderr
    assert driver_layer(recording.trace)[0]["complete"] is True


@pytest.mark.parametrize(
    "setting, value",
    [
        ("DEPTH", "0"),
        ("DEPTH", "513"),
        ("DEPTH", "-1"),
        ("RING_MAX", "lots"),
        ("QUIET", "2"),
        ("STACKS", "some"),
    ],
)
def test_a_setting_that_makes_no_sense_is_named_and_the_standard_one_holds(
    record, program, setting, value
):
    recording = record(program("process_end"), "return", check=False, **{f"GPUMEMTRACE_{setting}": value})
    assert recording.completed.returncode == 5
    assert f"gpumemtrace: GPUMEMTRACE_{setting}" in recording.completed.stderr
    assert driver_layer(recording.trace)[1]["allocations"] == 3
