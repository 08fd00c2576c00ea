# SPDX-License-Identifier: MIT
"""The recorder hooks functions that PyTorch's libraries call through the loader. It notes the calls, and it changes
neither their arguments nor their results. Libraries with the same names stand in for PyTorch here."""
import pytest

from support.run import compile_library

# A stand-in for libc10, with the report and the settings parser of newer releases. PyTorch's own parser throws an
# exception for "bad". This parser is in C and does not throw.
C10 = """
#include <stddef.h>
struct device { signed char type, index; };
struct string { const char *text; size_t bytes; };
int calls;
void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void *p, long size, unsigned long a, unsigned long r, struct device d) { calls += 1; }
void _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void *config, const struct string *text) { calls += 10 * (int)text->bytes; }
int c10_calls(void) { return calls; }
"""

# A stand-in for libtorch_cpu. It computes the number of bytes that the storage of a tensor needs.
CPU = """
#include <stddef.h>
struct numbers { const long *items; size_t count; };
size_t _ZN2at6detail30computeStorageNbytesContiguousEN3c108ArrayRefIlEEmm(struct numbers sizes, size_t item, size_t offset)
{
    size_t bytes = item;
    for (size_t i = 0; i < sizes.count; i++)
        bytes *= sizes.items[i];
    return offset * item + bytes;
}
"""

# A stand-in for libc10_cuda. It has streams of two devices, the settings parser of older releases, and a program that
# uses all of them.
C10_CUDA = """
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
struct device { signed char type, index; };
struct string { const char *text; size_t bytes; };
struct stream { struct device device; long id; };
struct numbers { const long *items; size_t count; };
size_t _ZN2at6detail30computeStorageNbytesContiguousEN3c108ArrayRefIlEEmm(struct numbers sizes, size_t item, size_t offset);
void _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(
    void *p, long size, unsigned long a, unsigned long r, struct device d);
void _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
    void *config, const struct string *text);
int cudaMalloc(void **p, size_t bytes);
int c10_calls(void);
void *_ZNK3c104cuda10CUDAStream6streamEv(const struct stream *s) { return (void *)(s->id * 0x1000); }
void _ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc(void *config, const char *text)
{
    if (text && !strcmp(text, "long"))
        abort();
}
static void *driver_stream(int device, long id)
{
    struct stream s = {{1, device}, id};
    return _ZNK3c104cuda10CUDAStream6streamEv(&s);
}
static void take(char *address, int device)
{
    struct device d = {1, device};
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(address, 512, 0, 0, d);
}
static void parse(const char *text)
{
    struct string s = {text, strlen(text)};
    _ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE(
        NULL, &s);
}
int streams(void)
{
    char *segment;
    struct device d = {1, 0};
    if (cudaMalloc((void **)&segment, 2 << 20))
        return -1;
    take(segment, 0);
    if (driver_stream(0, 7) != (void *)0x7000)
        return -2;
    take(segment + 512, 0);
    take(segment + 1024, 1);
    driver_stream(1, 9);
    take(segment + 1536, 0);
    take(segment + 2048, 1);
    driver_stream(0, 0);
    take(segment + 2560, 0);
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(segment, -512, 0, 0, d);
    return c10_calls();
}
static void take_block(char *address, size_t block, size_t asked)
{
    const long size = asked;
    struct device d = {1, 0};
    if (asked && _ZN2at6detail30computeStorageNbytesContiguousEN3c108ArrayRefIlEEmm((struct numbers){&size, 1}, 2, 0) != 2 * asked)
        abort();
    _ZN3c1027reportMemoryUsageToProfilerEPvlmmNS_6DeviceE(address, block, 0, 0, d);
}
int asked(void)
{
    char *segment;
    if (cudaMalloc((void **)&segment, 20 << 20))
        return -1;
    take_block(segment, 2 << 20, 700000);
    take_block(segment + (2 << 20), 2 << 20, 0);
    take_block(segment + (4 << 20), 2048, 1000);
    take_block(segment + (6 << 20), 2560, 1000);
    take_block(segment + (8 << 20), 2048, 4000);
    return c10_calls();
}
int settings(void)
{
    char *segment;
    parse("from the environment");
    _ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc(NULL, NULL);
    if (cudaMalloc((void **)&segment, 2 << 20))
        return -1;
    setenv("PYTORCH_ALLOC_CONF", "set before the first tensor", 1);
    take(segment, 0);
    setenv("PYTORCH_ALLOC_CONF", "set too late", 1);
    return c10_calls();
}
int settings_by_call(void)
{
    settings();
    _ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc(NULL, "by a call");
    return c10_calls();
}
"""


@pytest.fixture
def fake_pytorch(tmp_path, build, program):
    """Returns a function: fake_pytorch(function) returns a program and its argument. The program calls this function in
    the stand-in for libc10_cuda, which is in torch/lib beside the stand-ins for libc10 and libtorch_cpu."""

    def make(function):
        folder = tmp_path / "torch/lib"
        folder.mkdir(parents=True)
        cpu = compile_library(folder / "libtorch_cpu.so", CPU, "-Wl,-soname,libtorch_cpu.so")
        c10 = compile_library(folder / "libc10.so", C10, "-w", "-Wl,-soname,libc10.so")
        cuda = compile_library(
            folder / "libc10_cuda.so", C10_CUDA, c10, "-Wl,--no-as-needed", cpu,
            build / "simulator/libcudart.so.12", "-w", "-Wl,-rpath,$ORIGIN",
        )  # fmt: skip
        return program("plugins"), f"local:{cuda}:{function}"

    return make


def test_a_piece_has_the_stream_that_its_thread_last_used_for_its_device(fake_pytorch, record):
    recording = record(*fake_pytorch("streams"), check=False)
    assert recording.completed.stdout == "streams 7\n"
    rows = recording.rows("SELECT kind, stream FROM event WHERE memory = 10 ORDER BY seq")
    assert rows == [(1, None), (1, 0x7000), (1, None), (1, None), (1, 0x9000), (1, 0), (2, None)]


def test_what_was_asked_for_is_told_of_a_block_that_is_larger_than_that_rounded_and_once(fake_pytorch, record):
    recording = record(*fake_pytorch("asked"), check=False)
    assert recording.completed.stdout == "asked 5\n"
    rows = recording.rows("SELECT kind, size_bytes, address - (SELECT address FROM event WHERE memory = 1) FROM events"
                          " WHERE kind IN ('pool-asked', 'alloc') AND memory != 'linear' ORDER BY seq")  # fmt: skip
    assert [(kind, size, offset >> 20) for kind, size, offset in rows] == [
        ("pool-asked", 1400000, 0), ("alloc", 2 << 20, 0), ("alloc", 2 << 20, 2), ("alloc", 2048, 4),
        ("pool-asked", 2000, 6), ("alloc", 2560, 6), ("alloc", 2048, 8)]  # fmt: skip


@pytest.mark.parametrize("function, last", [("settings", "from the environment"), ("settings_by_call", "by a call")])
def test_settings_are_those_at_the_first_piece_and_what_the_parser_took_last(fake_pytorch, record, function, last):
    recording = record(*fake_pytorch(function), PYTORCH_ALLOC_CONF="set at the start", CUDA_MODULE_LOADING="LAZY", check=False)
    assert recording.completed.stdout == f"{function} 201\n"  # 201 is 10 times 20 letters, plus 1 for a report
    assert dict(recording.rows("SELECT name, value FROM allocator_setting")).items() >= {
        "PYTORCH_ALLOC_CONF": "set before the first tensor", "CUDA_MODULE_LOADING": "LAZY", "pytorch": last}.items()
    assert recording.rows("SELECT name, count(*) FROM allocator_setting GROUP BY 1 HAVING count(*) > 1") == []


VERSIONS = [
    ("version.py", "__all__ = ['__version__']\n__version__ = '2.99.0+cu130'\ncuda = '13.0'\n", "2.99.0+cu130"),
    ("version.py", 'from typing import Optional\n__version__ = "1.13.1"\n', "1.13.1"),
    ("build-version", "2.6.0+cpu\n", "2.6.0+cpu"),
    ("version.py", "__version__ = \n", None),
    ("version.py", "", None),
    ("version.py", "'2.0'\n" * 1000, None),
    ("other.py", "__version__ = '1.0'\n", None),
]


@pytest.mark.parametrize("file, text, version", VERSIONS)
def test_the_version_is_what_the_file_beside_the_library_states(fake_pytorch, record, tmp_path, file, text, version):
    command = fake_pytorch("streams")
    (tmp_path / "torch" / file).write_text(text)
    recording = record(*command, check=False)
    assert recording.completed.stdout == "streams 7\n"
    assert recording.rows("SELECT * FROM framework") == ([("torch", version)] if version else [])


def test_facts_that_came_after_the_start_survive_a_kill(record, tmp_path, fake_pytorch, build):
    """Until they are stored, the facts are in the ring, together with the events."""
    command = fake_pytorch("settings_by_call")
    (tmp_path / "torch/version.py").write_text("__version__ = '2.15.0'\n")
    killer = compile_library(tmp_path / "killer.so", "#include <signal.h>\nint die(void) { raise(SIGKILL); return 0; }", "-w")
    recording = record(*command, f"local:{killer}:die", check=False)
    recording.report()
    assert recording.rows("SELECT * FROM framework") == [("torch", "2.15.0")]
    assert ("pytorch", "by a call") in recording.rows("SELECT * FROM allocator_setting")


def test_a_program_without_python_says_once_that_there_is_no_walk(record, tmp_path, fake_pytorch):
    asks = "extern void gpumemtrace_holders(void); int ask(void) { gpumemtrace_holders(); gpumemtrace_holders(); return 7; }"
    asker = compile_library(tmp_path / "asker.so", asks)
    words = *fake_pytorch("streams"), f"local:{asker}:ask"
    recording = record(*words, check=False, GPUMEMTRACE_HOLDERS="1")
    assert recording.completed.stdout == "streams 7\nask 7\n"
    assert recording.completed.stderr.count("no walk over Python's objects: no interpreter of CPython") == 1
    assert recording.rows("SELECT count(*) FROM event WHERE memory = 10") == [(7,)]
    assert recording.rows("SELECT count(*) FROM walk") == [(0,)]
