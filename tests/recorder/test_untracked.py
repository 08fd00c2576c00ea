# SPDX-License-Identifier: MIT
"""A program looks up a function that the recorder does not hook. The program gets the real function, and the recorder
counts and names the lookup."""
import signal

import pytest

from support.run import compile_library, load_json

# A driver of the future and its runtime. They have only the functions that the program here needs.
FUTURE = """
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
int cuInit(unsigned flags) { return 0; }
int cuMemAlloc_v2(unsigned long long *address, unsigned long bytes)
{
    return (*address = (unsigned long long)malloc(bytes)) ? 0 : 2;
}
int cuMemAllocFuture(void) { return 7; }
int cuMemcpyFuture(void) { return 8; }
int cudaMallocFuture(void) { return 9; }
int cuGetProcAddress_v2(const char *name, void **function, int version, unsigned long long flags,
                        int *status)
{
    *function = dlsym(dlopen("%s", RTLD_NOW), strcmp(name, "cuMemAlloc") ? name : "cuMemAlloc_v2");
    return *function ? 0 : 500;
}
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags, int *status)
{
    return cuGetProcAddress_v2(name, function, 13000, 0, status);
}
"""

USER = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>
typedef int future_function(void);
static void *driver(void) { return dlopen("%s", RTLD_NOW); }
int by_dlsym(void)
{
    future_function *function = dlsym(driver(), "cuMemAllocFuture");
    return function ? function() : -1;
}
int by_dlsym_of_the_runtime(void)
{
    future_function *function = dlsym(driver(), "cudaMallocFuture");
    return function ? function() : -1;
}
static int by(const char *way, const char *name)
{
    future_function *function = NULL;
    int status;
    if (way[3] == 'e') {
        int (*get)(const char *, void **, int, unsigned long long, int *) = dlsym(driver(), way);
        return get(name, (void **)&function, 13000, 0, &status) ? -1 : function();
    }
    int (*get)(const char *, void **, unsigned long long, int *) = dlsym(driver(), way);
    return get(name, (void **)&function, 0, &status) ? -1 : function();
}
int by_proc_address(void) { return by("cuGetProcAddress_v2", "cuMemAllocFuture"); }
int by_entry_point(void) { return by("cudaGetDriverEntryPoint", "cuMemAllocFuture"); }
int harmless(void) { return by("cuGetProcAddress_v2", "cuMemcpyFuture"); }
int missing(void)
{
    return by("cuGetProcAddress_v2", "cuMemNever") + (dlsym(driver(), "cuMemNever") != NULL);
}
int alloc(void)
{
    unsigned long long address;
    int (*alloc)(unsigned long long *, unsigned long) = dlsym(driver(), "cuMemAlloc_v2");
    return alloc(&address, 4096);
}
int hooked(void)
{
    int (*function)(unsigned long long *, unsigned long), status;
    unsigned long long address;
    int (*get)(const char *, void **, int, unsigned long long, int *) =
        dlsym(driver(), "cuGetProcAddress_v2");
    return get("cuMemAlloc", (void **)&function, 13000, 0, &status) || function(&address, 4096);
}
int in_a_namespace_of_its_own(void)
{
    unsigned long long address;
    void *other = dlmopen(LM_ID_NEWLM, "%s", RTLD_NOW);
    int (*alloc)(unsigned long long *, unsigned long) = dlsym(other, "cuMemAlloc_v2");
    return alloc(&address, 4096);
}
int killed(void) { return kill(getpid(), SIGKILL); }
"""


@pytest.fixture
def future(record, program, tmp_path):
    """Returns a function: future("by_dlsym", "alloc", …) calls these functions one after another under the recorder and
    returns the Recording."""
    path = tmp_path / "libcuda.so.1"
    compile_library(path, FUTURE % path, "-Wl,-soname,libcuda.so.1")
    user = compile_library(tmp_path / "libuser.so", USER % (path, path))

    def run(*functions):
        arguments = [f"local:{user}:{name}" for name in functions]
        return record(program("plugins"), *arguments, check=False)

    return run


def untracked(recording):
    document = load_json("info", recording.trace)
    return {row["name"]: row["count"] for row in document["seen_but_untracked"]}


def test_lookups_before_and_after_the_first_recorded_call_are_counted_by_name(future):
    recording = future("by_dlsym", "by_proc_address", "alloc", "by_dlsym", "by_entry_point")
    assert recording.completed.stdout == (
        "by_dlsym 7\nby_proc_address 7\nalloc 0\nby_dlsym 7\nby_entry_point 7\n"
    )
    assert untracked(recording) == {"cuMemAllocFuture": 4}


def test_a_runtimes_unknown_function_is_counted_too(future):
    recording = future("alloc", "by_dlsym_of_the_runtime")
    assert untracked(recording) == {"cudaMallocFuture": 1}


def test_what_is_hooked_harmless_or_not_there_is_not_counted(future):
    recording = future("alloc", "hooked", "harmless", "missing")
    assert recording.completed.stdout == "alloc 0\nhooked 0\nharmless 8\nmissing -1\n"
    assert untracked(recording) == {}
    assert recording.rows("SELECT count(*) FROM allocations") == [(2,)]


def test_a_hooked_function_of_a_driver_out_of_reach_is_counted(future):
    recording = future("alloc", "in_a_namespace_of_its_own")
    assert recording.completed.stdout == "alloc 0\nin_a_namespace_of_its_own 0\n"
    assert untracked(recording) == {"cuMemAlloc_v2": 1}
    assert recording.rows("SELECT count(*) FROM allocations") == [(1,)]


def test_a_program_that_is_killed_loses_none_of_the_counts(future):
    recording = future("by_dlsym", "alloc", "by_dlsym", "killed")
    assert recording.completed.returncode == -signal.SIGKILL
    assert untracked(recording) == {"cuMemAllocFuture": 2}


def test_a_report_says_that_there_are_ways_it_does_not_see(future, gpumemtrace):
    recording = future("by_dlsym", "alloc")
    assert "cuMemAllocFuture" in gpumemtrace("report", recording.trace).stdout
