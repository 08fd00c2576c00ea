# SPDX-License-Identifier: MIT
"""Programs that do unusual things. They end as they do without the recorder, and their traces are correct."""
import sqlite3
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, TIMEOUT_S, compile_library, run_command, wait_for
from support.twice import ALLOCATIONS, FREES, MIB, Folder, assert_all_there, meta

# --- ends ------------------------------------------------------------------------------------------


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's malloc has one lock for all threads")
def test_a_signal_handler_may_end_the_process_inside_malloc(twice, program):
    _, folder = twice(program("harm_ends"), "malloc-exit")
    assert len(folder.names()) == 30
    for name in folder.names():
        assert folder.count(ALLOCATIONS, name) == 1
        assert meta(folder, "complete", name) == 1


def test_a_signal_handler_may_end_the_process_while_exit_writes_the_trace(twice, program):
    _, folder = twice(program("harm_ends"), "exit-in-exit")
    report = folder.report()
    assert report["trace"]["lost_events"] == 0
    assert folder.count(ALLOCATIONS) == folder.count(FREES) == 150000


def test_a_reader_of_stderr_that_has_gone_does_not_end_the_program(twice, program):
    _, folder = twice(program("harm_ends"), "sigpipe")
    assert_all_there(folder, 1, 0)


def test_nor_does_it_when_the_first_call_has_something_to_complain_about(twice, program):
    _, folder = twice(program("harm_ends"), "sigpipe", GPUMEMTRACE_QUIET="neither 0 nor 1")
    assert_all_there(folder, 1, 0)


@pytest.mark.parametrize("mode", ["file-size-limit", "no-file-at-all"])
def test_a_limit_on_the_size_of_files_ends_the_trace_and_not_the_program(twice, program, mode):
    recorded, _ = twice(program("harm_ends"), mode)
    assert "gpumemtrace: " in recorded.stderr


def test_a_call_is_no_point_of_cancellation(twice, program):
    recorded, folder = twice(program("harm_ends"), "cancel")
    assert recorded.stdout == "thread: came back\n"
    assert_all_there(folder, 2, 0)


# --- forks -----------------------------------------------------------------------------------------


def test_a_fork_at_any_moment_of_the_first_call_leaves_a_child_that_ends(twice, program):
    _, folder = twice(program("harm_ends"), "fork-during-start")
    assert len(folder.names()) == 40


def test_four_threads_of_a_forked_child_may_make_its_first_calls_at_once(twice, program):
    _, folder = twice(program("harm_ends"), "fork-race")
    children = [name for name in folder.names() if name != "trace.db"]
    assert len(children) == 20
    for name in children:
        assert folder.count("SELECT count(*) FROM event WHERE kind=1 AND result=3", name) == 4
        assert meta(folder, "complete", name) == 1


def test_a_child_keeps_the_files_it_opened_where_its_parents_recorder_had_its_own(twice, program):
    _, folder = twice(program("harm_traces"), "child-files")
    assert folder.names() == ["trace.2.db", "trace.db"]
    assert folder.count(ALLOCATIONS) == 1


def test_a_child_that_cannot_make_its_trace_runs_all_the_same_and_leaves_none(twice, program):
    recorded, folder = twice(program("harm_traces"), "child-without-trace")
    assert "not recording" in recorded.stderr
    assert (folder.count(ALLOCATIONS), meta(folder, "complete")) == (1, 1)
    for name in folder.names():
        assert name.endswith(".db")
        assert meta(folder, "complete", name) == 1


# --- execs -----------------------------------------------------------------------------------------


def test_an_exec_takes_thousands_of_arguments_and_its_environment_along(twice, program):
    recorded, folder = twice(program("harm_ends"), "many-arguments")
    assert recorded.stdout == "4112 kept\n"
    assert_all_there(folder, 1, 0)


def test_an_exec_through_path_takes_its_arguments_along(twice, program):
    recorded, folder = twice(program("harm_ends"), "some-arguments")
    assert recorded.stdout == "256 inherited\n"
    assert_all_there(folder, 1, 0)


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer's own frames do not fit there")
def test_a_first_call_and_an_exec_fit_on_the_smallest_stack(twice, program):
    _, folder = twice(program("harm_ends"), "small-stack")
    assert_all_there(folder, 1, 1)


def test_a_call_that_a_signal_handler_jumped_out_of_hides_no_later_one(twice, program):
    recorded, folder = twice(program("harm_ends"), "jumps")
    assert recorded.stdout == "jumped out of 4 calls\n"
    assert (folder.count(ALLOCATIONS), folder.count(FREES)) == (4, 4)


def test_the_recorders_own_thread_has_the_stack_it_needs(twice, program):
    _, folder = twice(program("harm_ends"), "small-default-stack")
    assert_all_there(folder, 1, 1)


def test_what_follows_a_failed_exec_is_recorded_and_the_trace_is_complete(twice, program):
    _, folder = twice(program("harm_traces"), "calls-after-exec")
    assert_all_there(folder, 3, 2)
    layer = folder.report()["devices"][0]["driver"]
    assert (layer["peak_bytes"], layer["live_at_exit_bytes"]) == (7 * MIB, 4 * MIB)


def test_failed_execs_lose_nothing_of_what_other_threads_do_meanwhile(twice, program):
    recorded, folder = twice(program("harm_traces"), "busy-exec", same_output=False)
    assert_all_there(folder, int(recorded.stdout), int(recorded.stdout))


def test_failed_execs_leave_no_descriptors_open(twice, program):
    _, folder = twice(program("harm_traces"), "descriptors-after-exec")
    assert_all_there(folder, 1, 0)


# --- lookups ---------------------------------------------------------------------------------------


def test_our_functions_do_not_make_a_program_believe_that_cuda_is_there(twice, program):
    recorded, folder = twice(program("harm_lookups"), "absent")
    assert "found" not in recorded.stdout
    assert folder.names() == []


def test_a_driver_that_was_closed_and_opened_again_works_and_is_recorded(twice, program):
    recorded, folder = twice(program("harm_lookups"), "reopen")
    assert "-1" not in recorded.stdout
    assert_all_there(folder, 2, 0)


def test_a_driver_that_was_used_before_it_was_closed_works_again(twice, program):
    recorded, folder = twice(program("harm_lookups"), "reopen-used")
    assert recorded.stdout == 3 * "cuMemAlloc 0\n"
    assert_all_there(folder, 3, 0)


def test_symbols_can_be_looked_up_while_another_thread_loads_and_unloads(twice, program):
    twice(program("harm_lookups"), "busy-loader")


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer has locks of its own, which a fork does not mind")
def test_a_child_forked_while_another_thread_looks_symbols_up_can_open_libraries(twice, program):
    recorded, folder = twice(program("harm_lookups"), "forks")
    assert recorded.stdout == "cuMemAlloc 0\n0 children failed\n"
    assert_all_there(folder, 1, 0)


def test_a_first_call_in_a_constructor_does_not_block_one_of_another_thread(
    twice, program, tmp_path
):
    library = compile_library(
        tmp_path / "libconstructor.so",
        "int cuMemAlloc_v2(unsigned long long *address, unsigned long bytes);\n"
        "void inside_the_constructor(void);\n"
        "__attribute__((constructor)) static void call(void)\n"
        "{\n"
        "    unsigned long long address;\n"
        "    inside_the_constructor();\n"
        "    cuMemAlloc_v2(&address, 4096);\n"
        "}\n",
    )
    _, folder = twice(program("harm_lookups"), "constructor", library)
    assert folder.count("SELECT count(*) FROM event WHERE kind=1 AND result=3") == 2


# --- libraries that go -----------------------------------------------------------------------------


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer takes more addresses than the limit has")
def test_a_library_without_calls_may_come_and_go_where_addresses_are_few(twice, program, tmp_path):
    library = compile_library(tmp_path / "large.so", "char large[8 << 20];")
    recorded, _ = twice(program("harm_lookups"), "close-often", library)
    assert recorded.stdout == "cuMemAlloc 0\nopened and closed 400 times\n"


PLUGIN = """
int cudaMalloc(void **block, unsigned long bytes);
int puts(const char *text);
static int runs;
int plugin_run(void)
{
    void *block;
    if (cudaMalloc(&block, 4096 * NUMBER) != 0)
        return -1;
    return ++runs;
}
__attribute__((destructor)) static void leave(void)
{
    puts("plugin NUMBER leaves");
}
"""


def test_a_library_that_is_closed_goes_as_without_us_and_its_frames_keep_its_name(
    twice, program, tmp_path
):
    plugins = [
        compile_library(tmp_path / f"plugin{number}.so", PLUGIN.replace("NUMBER", str(number)))
        for number in (1, 2)
    ]
    recorded, folder = twice(program("harm_plugins"), *plugins)
    assert recorded.stdout.count("leaves") == 6
    assert_all_there(folder, 6, 0)
    named = folder.rows(
        "SELECT DISTINCT size_bytes / 4096, path FROM event "
        "JOIN frame ON frame_id = stack_id "
        "JOIN module ON frame.address BETWEEN start_address AND end_address "
        "WHERE event.kind = 1 ORDER BY 1"
    )
    assert named == [(number, str(path)) for number, path in enumerate(plugins, 1)]


OWN_ERROR = """
int cudaMalloc(void **block, unsigned long bytes), cudaGetLastError(void);
int plugin_run(void)
{
    void *block;
    cudaMalloc(&block, 1ul << 50);
    return cudaGetLastError();
}
"""


def test_a_library_that_comes_to_where_another_was_calls_its_own_runtime(twice, program, tmp_path):
    plugins = [
        compile_library(
            tmp_path / f"plugin{runtime}.so", OWN_ERROR, BUILD / "simulator" / f"libcudart.so.{runtime}"
        )
        for runtime in (13, 12)
    ]
    recorded, _ = twice(program("harm_plugins"), *plugins, GPUMEMTRACE_STACKS="none")
    assert recorded.stdout.count("ran: 2") == 6


# --- what a trace holds ----------------------------------------------------------------------------


def test_a_request_of_half_the_address_space_costs_no_other_event_its_place(twice, program):
    recorded, folder = twice(program("harm_traces"), "huge")
    assert recorded.stdout == "2 2\n"
    assert (folder.count(ALLOCATIONS), folder.count(FREES)) == (1, 1)
    assert folder.count("SELECT count(*) FROM event WHERE kind=1 AND result=2 AND nested=0") == 2
    asked = folder.count("SELECT max(size_bytes) FROM event WHERE kind=1 AND result=2")
    assert asked == 2**63 - 1
    assert folder.report()["devices"][0]["driver"]["failed"] == 2
    assert (meta(folder, "complete"), meta(folder, "lost_events")) == (1, 0)


def test_thousands_of_phase_names_are_all_kept(twice, program):
    _, folder = twice(program("harm_traces"), "names")
    assert_all_there(folder, 10, 0)
    names = folder.count(
        "SELECT count(DISTINCT text) FROM event JOIN string ON string_id=object "
        "WHERE kind=11 AND text LIKE 'iteration %'"
    )
    assert names == 9000


def test_names_that_a_program_makes_up_without_end_share_one_and_are_counted(twice, program):
    """The limit keeps the trace small enough for a reader. A name that already has an entry keeps this entry."""
    _, folder = twice(program("harm_traces"), "more-names")
    assert_all_there(folder, 71, 0)
    kept = folder.count("SELECT count(*) FROM string WHERE text LIKE 'iteration %'")
    assert 65_000 < kept <= 65_536
    pushed = "SELECT count(*) FROM event JOIN string ON string_id=object WHERE kind=11 AND text"
    assert folder.count(f"{pushed} LIKE 'iteration %'") == kept
    assert folder.count(f"{pushed} = '(more names)'") == 70_000 - kept == meta(folder, "shared_names")
    marked = "SELECT text FROM event JOIN string ON string_id=object WHERE kind=13"
    assert folder.count(marked) == "iteration 7"
    warnings = folder.report()["warnings"]
    assert any(f"{70_000 - kept} phases or marks are listed as (more names)" in text for text in warnings)


def test_registered_names_of_another_tool_are_never_read(twice, program):
    _, folder = twice(program("harm_traces"), "other-tools-names")
    assert_all_there(folder, 4, 0)


def test_wide_names_are_utf_8_in_the_trace(twice, program):
    _, folder = twice(program("harm_traces"), "wide-names")
    paths = {row["path"] for row in folder.report()["devices"][0]["phases"]}
    assert paths == {None, "plain", "caf\u00e9", "\u20ac 5", "\U0001d11e"}


def test_a_free_in_the_destructor_of_a_threads_data_is_recorded(twice, program):
    _, folder = twice(program("harm_traces"), "destructors")
    assert_all_there(folder, 21, 20)


def test_files_opened_where_the_recorders_descriptors_were_are_kept_and_no_event_is_lost(
    twice, program
):
    recorded, folder = twice(program("harm_traces"), "own-files")
    assert recorded.stdout == "0 files harmed\n"
    assert_all_there(folder, 21002, 20000)


def test_standard_descriptors_that_were_closed_stay_the_programs_to_open(twice, program):
    recorded, folder = twice(program("harm_traces"), "standard-descriptors")
    assert recorded.stdout == "opened 0 1 2\n"
    assert_all_there(folder, 1, 0)


@pytest.mark.parametrize("limit", [*range(3, 65), 128, 599, 612, 1024])
def test_descriptors_get_the_numbers_that_they_would_get_under_every_limit(twice, program, limit):
    """A limit of 3 leaves no descriptor for the program. The recorder leaves all descriptors below 32 to the program
    and takes the highest ones."""
    recorded, folder = twice(program("harm_traces"), "few-descriptors", str(limit))
    if limit > 6:
        assert recorded.stdout == "alloc 0 3 4 5 free 0\n"
    if limit >= 32:
        assert_all_there(folder, 1, 1)
        assert "not recording" not in recorded.stderr
    else:
        assert folder.names() == []
        assert recorded.stderr.count("gpumemtrace: not recording: fewer than 32 descriptors") == 1
        assert len(recorded.stderr.splitlines()) == 1


def test_a_reader_that_looks_on_at_exit_neither_stops_the_program_nor_spoils_the_trace(
    settings, program
):
    environment, path = settings()
    folder = Folder(path)
    process = subprocess.Popen(
        [str(program("harm_traces")), "wait-for-reader"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "allocated\n"
        wait_for(lambda: folder.trace.exists() and folder.count(ALLOCATIONS), what="the event")
        reader = sqlite3.connect(f"file:{folder.trace}?mode=ro", uri=True)
        reader.execute("BEGIN")
        assert reader.execute(ALLOCATIONS).fetchall() == [(1,)]
        process.stdin.close()
        assert process.wait(timeout=TIMEOUT_S) == 5
        assert "incomplete" not in process.stderr.read()
    reader.close()
    assert not (path / "trace.db-ring.0").exists()
    assert folder.report()["trace"]["complete"] is True
    assert folder.count(ALLOCATIONS) == 1


# --- more than the ring holds ----------------------------------------------------------------------


def assert_loss_is_said(folder, said):
    lost = meta(folder, "lost_events")
    assert lost > 0
    assert folder.report()["trace"]["lost_events"] == lost
    assert f"{lost} events lost (the ring was full: set a larger GPUMEMTRACE_RING_MAX)" in said
    for command in ("report", "info"):
        assert "lost, as the ring was full" in " ".join(run_command(command, folder.trace).stdout.split())
    assert run_command("check", folder.trace).returncode == 2


def test_more_threads_than_the_ring_has_room_for_run_on_and_the_loss_is_counted(twice, program):
    recorded, folder = twice(program("harm_traces"), "threads-at-once", GPUMEMTRACE_RING_MAX="1MiB")
    stored = folder.count("SELECT count(*) FROM event")
    assert stored < 16 + 16 <= stored + meta(folder, "lost_events")
    assert_loss_is_said(folder, recorded.stderr)


def test_the_same_threads_lose_nothing_in_a_ring_with_room_for_them(twice, program):
    _, folder = twice(program("harm_traces"), "threads-at-once", GPUMEMTRACE_RING_MAX="8MiB")
    assert_all_there(folder, 16, 16)


def test_under_more_load_than_the_ring_takes_the_program_waits_and_nothing_is_lost(twice, program):
    recorded, folder = twice(program("harm_traces"), "heavy-load", GPUMEMTRACE_RING_MAX="1MiB")
    assert_all_there(folder, 16 * 50_000, 16 * 50_000)
    waited_s = meta(folder, "ring_full_ns") / 1e9
    assert f"{waited_s:.1f} s waited for room in the ring" in recorded.stderr
    warnings = folder.report()["warnings"]
    assert any(f"waited {waited_s:.1f} s for room in the ring" in warning for warning in warnings)
