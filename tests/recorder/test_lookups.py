# SPDX-License-Identifier: MIT
"""A program looks up the functions of CUDA in every way. It gets the same functions as without the recorder, and the
calls of these functions are recorded."""
import os
import shutil
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, TIMEOUT_S, compile_library, simulator_environment

ALLOCATIONS = (
    "SELECT name, size_bytes FROM event JOIN hook USING(hook_id) "
    "WHERE kind=1 AND result=0 AND nested=0 ORDER BY seq"
)
RUNTIME = BUILD / "simulator" / "libcudart.so.13"
DRIVER = BUILD / "simulator" / "libcuda.so.1"

# This code calls functions by name, as a program does that is linked to the runtime.
CALLS = """
int cudaMalloc(void **pointer, unsigned long bytes);
int cudaFree(void *pointer);
int call(void)
{
    void *pointer;
    return cudaMalloc(&pointer, 4096) || cudaFree(pointer);
}
"""


@pytest.fixture
def both(program, record):
    """Returns a function: both("local:libx.so:call", …) opens libraries and calls functions in them, first without and
    then with the recorder. It checks that the output is the same, and returns the Recording."""

    def run(*arguments, **settings):
        bare = subprocess.run(
            [program("plugins"), *arguments],
            env=simulator_environment(**settings), capture_output=True, text=True, timeout=TIMEOUT_S,
        )  # fmt: skip
        assert bare.returncode == 5, bare.stderr
        recording = record(program("plugins"), *arguments, check=False, **settings)
        completed = recording.completed
        assert (completed.returncode, completed.stdout) == (5, bare.stdout), completed.stderr
        return recording

    return run


def allocations(recording):
    return recording.rows(ALLOCATIONS)


# --- RTLD_DEEPBIND ---------------------------------------------------------------------------------


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_a_library_with_cuda_is_recorded_though_it_is_opened_with_deepbind(both, tmp_path):
    plugin = compile_library(tmp_path / "libplugin.so", CALLS, RUNTIME)
    recording = both(f"deepbind:{plugin}:call")
    assert allocations(recording) == [("cudaMalloc", 4096)]


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_so_it_is_when_cuda_comes_in_through_a_library_that_it_needs(both, tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    inner = compile_library(folder / "libinner.so", CALLS, RUNTIME, "-Wl,-soname,libinner.so")
    outer = compile_library(
        tmp_path / "libouter.so", "int call(void); int outer(void) { return call(); }", inner,
        "-Wl,-rpath,$ORIGIN/inner",
    )  # fmt: skip
    recording = both(f"deepbind:{outer}:outer")
    assert allocations(recording) == [("cudaMalloc", 4096)]


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_so_it_is_when_it_opens_the_driver_itself(both, tmp_path):
    plugin = compile_library(
        tmp_path / "libplugin.so",
        """
        #include <dlfcn.h>
        int call(void)
        {
            void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
            int (*init)(unsigned) = dlsym(driver, "cuInit");
            int (*retain)(void **, int) = dlsym(driver, "cuDevicePrimaryCtxRetain");
            int (*set_current)(void *) = dlsym(driver, "cuCtxSetCurrent");
            int (*alloc)(unsigned long long *, unsigned long) = dlsym(driver, "cuMemAlloc_v2");
            unsigned long long address;
            return init(0) || retain(&context, 0) || set_current(context) || alloc(&address, 4096);
        }
        """,
    )
    recording = both(f"deepbind:{plugin}:call")
    assert allocations(recording) == [("cuMemAlloc_v2", 4096)]


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_a_library_without_cuda_keeps_its_own_symbols_by_deepbind(both, tmp_path):
    plugin = compile_library(
        tmp_path / "libplugin.so",
        "int answer(void) { return 42; } int call(void) { return answer(); }",
    )
    recording = both(f"deepbind:{plugin}:call")
    assert recording.completed.stdout == "call 42\n"


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer refuses RTLD_DEEPBIND")
def test_deepbind_stays_when_asked_and_info_says_what_that_costs(both, tmp_path, gpumemtrace):
    plugin = compile_library(tmp_path / "libplugin.so", CALLS, RUNTIME)
    seen = compile_library(tmp_path / "libseen.so", CALLS.replace("call", "seen"), RUNTIME)
    recording = both(f"deepbind:{plugin}:call", f"local:{seen}:seen", GPUMEMTRACE_DEEPBIND=1)
    assert ("cudaMalloc", 4096) in allocations(recording)
    assert recording.rows("SELECT name, count FROM coverage") == [("dlopen(RTLD_DEEPBIND)", 1)]
    assert "dlopen(RTLD_DEEPBIND)" in gpumemtrace("info", recording.trace).stdout


# --- which runtime, which driver -------------------------------------------------------------------


def test_a_runtime_under_another_file_name_is_found_and_recorded(both, tmp_path):
    renamed = tmp_path / "libcudart-d0da41ae.so.13"
    shutil.copy(RUNTIME, renamed)
    plugin = compile_library(tmp_path / "libplugin.so", CALLS)
    recording = both(f"global:{renamed}:cudaDeviceSynchronize", f"local:{plugin}:call")
    assert allocations(recording) == [("cudaMalloc", 4096)]


OWN_RUNTIME = """
static int calls;
void **__cudaRegisterFatBinary(void *image) { return image; }
int cuMemAlloc_v2(unsigned long long *address, unsigned long bytes);
int cuInit(unsigned); int cuDevicePrimaryCtxRetain(void **, int); int cuCtxSetCurrent(void *);
int cudaMalloc(void **pointer, unsigned long bytes)
{
    void *context;
    calls++;
    return cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context) ||
           cuMemAlloc_v2((unsigned long long *)pointer, bytes);
}
int call(void) { void *pointer; return cudaMalloc(&pointer, 4096); }
int own_calls(void) { return calls; }
"""


def test_a_library_with_a_runtime_inside_calls_its_own(both, tmp_path):
    own = compile_library(tmp_path / "libown.so", OWN_RUNTIME, DRIVER)
    other = compile_library(tmp_path / "libother.so", CALLS.replace("call", "other"), RUNTIME)
    recording = both(
        f"local:{other}:other", f"local:{own}:call", f"local:{own}:own_calls"
    )
    assert recording.completed.stdout == "other 0\ncall 0\nown_calls 1\n"
    assert allocations(recording) == [("cudaMalloc", 4096), ("cudaMalloc", 4096)]


def test_a_function_that_is_handed_on_stays_that_of_its_runtime(both, tmp_path):
    other = compile_library(
        tmp_path / "libother.so",
        "int use(int (*alloc)(void **, unsigned long)) { void *p; alloc(&p, 1ul << 50); return 0; }",
        "-Wl,--no-as-needed", RUNTIME,
    )  # fmt: skip
    own = compile_library(
        tmp_path / "libown.so",
        """
        #include <dlfcn.h>
        int use(void *alloc), cudaPeekAtLastError(void);
        int call(void)
        {
            use(dlsym(dlopen("libcudart.so.12", RTLD_NOW), "cudaMalloc"));
            return cudaPeekAtLastError();
        }
        """,
        RUNTIME.with_suffix(".12"), other,
    )  # fmt: skip
    recording = both(f"local:{own}:call")
    assert recording.completed.stdout == "call 2\n"
    assert recording.rows("SELECT count(*) FROM event WHERE kind=1 AND result=2 AND nested=0") == [(1,)]


def test_each_of_two_drivers_in_one_process_gets_its_own_calls(both, tmp_path):
    second = tmp_path / "libcuda.so.1"
    shutil.copy(DRIVER, second)
    source = """
    #include <dlfcn.h>
    int call_%d(void)
    {
        void *driver = dlopen("%s", RTLD_NOW), *context;
        int (*init)(unsigned) = dlsym(driver, "cuInit");
        int (*retain)(void **, int) = dlsym(driver, "cuDevicePrimaryCtxRetain");
        int (*set_current)(void *) = dlsym(driver, "cuCtxSetCurrent");
        int (*alloc)(unsigned long long *, unsigned long) = dlsym(driver, "cuMemAlloc_v2");
        unsigned long long address;
        return init(0) || retain(&context, 0) || set_current(context) || alloc(&address, %d);
    }
    """
    first = compile_library(tmp_path / "lib1.so", source % (1, DRIVER, 4096))
    other = compile_library(tmp_path / "lib2.so", source % (2, second, 8192))
    recording = both(f"local:{first}:call_1", f"local:{other}:call_2")
    assert allocations(recording) == [("cuMemAlloc_v2", 4096), ("cuMemAlloc_v2", 8192)]


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer cannot be loaded twice")
def test_a_driver_in_a_namespace_of_its_own_works_and_is_not_hooked(both, tmp_path):
    plugin = compile_library(tmp_path / "libplugin.so", CALLS, RUNTIME)
    both(f"new:{plugin}:call")


# --- the caller's own view -------------------------------------------------------------------------


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer stands in for dlopen, too")
def test_dlopen_looks_in_the_folders_of_its_caller(both, tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    compile_library(folder / "libinner.so", "int inner(void) { return 1; }")
    plugin = compile_library(
        tmp_path / "libplugin.so",
        '#include <dlfcn.h>\nint call(void) { return dlopen("libinner.so", RTLD_NOW) != 0; }',
        "-Wl,-rpath,$ORIGIN/inner",
    )
    assert both(f"local:{plugin}:call").completed.stdout == "call 1\n"


def test_dlvsym_gives_the_hook_and_fails_where_it_would(both, tmp_path):
    plugin = compile_library(
        tmp_path / "libplugin.so",
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        int call(void)
        {
            void *runtime = dlopen("libcudart.so.13", RTLD_NOW), *pointer;
            int (*alloc)(void **, unsigned long) = dlvsym(runtime, "cudaMalloc", "libcudart.so.13");
            return alloc(&pointer, 4096) || dlvsym(runtime, "cudaMalloc", "libcudart.so.99") ||
                   !dlerror() || dlvsym(RTLD_DEFAULT, "cuNoSuchFunction", "1") ||
                   !dlvsym(RTLD_NEXT, "puts", "%s");
        }
        """ % ("GLIBC_2.2.5" if os.uname().machine == "x86_64" else "GLIBC_2.17"),
    )  # fmt: skip
    assert allocations(both(f"local:{plugin}:call")) == [("cudaMalloc", 4096)]
