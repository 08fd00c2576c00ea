# SPDX-License-Identifier: MIT
"""Tests the pytest plugin with pytest's pytester. This file must not import tests/support, because `make check-pythons`
runs it in environments that hold only pytest and the plugin."""
import os
import pathlib
import re
import subprocess
import sys
import xml.etree.ElementTree as ElementTree

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
COMMAND = pathlib.Path(os.environ.get("GPUMEMTRACE_BUILD", ROOT / "build")).resolve() / "gpumemtrace"

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("GPUMEMTRACE_PRELOAD_FIRST")), reason="a sanitizer's library must come first, and a mark names none"
)

DRIVER = """
import ctypes, os, pytest

MIB = 1 << 20

@pytest.fixture
def driver():
    cuda, context, device = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p(), ctypes.c_int()
    assert cuda.cuInit(0) == 0 and cuda.cuDeviceGet(ctypes.byref(device), 0) == 0
    assert cuda.cuCtxCreate_v2(ctypes.byref(context), 0, device) == 0
    return cuda

def take(cuda, mib):
    address = ctypes.c_uint64()
    return cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib * MIB))
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """suite(tests, *options) runs pytest on a file with these tests in a new process and returns the result."""
    if not is_installed():
        monkeypatch.setenv("PYTHONPATH", str(ROOT / "python"))
    for name in [each for each in os.environ if each.startswith("GPUMEMTRACE_")]:
        monkeypatch.delenv(name)
    pytester.makeini(f"[pytest]\ngpu_memory_command = {COMMAND}\n")

    def run(tests, *options):
        pytester.makepyfile(test_it=DRIVER + tests)
        loaded = [] if is_installed() else ["-p", "pytest_gpumemtrace.plugin"]
        return pytester.runpytest_subprocess("-p", "no:cacheprovider", *loaded, *options)

    return run


def is_installed():
    """Returns True if pip installed the plugin. In this case pytest loads the plugin by its entry point."""
    from importlib import metadata

    try:
        return bool(metadata.version("gpumemtrace"))
    except metadata.PackageNotFoundError:
        return False


def test_a_test_within_its_limit_passes_and_one_above_it_names_the_line(suite):
    """Python's readline, which pytest 8 imports, sets COLUMNS for child processes; the command must not wrap lines there."""
    result = suite(
        """
import readline

@pytest.mark.gpu_memory("64 MiB")
@pytest.mark.parametrize("mib", [32, 100])
def test_takes(driver, mib):
    take(driver, mib)
"""
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "gpu_memory: The limit is broken: device 0 driver peak is 100.00 MiB, the limit is 64.00 MiB.",
            "Who: Most of the memory live at the peak is held by test_it.py:* take (100.00 MiB).",
            "FAILED test_it.py::test_takes[[]100[]] - gpu_memory: The limit is broken: dev*",
        ]
    )


def test_the_fixture_limits_what_the_test_computes(suite):
    result = suite(
        """
def test_fits(driver, gpu_memory):
    assert gpu_memory.is_recorded
    gpu_memory.limit("64 MiB")
    take(driver, 32)

@pytest.mark.gpu_memory("64 MiB")
def test_replaces_the_mark(driver, gpu_memory):
    gpu_memory.limit(max_peak=8 * MIB)
    take(driver, 32)
"""
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*device 0 driver peak is 32.00 MiB, the limit is 8.00 MiB.*"])


def test_every_limit_of_check_can_be_said(suite):
    result = suite(
        """
@pytest.mark.gpu_memory(max_live_at_exit=0)
def test_leaks(driver):
    take(driver, 1)

@pytest.mark.gpu_memory("8 GiB", dry_run="2GiB")
def test_fails_to_allocate(driver):
    assert take(driver, 4096) == 2

@pytest.mark.gpu_memory("8 GiB", dry_run="2GiB", allow_oom=True, max_retries=0, max_fragmentation=0.5)
def test_may_fail_to_allocate(driver):
    take(driver, 1)
    assert take(driver, 4096) == 2
"""
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        ["*device 0 driver live at exit is 1.00 MiB, the limit is 0 B.*", "*count of failed allocations is 1*"]
    )


def test_marks_of_a_class_and_a_test_are_merged(suite):
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB", dry_run="2GiB")
class TestAll:
    def test_of_the_class(self, driver):
        take(driver, 100)

    @pytest.mark.gpu_memory("128 MiB")
    def test_of_its_own(self, driver):
        take(driver, 100)
        assert take(driver, 2048) == 2
"""
    )
    result.assert_outcomes(failed=2)
    result.stdout.fnmatch_lines(["*100.00 MiB, the limit is 64.00 MiB.*", "*count of failed allocations is 1*"])


def test_other_outcomes_are_those_of_the_test(suite):
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
class TestOutcomes:
    def test_fails(self, driver):
        take(driver, 32)
        print("printed by the test")
        assert 1 == 2

    def test_is_skipped(self):
        pytest.skip("for a reason")

    @pytest.mark.xfail
    def test_is_expected_to_fail(self, driver):
        assert False

    def test_breaks_in_its_fixture(self, no_such_fixture):
        pass
""",
        "-rs",
    )
    result.assert_outcomes(failed=1, skipped=1, xfailed=1, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*no_such_fixture*",
            "*assert 1 == 2*",
            "*printed by the test*",
            "*GPU memory: *test.db*",
            "Peak 32.00 MiB of 16.00 GiB on device 0 (driver), *",
            "SKIPPED * for a reason",
        ]
    )


def test_a_test_that_dies_fails_and_the_others_go_on(suite):
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
def test_dies(driver):
    take(driver, 32)
    os.kill(os.getpid(), 9)

def test_after(): pass
"""
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*the test's process was ended by SIGKILL*", "Peak 32.00 MiB of 16.00 GiB*"])


def test_a_limit_that_cannot_be_checked_is_no_success(suite):
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
def test_without_cuda(): pass

@pytest.mark.gpu_memory(max_peek="64 MiB")
def test_mistyped(): pass

@pytest.mark.gpu_memory("64 apples")
def test_of_apples(driver): take(driver, 1)
"""
    )
    result.assert_outcomes(failed=2, errors=1)
    result.stdout.fnmatch_lines(
        ["*no keyword 'max_peek'*", "*made no CUDA call that can be recorded*", "*'64apples' is not a size*"]
    )


def test_several_processes_keep_the_limit_each(suite):
    result = suite(
        """
import sys

@pytest.mark.gpu_memory("64 MiB")
def test_starts_a_worker(driver):
    take(driver, 1)
    child = os.fork()
    if child == 0:
        program = DRIVER_CODE + "; take(cuda, 100)"
        os.execv(sys.executable, [sys.executable, "-c", program])
    os.waitpid(child, 0)

DRIVER_CODE = '''
import ctypes
cuda, context = ctypes.CDLL("libcuda.so.1"), ctypes.c_void_p()
cuda.cuInit(0)
cuda.cuCtxCreate_v2(ctypes.byref(context), 0, 0)
address = ctypes.c_uint64()
take = lambda cuda, mib: cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(mib << 20))
'''.strip()
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*driver peak is 100.00 MiB, the limit is 64.00 MiB.*"])


def test_the_report_lists_peaks_highest_first(suite, pytester):
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
def test_small(driver): take(driver, 1)

def test_large(driver, gpu_memory): take(driver, 48)

def test_plain(): pass
""",
        "--gpu-memory-report",
        "--junitxml=junit.xml",
    )
    result.assert_outcomes(passed=3)
    lines = [line for line in result.outlines if "(most by" in line]
    assert [re.sub(" +", " ", line).strip() for line in lines] == [
        f"{peak} passed test_it.py::{name} (most by test_it.py:14 take)"
        for peak, name in (("48.00 MiB", "test_large"), ("1.00 MiB of 64 MiB", "test_small"))
    ]
    peaks = ElementTree.parse(pytester.path / "junit.xml").findall(".//property[@name='gpu_memory_peak_bytes']")
    assert [peak.get("value") for peak in peaks] == [str(1 << 20), str(48 << 20)]


def test_off_runs_them_where_they_are(suite):
    result = suite(
        """
@pytest.mark.gpu_memory("1 MiB")
def test_is_not_recorded(gpu_memory):
    gpu_memory.limit("1 MiB")
    assert not gpu_memory.is_recorded and "libgpumemtrace" not in open("/proc/self/maps").read()
""",
        "--gpu-memory=off",
    )
    result.assert_outcomes(passed=1)


def test_fixtures_options_and_selection_reach_the_process(suite, pytester):
    pytester.makeconftest(
        """
import pytest

def pytest_addoption(parser):
    parser.addoption("--mib", type=int)

@pytest.fixture
def mib(request):
    return request.config.getoption("--mib")
"""
    )
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
def test_takes(driver, mib, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.chdir(tmp_path)
    take(driver, mib)

@pytest.mark.gpu_memory("64 MiB")
def test_other(driver):
    assert False
""",
        "--mib=100",
        "-k",
        "takes",
    )
    result.assert_outcomes(failed=1, deselected=1)
    result.stdout.fnmatch_lines(["*driver peak is 100.00 MiB*"])


def test_a_command_that_is_not_there_is_said(suite):
    tests = """
@pytest.mark.gpu_memory("64 MiB")
def test_takes(driver): take(driver, 1)
"""
    result = suite(tests, "-o", "gpu_memory_command=/nowhere/gpumemtrace")
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*there is no command '/nowhere/gpumemtrace'*"])


def test_without_a_command_in_path_the_one_that_pip_installed_is_taken(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(str(ROOT / "python"))
    from pytest_gpumemtrace import process

    (tmp_path / "gpumemtrace.py").write_text(f"def command():\n    return {str(COMMAND)!r}\n")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(process.ProcessError):
        process.find_command("")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "gpumemtrace", raising=False)
    assert process.find_command("") == str(COMMAND)
    with pytest.raises(process.ProcessError):
        process.find_command("/nowhere/gpumemtrace")


def test_under_xdist_the_reports_are_the_same(suite):
    pytest.importorskip("xdist")
    result = suite(
        """
@pytest.mark.gpu_memory("64 MiB")
@pytest.mark.parametrize("mib", [32, 48, 100])
def test_takes(driver, mib):
    take(driver, mib)
""",
        "-n2",
        "--gpu-memory-report",
    )
    result.assert_outcomes(passed=2, failed=1)
    result.stdout.fnmatch_lines(["*100.00 MiB of 64 MiB*failed*", "*48.00 MiB of 64 MiB*passed*"])
    result.stdout.fnmatch_lines(["FAILED test_it.py::test_takes[[]100[]] - gpu_memory: The limit is broken: dev*"])
