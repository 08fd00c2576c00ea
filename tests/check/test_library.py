# SPDX-License-Identifier: MIT
"""The properties of libgpumemtrace.so that programs see when they load it."""
import re
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, ROOT, TIMEOUT_S, clean_environment, simulator_environment

LIBRARY = BUILD / "libgpumemtrace.so"

STRING = "RKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"

# These exports are functions that replace functions of libc, and entry points for NVTX, PyTorch and the public API.
OTHER_EXPORTS = {
    "InitializeInjectionNvtx2", "dlsym", "dlvsym", "dlopen", "dlclose", "exit", "_exit", "_Exit", "quick_exit",
    "daemon",
    "execl", "execle", "execlp", "execv", "execve", "execveat", "execvp", "execvpe", "fexecve",
    "__libc_start_main", "gpumemtrace_push", "gpumemtrace_pop", "gpumemtrace_mark",
    "gpumemtrace_step", "gpumemtrace_pool_alloc", "gpumemtrace_pool_free", "gpumemtrace_pool_oom",
    "gpumemtrace_holders",
    *(f"_ZN3c1027reportMemoryUsageToProfilerEPvl{totals}NS_6DeviceE" for totals in ("mm", "ll", "")),
    *(f"_ZN3c1027reportOutOfMemoryToProfilerE{sizes}NS_6DeviceE" for sizes in ("lmm", "lll", "mmm")),
    "_ZNK3c104cuda10CUDAStream6streamEv",
    "_ZN2at6detail30computeStorageNbytesContiguousEN3c108ArrayRefIlEEmm",
    "_ZN2at6detail20computeStorageNbytesEN3c108ArrayRefIlEES3_mm",
    *(f"_ZN3c10{error}ENS_14SourceLocationE{STRING[2:]}" for error in ("5ErrorC2", "16OutOfMemoryErrorC1")),
}
# The exports with GMT_PASSES_CALLS_ON pass a call to the real function without a change. Only the hooks for x86-64 do
# this.
PASSING_EXPORTS = {
    "_ZN2at15sequence_number17get_and_incrementEv",
    "_ZN2at14RecordFunction15currentThreadIdEv",
    "_ZN5torch8autograd4impl17set_gradient_edgeERKN2at6TensorENS0_4EdgeE",
    "_ZN5torch8autograd4impl14rebase_historyERKN2at6TensorENS0_4EdgeE",
    "_ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE",
    "_ZN3c104cuda20CUDACachingAllocator19CUDAAllocatorConfig9parseArgsEPKc",
    f"_ZN3c104cuda20CUDACachingAllocator20setAllocatorSettingsE{STRING}",
    f"_ZN3c1016CachingAllocator26AcceleratorAllocatorConfig9parseArgsE{STRING}",
}
X86_64 = 62  # the value of e_machine


def machine(path):
    """Returns the e_machine of an ELF file."""
    return int.from_bytes(path.read_bytes()[18:20], "little")


def exports(path):
    output = subprocess.run(
        ["nm", "-D", "--defined-only", path], capture_output=True, text=True, check=True
    ).stdout
    return {line.split()[-1] for line in output.splitlines()}


def hooks():
    text = (ROOT / "include/gpumemtrace/hooks.def").read_text(encoding="utf-8")
    rows = re.findall(r"^(?:HOOK|SEEN)\((driver|runtime), (\w+)", text, re.MULTILINE)
    return {name for _, name in rows}


def test_the_library_exports_its_hooks_the_public_api_and_nothing_else():
    names = {name for name in exports(LIBRARY) if not name.startswith("nvtx")}
    assert names == hooks() | OTHER_EXPORTS | (PASSING_EXPORTS if machine(LIBRARY) == X86_64 else set())


def test_built_without_nvidias_headers_it_exports_the_same():
    assert exports(BUILD / "plain" / "libgpumemtrace.so") == exports(LIBRARY)


def test_it_needs_no_library_but_libcs_own():
    output = subprocess.run(
        ["readelf", "-d", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    needed = set(re.findall(r"NEEDED.*\[(.*)\]", output))
    allowed = {"libc.so.6", "libm.so.6", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
               "libpthread.so.0", "libdl.so.2"}
    assert needed <= allowed or any("asan" in name or "ubsan" in name for name in needed)
    assert "TEXTREL" not in output


def test_it_asks_for_no_glibc_newer_than_2_34():
    output = subprocess.run(
        ["objdump", "-T", LIBRARY], capture_output=True, text=True, check=True
    ).stdout
    versions = {tuple(map(int, v.split("."))) for v in re.findall(r"GLIBC_([0-9.]+)", output)}
    assert max(versions) <= (2, 34)


def test_its_code_calls_nothing_that_headers_of_glibc_2_38_replace_by_a_newer_symbol():
    """In new headers, strtol, sscanf and similar functions become __isoc23_*. This test finds calls of these functions
    on older systems as well."""
    sources = [path.relative_to(ROOT) for room in ("interpose", "trace", "common")
               for path in (ROOT / room).rglob("*.c")]
    objects = [(BUILD / "obj" / path).with_suffix(".o") for path in sources]
    output = subprocess.run(
        ["nm", "-u", *objects], capture_output=True, text=True, check=True
    ).stdout
    called = set(re.findall(r"U (\w+)", output))
    assert "mmap" in called or "mmap64" in called
    assert not {
        name for name in called
        if re.fullmatch(r"(?:__isoc\d+_)?(?:strto(?:l|ll|ul|ull|imax|umax)|wcsto\w+|v?f?s?w?scanf)", name)
    }


def run_python(code, tmp_path, **settings):
    return subprocess.run(
        ["/usr/bin/python3", "-c", code],
        env=clean_environment(LD_PRELOAD=LIBRARY, **settings),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )


def test_python_keeps_its_own_sqlite_and_no_file_is_left(tmp_path):
    code = (
        "import sqlite3, re; sqlite3.connect(':memory:').execute('select 1');"
        "print(sorted(set(re.findall(r'\\S*libsqlite3\\S*', open('/proc/self/maps').read()))))"
    )
    with_us = run_python(code, tmp_path)
    assert with_us.returncode == 0, with_us.stderr
    assert "libsqlite3.so" in with_us.stdout
    assert with_us.stderr == ""
    assert list(tmp_path.iterdir()) == []


def test_a_program_without_cuda_does_not_load_an_unwinder(tmp_path):
    completed = run_python("print('libunwind.so' in open('/proc/self/maps').read())", tmp_path)
    assert completed.stdout == "False\n"


def test_the_constructor_sets_one_variable_and_only_where_it_is_unset(tmp_path):
    code = "import os; print(os.environ['NVTX_INJECTION64_PATH'])"
    assert run_python(code, tmp_path).stdout == f"{LIBRARY}\n"
    assert run_python(code, tmp_path, NVTX_INJECTION64_PATH="/other").stdout == "/other\n"


def test_exceptions_thrown_under_the_recorder_are_unwound_by_the_programs_own_library(program):
    completed = subprocess.run(
        [program("exceptions"), "1000"],
        env=simulator_environment(LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT="/dev/null/x",
                                  TMPDIR="/dev/null"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert completed.returncode == 0, completed.stderr
    expected = "libasan" if PRELOAD_FIRST else "libgcc_s"
    assert f"raised by {expected}" in completed.stdout


@pytest.mark.parametrize("argument", ["NULL", "RTLD_NEXT", "RTLD_DEFAULT"])
def test_dlsym_answers_for_its_caller(program, argument, tmp_path):
    completed = subprocess.run(
        [program("dlsym_callers"), argument],
        env=simulator_environment(LD_PRELOAD=LIBRARY, GPUMEMTRACE_QUIET=1),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr

