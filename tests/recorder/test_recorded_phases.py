# SPDX-License-Identifier: MIT
"""The report shows phases that come from the public API, from NVTX, and from the functions of libnvToolsExt."""
import pathlib
import subprocess

import pytest

from support.run import BUILD, TIMEOUT_S, compile_library

MIB = 1 << 20


def phases(recording):
    return {row["path"]: row for row in recording.report()["devices"][0]["phases"]}


def test_phases_of_every_source_are_in_the_report(record, program):
    recording = record(program("phases"))
    assert recording.completed.stdout == "injected 1\npush 0\npop 0\n"
    rows = phases(recording)
    assert set(rows) == {None, "setup", "step", "step/forward", "step/backward", "tools"}
    assert rows["setup"]["source"] == "nvtx"
    assert rows["tools"]["source"] == "nvtx"
    assert rows["step"]["source"] == "api"


def test_bytes_of_nested_phases_are_in_the_outer_one_too(record, program):
    rows = phases(record(program("phases")))
    figures = ("entry_bytes", "peak_bytes", "allocated_bytes", "freed_bytes", "kept_bytes")
    expected = {
        "setup": (0, 1, 1, 0, 1),
        "step": (1, 7, 6, 2, 4),
        "step/forward": (1, 3, 2, 0, 2),
        "step/backward": (3, 7, 4, 2, 4),
        "tools": (5, 13, 8, 0, 8),
    }
    for path, values in expected.items():
        assert tuple(rows[path][key] for key in figures) == tuple(v * MIB for v in values), path


def test_a_step_bears_the_number_that_the_program_gives_it(record, program):
    recording = record(program("phases"))
    assert recording.rows("SELECT size_bytes FROM events WHERE kind = 'step'") == [(7,)]


def test_nvtx_0_leaves_nvtx_alone(record, program):
    recording = record(program("phases"), GPUMEMTRACE_NVTX=0)
    assert recording.completed.stdout.startswith("injected 0\n")
    assert "setup" not in phases(recording)


def test_without_the_recorder_the_public_header_does_nothing(program, sim_env):
    import subprocess

    completed = subprocess.run(
        [program("phases")], env=sim_env(), capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert completed.returncode == 0
    assert completed.stdout == "injected 0\npush -2\npop -2\n"


def test_a_phase_opened_before_the_first_call_belongs_to_the_thread_that_opened_it(record, program):
    recording = record(program("process_end"), "early-phase", check=False)
    rows = phases(recording)
    assert rows["train"]["allocated_bytes"] == 6 * MIB
    assert rows[None]["allocated_bytes"] == 1 * MIB
    names = [name for (name,) in recording.rows("SELECT name FROM thread ORDER BY thread_id")]
    assert len(names) == 2 and "process_end" in names


def test_before_the_first_call_a_thread_closes_no_phase_of_another(record, program):
    recording = record(program("process_end"), "early-pop", check=False)
    assert phases(recording)["train"]["allocated_bytes"] == 1 * MIB


def test_domains_have_stacks_of_their_own_and_registered_names(record, program):
    recording = record(program("nvtx_domains"))
    said = recording.completed.stdout.splitlines()
    assert said[:2] == ["injected 1", "domains 1"]
    assert said[2:11] == ["push 0", "push 0", "pop 0", "push 0", "pop 0", "pop 0", "pop -1", "push 0",
                          "push 1"]  # fmt: skip
    rows = phases(recording)
    mebibytes = {path: row["allocated_bytes"] // MIB for path, row in rows.items()}
    assert mebibytes["outer/other"] == 2 + 4 + 8
    assert mebibytes["outer/other/default"] == 8 + 16
    assert mebibytes["registered/inner"] == 64
    assert mebibytes[None] == 32 + 128


def test_the_domain_of_a_range_is_recorded_by_name(record, program):
    domains = "SELECT DISTINCT text FROM event JOIN string ON string_id = stream WHERE kind = 11 ORDER BY text"
    assert record(program("nvtx_domains")).rows(domains) == [("first",), ("second",)]
    assert record(program("nvtx_opened"), name="opened.db").rows(domains) == [("mine",)]


def test_a_dry_run_takes_ranges_of_a_library_that_the_program_opened_itself(record, program):
    """The program opens libnvToolsExt with dlopen and finds its functions with dlsym."""
    recording = record(program("nvtx_opened"))
    assert recording.completed.stdout == "push 0\npush 0\npop 0\npop 0\n"
    mebibytes = {path: row["allocated_bytes"] // MIB for path, row in phases(recording).items()}
    assert mebibytes == {None: 8, "outer": 3, "outer/inner": 2, "range": 4}
    off = record(program("nvtx_opened"), GPUMEMTRACE_NVTX=0, name="off.db")
    assert off.completed.stdout == "push -2\npush -2\npop -2\npop -2\n"
    assert not phases(off) or set(phases(off)) == {None}


# The injection library of another tool. It counts the calls and answers with numbers of its own.
TOOL = """
#include <stdint.h>
#include <stdio.h>
struct tables { uintptr_t size; int (*get)(int, void ****, unsigned *); };
static int pushes, pops, registrations;
static int on_push(const char *name) { (void)name; return 40 + pushes++; }
static int on_pop(void) { return 40 + --pushes + 0 * pops++; }
static int on_domain_push(void *domain, const void *attributes)
{
    (void)domain, (void)attributes;
    return 70 + pushes++;
}
static int on_domain_pop(void *domain) { (void)domain; pops++; return 70 + --pushes; }
static void *on_register(void *domain, const char *name)
{
    (void)domain, (void)name;
    return (void *)(uintptr_t)(0x7000 + ++registrations);
}
int InitializeInjectionNvtx2(const void *(*get_export_table)(uint32_t))
{
    const struct tables *tables = get_export_table(1);
    void ***table;
    unsigned size;
    if (!tables || !ANSWER)
        return ANSWER;
    tables->get(1, (void ****)&table, &size);
    *table[9] = on_push;
    *table[11] = on_pop;
    if (tables->get(5, (void ****)&table, &size)) {
        *table[4] = on_domain_push;
        *table[5] = on_domain_pop;
        *table[10] = on_register;
    }
    return 1;
}
__attribute__((destructor)) static void say(void)
{
    printf("tool: %d open, %d popped, %d registered\\n", pushes, pops, registrations);
}
"""


@pytest.fixture
def tool(tmp_path):
    return lambda answer: compile_library(tmp_path / "libtool.so", TOOL, f"-DANSWER={answer}")


@pytest.mark.parametrize("name", ["phases", "nvtx_domains"])
def test_another_tools_injection_is_asked_first_and_sees_what_it_would_see(
    record, program, sim_env, tool, name
):
    path = tool(1)
    alone = subprocess.run(
        [program(name)], env=sim_env(NVTX_INJECTION64_PATH=path), capture_output=True, text=True,
        timeout=TIMEOUT_S,
    )  # fmt: skip
    assert "tool: " in alone.stdout
    recording = record(program(name), NVTX_INJECTION64_PATH=path)
    rows = phases(recording)
    if name == "phases":
        assert recording.completed.stdout == alone.stdout
        assert rows["setup"]["source"] == "nvtx"
    else:
        # The tool creates no domains, so the recorder creates them.
        assert recording.completed.stdout.replace("domains 1", "domains 0") == alone.stdout
        assert rows["registered/inner"]["allocated_bytes"] == 64 * MIB


def test_ours_stands_in_where_another_tools_injection_refuses(record, program, tool):
    recording = record(program("phases"), NVTX_INJECTION64_PATH=tool(0))
    assert recording.completed.stdout.startswith("injected 1\npush 0\npop 0\n")
    assert "setup" in phases(recording)


def test_nvtx_0_leaves_another_tools_injection_alone(record, program, tool):
    recording = record(program("phases"), NVTX_INJECTION64_PATH=tool(1), GPUMEMTRACE_NVTX=0)
    assert recording.completed.stdout.startswith("injected 1\npush 40\n")
    assert "setup" not in phases(recording)


HEADERS = [
    folder
    for folder in (
        pathlib.Path("/usr/local/cuda/include"),
        *pathlib.Path("/usr").glob("lib/python3*/*-packages/nvidia/nvtx/include"),
    )
    if (folder / "nvtx3/nvToolsExt.h").exists()
]

REAL = """
#include <nvtx3/nvToolsExt.h>
int cudaMalloc(void **block, unsigned long bytes);
int call(void)
{
    void *block;
    cudaMalloc(&block, 1);
    nvtxDomainHandle_t first = nvtxDomainCreateA("first"), second = nvtxDomainCreateA("second");
    nvtxEventAttributes_t attributes = {0};
    attributes.version = NVTX_VERSION;
    attributes.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    attributes.message.registered = nvtxDomainRegisterStringA(first, "in the first");
    nvtxDomainRangePushEx(first, &attributes);
    nvtxRangePushA("by default");
    nvtxDomainRangePop(first);
    cudaMalloc(&block, 1 << 20);
    nvtxRangePop();
    const nvtxRangeId_t id = nvtxRangeStartA("anywhere");
    cudaMalloc(&block, 2 << 20);
    nvtxRangeEnd(id);
    return second == first;
}
"""


@pytest.mark.skipif(not HEADERS, reason="NVIDIA's NVTX headers are not on this machine")
@pytest.mark.parametrize("with_tool", [False, True])
def test_nvidias_own_headers_find_us_and_another_tool(record, program, tmp_path, tool, with_tool):
    real = compile_library(
        tmp_path / "libreal.so", REAL, BUILD / "simulator/libcudart.so.13", f"-I{HEADERS[0]}"
    )
    extra = {"NVTX_INJECTION64_PATH": tool(1)} if with_tool else {}
    recording = record(program("plugins"), f"local:{real}:call", check=False, **extra)
    rows = phases(recording)
    assert rows["in the first/by default"]["allocated_bytes"] == MIB
    assert rows["anywhere"]["allocated_bytes"] == 2 * MIB
    assert recording.completed.returncode == 5
    said = "tool: 0 open, 2 popped, 1 registered\n" if with_tool else ""
    assert recording.completed.stdout == f"call 0\n{said}"
