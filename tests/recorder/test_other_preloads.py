# SPDX-License-Identifier: MIT
"""Mistakes of other preloaded libraries, which the recorder must not make. Each test first shows that the mistake has
an effect."""
import pathlib
import platform
import re
import signal
import sqlite3
import subprocess
import sysconfig

import pytest

from support.run import BUILD, PRELOAD_FIRST, ROOT, TIMEOUT_S, compile_library, simulator_environment

OURS = BUILD / "libgpumemtrace.so"
NAIVE = (ROOT / "tests/programs/library/naive_lookups.c").read_text(encoding="utf-8")
DRIVER = BUILD / "simulator" / "libcuda.so.1"

PRELUDE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
static void *driver(void) { return dlopen("libcuda.so.1", RTLD_NOW); }
typedef int get_function(const char *, void **, int, unsigned long long, int *);
typedef int alloc_function(unsigned long long *, unsigned long);
int answer(void);
static int ready(void)
{
    void *context;
    int (*init)(unsigned) = dlsym(driver(), "cuInit");
    int (*retain)(void **, int) = dlsym(driver(), "cuDevicePrimaryCtxRetain");
    int (*set_current)(void *) = dlsym(driver(), "cuCtxSetCurrent");
    return init(0) || retain(&context, 0) || set_current(context);
}
"""


@pytest.fixture
def outcome(program, tmp_path):
    """Returns a function: outcome(arguments, preload, …) returns the exit status and the output of a run. The trace of
    the run is trace.db."""

    def run(arguments, *preload, **settings):
        environment = simulator_environment(
            LD_PRELOAD=":".join(map(str, preload)), GPUMEMTRACE_QUIET=1,
            GPUMEMTRACE_OUTPUT=tmp_path / "trace.db", **settings,
        )  # fmt: skip
        completed = subprocess.run(
            [program("plugins"), *map(str, arguments)],
            env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, cwd=tmp_path,
        )  # fmt: skip
        return completed.returncode, completed.stdout

    return run


@pytest.fixture
def shown(outcome, tmp_path):
    """Returns a function: shown("NAIVE_…", code, right, wrong) runs the function `call` in the code. It checks that
    `call` returns `right` without and with the recorder, and `wrong` under the naive library. `wrong` is a number, or
    Ends(status) if the process dies."""

    def check(mistake, code, right, wrong, *options, behind=()):
        naive = compile_library(
            tmp_path / "libnaive.so", NAIVE, f"-D{mistake}", "-O0", "-D_GNU_SOURCE", "-Werror",
            f"-I{ROOT / 'include'}",
        )  # fmt: skip
        plugin = compile_library(tmp_path / "libplugin.so", PRELUDE + code, *options)
        arguments = [f"local:{plugin}:call"]
        assert outcome(arguments, *behind) == (5, f"call {right}\n")
        if not PRELOAD_FIRST:  # a sanitizer has wrappers of its own
            status, said = outcome(arguments, naive, *behind)
            assert said == f"call {wrong}\n" if isinstance(wrong, int) else status == wrong.status
        assert outcome(arguments, OURS, *behind) == (5, f"call {right}\n")

    return check


class Ends:
    def __init__(self, status):
        self.status = status


def recorded_sizes(trace):
    with sqlite3.connect(f"file:{trace}?mode=ro", uri=True) as database:
        rows = database.execute("SELECT size_bytes FROM allocations ORDER BY seq").fetchall()
    return [size for size, in rows]


# --- mistakes --------------------------------------------------------------------------------------


def test_a_second_lookup_of_the_next_definition_finds_it_again(shown):
    code = """
    int call(void) { return dlsym(RTLD_NEXT, "puts") && dlsym(RTLD_NEXT, "puts"); }
    """
    shown("NAIVE_TWICE", code, 1, 0)


def test_the_next_definition_is_that_behind_the_caller(shown, tmp_path):
    first = compile_library(
        tmp_path / "libfirst.so",
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        static int depth;
        int reply(void)
        {
            int (*next)(void) = dlsym(RTLD_NEXT, "reply");
            return depth++ ? -1 : 1 + next();
        }
        """,
    )
    second = compile_library(tmp_path / "libsecond.so", "int reply(void) { return 1; }")
    code = "int reply(void); int call(void) { return reply(); }"
    shown("NAIVE_CALLER", code, 2, 0, behind=[first, second])


def test_names_of_other_libraries_that_begin_alike_are_not_the_drivers(shown, tmp_path):
    other = compile_library(tmp_path / "libcudnn.so.9", "int cudnnCreate(void) { return 3; }")
    code = f"""
    int call(void)
    {{
        int (*create)(void) = dlsym(dlopen("{other}", RTLD_NOW), "cudnnCreate");
        return create ? create() : -1;
    }}
    """
    shown("NAIVE_PREFIX", code, 3, -1)


def test_a_handle_of_null_is_the_whole_program(shown):
    code = """
    int call(void) { return dlsym(NULL, "puts") && !dlsym(NULL, "cuNoSuchFunction"); }
    """
    shown("NAIVE_SELF", code, 1, Ends(-signal.SIGSEGV))


def test_a_handle_means_the_library_it_is_of(shown, tmp_path):
    other = compile_library(
        tmp_path / "libother.so", "int cuMemAlloc_v2(long *a, long b) { return (int)b + 1; }"
    )
    code = f"""
    int call(void)
    {{
        alloc_function *drivers = dlsym(driver(), "cuMemAlloc_v2");
        alloc_function *others = dlsym(dlopen("{other}", RTLD_NOW), "cuMemAlloc_v2");
        unsigned long long address;
        return drivers(&address, 4) == 3 && others != drivers && others(&address, 4) == 5;
    }}
    """
    shown("NAIVE_HANDLE", code, 1, 0)


def test_out_parameters_that_are_not_given_are_not_written_to(shown):
    code = """
    int cuGetProcAddress_v2(const char *, void **, int, unsigned long long, int *);
    int call(void)
    {
        void *function = NULL;
        return cuGetProcAddress_v2("cuMemAlloc", &function, 3020, 0, NULL) == 0 && function &&
               cuGetProcAddress_v2("cuMemAlloc", NULL, 3020, 0, NULL) == 1 &&
               cuGetProcAddress_v2("cuNoSuchFunction", &function, 3020, 0, NULL) == 500;
    }
    """
    shown("NAIVE_OUT", code, 1, Ends(-signal.SIGSEGV), DRIVER)


@pytest.mark.parametrize("function, arguments", [
    ("cuMemAlloc_v2", "NULL, 4096"),
    ("cuMemAllocPitch_v2", "NULL, NULL, 4096, 1, 4"),
    ("cuMemAllocAsync", "NULL, 4096, NULL"),
    ("cuMemCreate", "NULL, 4096, NULL, 0"),
    ("cuMemPoolCreate", "NULL, NULL"),
    ("cuArrayCreate_v2", "NULL, NULL"),
    ("cuMipmappedArrayCreate", "NULL, NULL, 1"),
    ("cuCtxCreate_v2", "NULL, 0, 0"),
    ("cuMemImportFromShareableHandle", "NULL, NULL, 1"),
    ("cuImportExternalMemory", "NULL, NULL"),
    ("cuIpcOpenMemHandle_v2", "NULL"),
    ("cuModuleLoadData", "NULL, NULL"),
    ("cuDevicePrimaryCtxRetain", "NULL, 0"),
])  # fmt: skip
def test_a_call_without_its_out_parameter_fails_as_it_would(outcome, tmp_path, function, arguments):
    code = f"""
    int call(void)
    {{
        int (*function)() = dlsym(driver(), "{function}");
        return ready() ? -1 : function({arguments});
    }}
    """
    plugin = compile_library(tmp_path / "libplugin.so", PRELUDE + code)
    bare = outcome([f"local:{plugin}:call"])
    assert bare[0] == 5 and not bare[1].endswith(" 0\n")
    assert outcome([f"local:{plugin}:call"], OURS) == bare


def test_an_allocation_through_cuGetProcAddress_is_seen(shown, record, program, tmp_path):
    code = """
    int call(void)
    {
        get_function *get = dlsym(driver(), "cuGetProcAddress_v2");
        alloc_function *alloc = NULL;
        unsigned long long address;
        return ready() || get("cuMemAlloc", (void **)&alloc, 3020, 0, NULL) || alloc(&address, 4096);
    }
    """
    shown("NAIVE_ONE_WAY", code, 0, 0)  # the naive library prints a line if it sees the allocation
    recording = record(program("plugins"), f"local:{tmp_path}/libplugin.so:call", check=False)
    assert recording.rows("SELECT api, size_bytes FROM allocations") == [("cuMemAlloc_v2", 4096)]


@pytest.mark.skipif(
    tuple(map(int, platform.libc_ver()[1].split("."))) < (2, 34),
    reason="this C library still has __libc_dlsym",
)
def test_no_private_function_of_the_c_library_is_needed(shown):
    code = 'int call(void) { return dlsym(driver(), "cuInit") != 0; }'
    shown("NAIVE_LIBC", code, 1, Ends(127))


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer stands in for dlopen, too")
def test_a_library_finds_those_in_its_own_folders(shown, tmp_path):
    folder = tmp_path / "inner"
    folder.mkdir()
    compile_library(folder / "libinner.so", "int inner(void) { return 1; }")
    code = 'int call(void) { return dlopen("libinner.so", RTLD_NOW) != 0; }'
    shown("NAIVE_DLOPEN", code, 1, 0, "-Wl,-rpath,$ORIGIN/inner")


def test_the_next_definition_is_none_where_ours_is_the_only_one_behind(outcome, tmp_path):
    tool = compile_library(
        tmp_path / "libtool.so",
        """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        int cuMemAlloc_v2(long *a, long b) { return dlsym(RTLD_NEXT, "cuMemAlloc_v2") != 0; }
        """,
    )
    user = compile_library(
        tmp_path / "libuser.so",
        "int cuMemAlloc_v2(long *, long); int call(void) { long a; return cuMemAlloc_v2(&a, 0); }",
    )
    arguments = [f"local:{user}:call"]
    assert outcome(arguments, tool) == (5, "call 0\n")
    assert outcome(arguments, OURS, tool) == outcome(arguments, tool, OURS) == (5, "call 0\n")


# --- tools that stand in for the same functions ----------------------------------------------------

TOOL = """
#define _GNU_SOURCE
#include <dlfcn.h>
typedef int alloc_function(unsigned long long *, unsigned long);
static int seen;
int tool_seen(void) { return seen; }
int cuMemAlloc_v2(unsigned long long *address, unsigned long bytes)
{
    void *where = HANDLE ? dlopen("libcuda.so.1", RTLD_NOW) : RTLD_NEXT;
    alloc_function *real = dlsym(where, "cuMemAlloc_v2");
    seen++;
    return real(address, bytes);
}
"""

USER = """
int cuMemAlloc_v2(unsigned long long *, unsigned long);
int tool_seen(void);
int by_name(void)
{
    unsigned long long address;
    return ready() || cuMemAlloc_v2(&address, 4096);
}
int by_pointer(void)
{
    get_function *get = dlsym(driver(), "cuGetProcAddress_v2");
    alloc_function *alloc = NULL;
    unsigned long long address;
    return get("cuMemAlloc", (void **)&alloc, 3020, 0, NULL) || alloc(&address, 8192);
}
int by_handle(void)
{
    unsigned long long address;
    return ((alloc_function *)dlsym(driver(), "cuMemAlloc_v2"))(&address, 16384);
}
int seen(void) { return tool_seen(); }
"""


@pytest.mark.parametrize("ours_first", [True, False], ids=["ours_first", "ours_behind"])
@pytest.mark.parametrize("handle", [0, 1], ids=["calls_next", "calls_by_handle"])
@pytest.mark.parametrize("jump", ["-foptimize-sibling-calls", "-fno-optimize-sibling-calls"])
def test_another_tool_sees_the_calls_it_would_see_and_each_is_recorded_once(
    outcome, tmp_path, ours_first, handle, jump
):
    tool = compile_library(tmp_path / "libtool.so", TOOL, "-O2", jump, f"-DHANDLE={handle}")
    user = compile_library(tmp_path / "libuser.so", PRELUDE + USER, DRIVER)
    arguments = [f"global:{user}:{name}" for name in ("by_name", "by_pointer", "by_handle", "seen")]
    alone = outcome(arguments, tool)
    assert alone == (5, "by_name 0\nby_pointer 0\nby_handle 0\nseen 1\n")
    assert outcome(arguments, *([OURS, tool] if ours_first else [tool, OURS])) == alone
    assert recorded_sizes(tmp_path / "trace.db") == [4096, 8192, 16384]


LOOK = """
int cuMemAlloc_v2(unsigned long long *, unsigned long);
static const char *place(void *function)
{
    Dl_info info;
    return function && dladdr(function, &info) ? strrchr(info.dli_fname, '/') : "none";
}
int look(void)
{
    void *graphics = dlopen("libGL.so.1", RTLD_NOW);
    printf("%s, ", place(dlsym(RTLD_DEFAULT, "glXSwapBuffers")));
    printf("%s, ", graphics ? place(dlsym(graphics, "glXSwapBuffers")) : "no libGL");
    printf("%s\\n", place(dlsym(dlopen("libm.so.6", RTLD_NOW), "cos")));
    return 0;
}
int by_name(void)
{
    unsigned long long address;
    return ready() || cuMemAlloc_v2(&address, 4096);
}
int by_handle(void)
{
    unsigned long long address;
    return ((alloc_function *)dlsym(driver(), "cuMemAlloc_v2"))(&address, 8192);
}
"""

SYSTEM = pathlib.Path("/usr/lib") / sysconfig.get_config_var("MULTIARCH")
TOOLS = {
    "mangohud": ["mangohud/libMangoHud_dlsym.so", "mangohud/libMangoHud.so"],  # stands in for dlsym
    "apitrace": ["apitrace/wrappers/glxtrace.so"],  # stands in for dlopen
}


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer stands in for dlopen, too")
@pytest.mark.parametrize("ours_first", [True, False], ids=["ours_first", "ours_behind"])
@pytest.mark.parametrize("name", TOOLS)
def test_a_tool_of_the_system_works_as_without_the_recorder_and_so_does_the_recorder(
    outcome, gpumemtrace, tmp_path, name, ours_first
):
    tool = [SYSTEM / library for library in TOOLS[name]]
    if not all(library.exists() for library in tool):
        pytest.skip(f"{name} is not installed")
    user = compile_library(tmp_path / "libuser.so", PRELUDE + LOOK, DRIVER)
    arguments = [f"local:{user}:{function}" for function in ("look", "by_name", "by_handle")]

    def said(*preload):
        """Returns the exit status and the output. Lines of the tool's log are left out, because they hold the time."""
        status, text = outcome(arguments, *preload)
        return status, re.sub(r"^\[\d{4}-.*\n", "", text, flags=re.MULTILINE)

    alone = said(*tool)
    assert alone[0] == 5 and alone[1].endswith("by_name 0\nby_handle 0\n")
    assert said(*([OURS, *tool] if ours_first else [*tool, OURS])) == alone
    if name == "mangohud" and not ours_first:  # MangoHud asks the C library directly, and never asks the recorder
        assert recorded_sizes(tmp_path / "trace.db") == [4096]
        assert "takes it first" in gpumemtrace("info", tmp_path / "trace.db").stdout
    else:
        assert recorded_sizes(tmp_path / "trace.db") == [4096, 8192]
