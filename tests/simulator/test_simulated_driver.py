# SPDX-License-Identifier: MIT
"""The simulated driver accounts for memory as the documentation says, and provides the functions that a runtime looks
up."""
import os
import re
import shlex
import shutil
import subprocess

import pytest

from support.cells import each
from support.run import BUILD, ROOT, TIMEOUT_S

PROGRAMS = ROOT / "tests" / "programs"
GIB = 1 << 30
MIB = 1 << 20


def run(path, environment, *arguments, text=None):
    return subprocess.run(
        [str(path), *arguments],
        env=environment,
        input=text or "",
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


# --- the programs that check themselves, part by part ----------------------------------------------

# The simulated cards of a program, or of a part of it. Multicast and tensor maps need compute capability 9.0.
SPECS = {"sim_multicast": "2xh100", "sim_any": "any", "sim_tensor_maps": "h100",
         "a_card_before_compute_capability_9_0_has_none": "a100-80"}

SETTINGS = {"sim_late": {"GPUMEMTRACE_EVENTS": "late"}}


def parts():
    for source in sorted(PROGRAMS.rglob("sim_*.c")):
        for part in re.findall(r"\bPART\((\w+)\)", source.read_text(encoding="utf-8")):
            yield source.stem, part


@each("name, part", parts())
def test_every_part_of_every_program_finds_the_driver_as_documented(program, sim_env, name, part):
    completed = run(program(name), sim_env(SPECS.get(part) or SPECS.get(name, "2x16GiB"), **SETTINGS.get(name, {})), part)
    assert completed.stdout + completed.stderr == ""
    assert completed.returncode == 0


# --- devices ---------------------------------------------------------------------------------------


def devices(program, environment):
    completed = run(program("sim_devices"), environment)
    assert completed.returncode == 0, completed.stdout
    first, *lines = completed.stdout.splitlines()
    return dict(zip(*[iter(first.split())] * 2)), lines, completed.stderr


@pytest.mark.parametrize(
    "spec, count, total, free, capability, name",
    [
        ("16GiB", 1, 16 * GIB, 16 * GIB - 300 * MIB, "8.0", "Simulated GPU (16 GiB)"),
        ("2x80GiB", 2, 80 * GIB, 80 * GIB - 300 * MIB, "8.0", "Simulated GPU (80 GiB)"),
        ("t4", 1, 15102 * MIB, 14802 * MIB, "7.5", "Simulated Tesla T4"),
        ("rtx3090", 1, 24268 * MIB, 24012 * MIB, "8.6", "Simulated NVIDIA GeForce RTX 3090"),
        ("a100-1g.10gb", 1, 9728 * MIB, 9428 * MIB, "8.0", "Simulated NVIDIA A100-SXM4-80GB MIG 1g.10gb"),
        ("h100,others=3GiB,context=1GiB", 1, 81008 * MIB, 81008 * MIB - 4 * GIB, "9.0", "Simulated NVIDIA H100 80GB HBM3"),
        ("", 1, 16 * GIB, 16 * GIB - 300 * MIB, "8.0", "Simulated GPU (16 GiB)"),
        ("2xany,others=3GiB", 2, 1024 * GIB, 1021 * GIB - 300 * MIB, "8.0", "Simulated GPU (no limit)"),
    ],
)
def test_the_devices_are_those_of_the_spec(program, sim_env, spec, count, total, free, capability, name):
    driver, lines, said = devices(program, sim_env(spec))
    assert driver == {"init": "0", "count": str(count), "version": "13000"}
    assert said == ""
    assert len(lines) == count
    for line in lines:
        assert f" total {total} free {free} capability {capability} " in line
        assert line.endswith(f" name {name}")


def test_a_card_is_the_same_card_in_every_process_and_no_other(program, sim_env):
    _, first, _ = devices(program, sim_env("3x16GiB"))
    _, second, _ = devices(program, sim_env("3x16GiB"))
    assert first == second
    assert len({line.split()[10] for line in first}) == 3
    assert len({line.split()[8] for line in first}) == 3


@pytest.mark.parametrize(
    "visible, indexes",
    [("2,0", [2, 0]), ("1", [1]), ("0,7,1", [0]), ("1,1,2", [1]), ("0,1,2", [0, 1, 2])],
)
def test_cuda_visible_devices_chooses_and_orders(program, sim_env, visible, indexes):
    _, everything, _ = devices(program, sim_env("3x16GiB"))
    _, chosen, _ = devices(program, sim_env("3x16GiB", CUDA_VISIBLE_DEVICES=visible))
    uuids = [line.split()[10] for line in everything]
    assert [line.split()[10] for line in chosen] == [uuids[index] for index in indexes]
    assert [line.split()[0] for line in chosen] == [str(i) for i in range(len(indexes))]


@pytest.mark.parametrize("visible", ["", "-1", "5", "none"])
def test_without_a_visible_device_there_is_none(program, sim_env, visible):
    driver, lines, _ = devices(program, sim_env("3x16GiB", CUDA_VISIBLE_DEVICES=visible))
    assert (driver["init"], lines) == ("100", [])


def test_a_wrong_spec_is_reported_in_one_line_and_stops_cuinit(program, sim_env):
    driver, lines, said = devices(program, sim_env("2xh1000"))
    assert (driver["init"], lines) == ("1", [])
    assert len(said.splitlines()) == 1
    assert "GPUMEMTRACE_SIM: '2xh1000' is not a simulated device" in said


def test_another_word_for_when_events_are_reached_is_reported_and_means_done(program, sim_env):
    completed = run(program("sim_streams"), sim_env("16GiB", GPUMEMTRACE_EVENTS="soon"), "events_measure_the_work_between_them")
    assert completed.returncode == 0
    (line,) = completed.stderr.splitlines()
    assert "GPUMEMTRACE_EVENTS: 'soon' is neither done nor late" in line


# --- injected failures -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    "fault, result",
    [
        (None, "init 0 alloc 0 0 0 free 0 0 0 missing 0 MiB bodiless 801"),
        ("cuMemAlloc_v2:2=2", "init 0 alloc 0 2 0 free 0 0 missing 0 MiB bodiless 801"),
        ("cuMemFree_v2:1=700", "init 0 alloc 0 0 0 free 700 0 0 missing 4 MiB bodiless 801"),
        ("cuMemAlloc_v2:1=2;cuMemAlloc_v2:3=999", "init 0 alloc 2 0 999 free 0 missing 0 MiB bodiless 801"),
        ("cuDeviceGetLuid:1=46", "init 0 alloc 0 0 0 free 0 0 0 missing 0 MiB bodiless 46"),
        ("cuMemAlloc:1=2", "init 0 alloc 0 0 0 free 0 0 0 missing 0 MiB bodiless 801"),
    ],
)
def test_the_nth_call_of_a_function_fails_as_requested_and_does_nothing(program, sim_env, fault, result):
    completed = run(program("sim_calls"), sim_env(fault=fault))
    assert completed.stdout.strip() == result
    assert completed.stderr == ""


@pytest.mark.parametrize("fault", ["cuMemAlloc_v2", "cuMemAlloc_v2:0=2", ":1=2", "a:1=0", "a:1=2x"])
def test_a_malformed_fault_is_reported_and_ignored(program, sim_env, fault):
    completed = run(program("sim_calls"), sim_env(fault=f"{fault};cuMemAlloc_v2:1=2"))
    assert " alloc 2 0 0 " in completed.stdout
    assert f"'{fault}' is not a fault" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


# --- several processes on one card -----------------------------------------------------------------


class Process:
    """A running sim_share. tell("alloc 100") sends it this command and returns (result, free MiB)."""

    def __init__(self, path, environment):
        self.child = subprocess.Popen(
            [str(path)],
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        self.initialized = int(self.child.stdout.readline().split()[1])

    def tell(self, line):
        self.child.stdin.write(line + "\n")
        result, free = self.child.stdout.readline().split()
        return int(result), int(free)

    def end(self, kill=False):
        if kill:
            self.child.kill()
        _, said = self.child.communicate(timeout=TIMEOUT_S)
        return said


@pytest.fixture
def share(program, sim_env, tmp_path):
    running = []

    def start(spec="16GiB", path=tmp_path / "card"):
        environment = sim_env(spec, GPUMEMTRACE_SIM_SHARED=path)
        running.append(Process(program("sim_share"), environment))
        return running[-1]

    yield start
    for process in running:
        process.end(kill=True)


ALL = 16 * 1024 - 300  # the MiB that are free for a process that is alone on the card
CONTEXT = 300


def test_processes_that_share_a_card_see_what_the_others_hold(share):
    first, second = share(), share()
    assert first.tell("look") == (0, ALL)
    assert first.tell("alloc 6000") == (0, ALL - 6000)
    assert second.tell("look") == (0, ALL - CONTEXT - 6000)
    assert second.tell("alloc 9000") == (0, ALL - CONTEXT - 15000)
    assert first.tell("look") == (0, ALL - CONTEXT - 15000)
    assert first.tell("alloc 1000") == (2, ALL - CONTEXT - 15000)
    assert second.tell("free") == (0, ALL - CONTEXT - 6000)
    assert first.tell("alloc 1000") == (0, ALL - CONTEXT - 7000)


@pytest.mark.parametrize("kill", [True, False], ids=["killed", "ended"])
def test_what_a_dead_process_held_is_free_again(share, kill):
    first, second = share(), share()
    assert first.tell("alloc 10000") == (0, ALL - 10000)
    assert second.tell("look") == (0, ALL - CONTEXT - 10000)
    first.end(kill)
    assert second.tell("look") == (0, ALL)


def test_processes_that_do_not_share_have_a_card_each(program, sim_env):
    processes = [Process(program("sim_share"), sim_env("16GiB")) for _ in range(2)]
    assert [process.tell("alloc 10000") for process in processes] == [(0, ALL - 10000)] * 2
    assert [process.end() for process in processes] == ["", ""]


def test_a_shared_card_is_the_same_for_all_and_free_for_others_when_all_are_gone(share):
    first = share("16GiB")
    assert first.initialized == 0
    second = share("80GiB")
    assert second.initialized == 1
    said = second.end()
    assert "GPUMEMTRACE_SIM_SHARED: the file is in use with SPEC '16GiB', not '80GiB'" in said
    assert len(said.splitlines()) == 1
    first.end()
    assert share("80GiB").initialized == 0


def test_another_program_s_file_is_not_overwritten(share, tmp_path):
    path = tmp_path / "notes"
    path.write_text("mine\n")
    process = share(path=path)
    assert process.initialized == 1
    assert f"'{path}' is not a file of shared cards" in process.end()
    assert path.read_text() == "mine\n"


# --- cuGetProcAddress ------------------------------------------------------------------------------

SUCCESS = 0
FOUND, UNKNOWN, TOO_OLD = 0, 1, 2
PER_THREAD = 2


def functions():
    text = (ROOT / "include/gpumemtrace/cuda/driver_functions.def").read_text(encoding="utf-8")
    pattern = r"^DRIVER_FUNCTION\((\w+), (\d+), (\w+), (\w+)\)"
    return [(n, int(v), s, symbol) for n, v, s, symbol in re.findall(pattern, text, re.MULTILINE)]


def expected_answer(name, version, flags):
    """Returns (result, status, symbol). The symbol is the newest one that is not newer than `version`. If the flags ask
    for per-thread default streams, it is the form for these streams, if that form exists. If no symbol is found, the
    result is still success, and only the status tells it (driver 580.159 on an H100)."""
    known = [row for row in functions() if row[0] == name]
    per_thread = [row for row in known if row[2] == "PER_THREAD"]
    forms = per_thread if flags & PER_THREAD and per_thread else [row for row in known if row[2] == "DEFAULT"]
    fitting = [row for row in forms if row[1] <= version]
    if fitting:
        return SUCCESS, FOUND, max(fitting, key=lambda row: row[1])[3]
    return SUCCESS, TOO_OLD if known else UNKNOWN, "-"


def ask(program, sim_env, questions, **extra):
    lines = []
    for name, version, flags in questions:
        result, status, symbol = expected_answer(name, version, flags)
        lines.append(f"{version} {flags} {result} {status} {symbol} {name}")
    completed = run(program("sim_lookup"), sim_env(**extra), text="\n".join(lines) + "\n")
    assert completed.stdout == f"{len(lines)}\n", completed.stdout
    assert completed.returncode == 0


def test_each_form_of_each_function_is_found_from_its_version_on(program, sim_env):
    questions = []
    for name, version, stream, _ in functions():
        flags = PER_THREAD if stream == "PER_THREAD" else 0
        questions += [(name, asked, flags) for asked in (version - 1, version, version + 1, 13000)]
    assert len(questions) > 2000
    ask(program, sim_env, questions)


def test_what_the_runtime_of_cuda_13_asks_for_is_answered(program, sim_env):
    asked = (ROOT / "tests/data/cudart_lookups.txt").read_text(encoding="utf-8")
    rows = [line.rsplit(" ", 2) for line in asked.splitlines() if not line.startswith("#")]
    questions = [(name, int(version), int(flags)) for name, version, flags in rows]
    assert len(questions) == 439
    assert all(expected_answer(*question)[1] == FOUND for question in questions)
    ask(program, sim_env, questions)


def test_unknown_names_are_not_found(program, sim_env):
    unknown = [("cuMemAlloc_v2", 13000, 0), ("cudaMalloc", 13000, 0), ("", 0, 0), ("cu", 13000, 0)]
    ask(program, sim_env, unknown)


def test_a_preloaded_function_of_the_same_name_is_not_handed_out(program, sim_env, tmp_path):
    source = tmp_path / "other.c"
    source.write_text("int cuMemAlloc_v2(void) { return 4242; }\nint cuInit(void) { return 4242; }\n")
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-shared", "-fPIC", source, "-o", tmp_path / "other.so"], check=True)
    questions = [("cuMemAlloc", 3020, 0), ("cuInit", 2000, 0), ("cuMemFree", 3020, 0)]
    # A sanitized build requires that the sanitizer's library is loaded first. The option turns this check off, because
    # the order does not matter here.
    ask(
        program,
        sim_env,
        questions,
        LD_PRELOAD=tmp_path / "other.so",
        ASAN_OPTIONS="verify_asan_link_order=0",
    )


# --- the library -----------------------------------------------------------------------------------


def test_the_library_exports_the_driver_s_functions_and_the_marks_of_the_simulator():
    if not shutil.which("nm"):
        pytest.skip("nm is not on this machine")
    output = subprocess.run(
        ["nm", "-D", "--defined-only", BUILD / "simulator" / "libcuda.so.1"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    exported = re.findall(r"^(\w+) \w (\S+)$", output, re.MULTILINE)
    ours = {symbol for _, _, _, symbol in functions()}
    values = set(re.findall(r"gpumemtrace_values_\w+(?=\()", (ROOT / "simulator/values.h").read_text()))
    marks = {"gpumemtrace_simulator", "gpumemtrace_simulator_card"}
    assert {symbol for _, symbol in exported} == ours | marks | values
    # The recorder needs a separate address for each function.
    assert len({address for address, _ in exported}) == len(exported)
