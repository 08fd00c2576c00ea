# SPDX-License-Identifier: MIT
"""The simulated libcudart.so.12 and libcudart.so.13 behave as the runtime is documented."""
import os
import re
import shlex
import shutil
import subprocess
import sys

import pytest

from support.cells import each
from support.run import ROOT, TIMEOUT_S, clean_environment, simulator_environment

PROGRAMS = ROOT / "tests" / "programs"
TWO_DEVICES = {
    "each_thread_has_its_own_device",
    "a_device_that_is_none_changes_nothing",
    "a_reset_takes_all_and_the_next_call_begins_anew",
    "a_context_of_the_drivers_is_respected",
    "devices_are_found_by_their_bus_number",
    "peers_are_reached_once_they_are_enabled",
}
FAULTS = {
    "an_illegal_access_is_the_end": "cuMemsetD8_v2:1=700",
    "an_injected_failure_has_no_effect": "cudaMalloc:2=2",
    "code_that_does_not_load_fails_the_call_and_is_tried_again": "cuLibraryLoadData:1=2",
}
ONLY_12 = {"the_second_form_of_properties_has_the_layout_of_12"}
ONLY_13 = {"the_host_has_a_pool_of_its_own"}
FACTS = (
    "sim_runtime_memory",
    "sim_runtime_devices",
    "sim_runtime_graphs",
    "sim_runtime_sharing",
    "sim_runtime_code",
)
NO_DRIVER = "without_a_driver_there_are_no_devices"


def cases():
    """Yields (program, case) for every case that needs a driver, with both runtimes."""
    for built in FACTS:
        source = next(PROGRAMS.rglob(f"{built}.c")).read_text(encoding="utf-8")
        for name in re.findall(r"\bCASE\((\w+)\)", source):
            if name not in ONLY_13 | {NO_DRIVER}:
                yield f"{built}_12", name
            if name not in ONLY_12 | {NO_DRIVER}:
                yield built, name


def run(path, *arguments, env):
    completed = subprocess.run(
        [str(path), *arguments], env=env, capture_output=True, text=True, timeout=TIMEOUT_S
    )
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout == ""
    assert completed.stderr == ""


@each("built, name", cases())
def test_the_runtime_keeps_its_promise(program, sim_env, built, name):
    spec = "2x16GiB" if name in TWO_DEVICES else "16GiB"
    run(program(built), name, env=sim_env(spec, FAULTS.get(name)))


@pytest.mark.parametrize("library", ["libcudart.so.12", "libcudart.so.13"])
def test_without_a_driver_there_are_no_devices(build, program, library, tmp_path):
    shutil.copy(build / "simulator" / library, tmp_path)
    built = "sim_runtime_devices_12" if library.endswith("12") else "sim_runtime_devices"
    environment = clean_environment(LD_LIBRARY_PATH=tmp_path)
    found = subprocess.run(["ldconfig", "-p"], capture_output=True, text=True, check=False)
    if "libcuda.so.1 " in found.stdout:
        pytest.skip("this machine has a driver in its system folders")
    run(program(built), NO_DRIVER, env=environment)


@pytest.mark.parametrize("function", ["cudaMalloc", "cudaRuntimeGetVersion"])
def test_a_constructor_s_call_does_not_wait_for_another_thread_s_first_one(
    program, sim_env, tmp_path, function
):
    source = tmp_path / "plugin.c"
    source.write_text(
        "void inside_the_constructor(void);\n"
        "__attribute__((constructor)) static void begin(void) { inside_the_constructor(); }\n"
    )
    compiler = shlex.split(os.environ.get("CC", "cc"))
    subprocess.run([*compiler, "-shared", "-fPIC", source, "-o", tmp_path / "plugin.so"], check=True)
    run(program("sim_constructor"), tmp_path / "plugin.so", function, env=sim_env())


def test_two_runtimes_share_one_process(program, sim_env):
    run(program("sim_two_runtimes"), env=sim_env())


def test_a_bad_spec_is_an_error_of_the_first_call_and_one_line(program, sim_env):
    completed = subprocess.run(
        [str(program("sim_runtime_memory")), "memory_is_taken_and_given_back"],
        env=sim_env("16 bananas"),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
    )
    assert completed.returncode == 1
    assert completed.stderr.count("bananas") == 1
    assert "gave 1, not 0" in completed.stderr


def exports(library):
    completed = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    names = [line.split()[2] for line in completed.stdout.splitlines()]
    return {name for name in names if not name.startswith("libcudart.so.")}


@pytest.mark.parametrize("major", ["12", "13"])
def test_every_runtime_function_is_exported_under_the_librarys_version(build, major):
    rows = (ROOT / "include/gpumemtrace/cuda/runtime_functions.def").read_text(encoding="utf-8")
    wanted = {
        f"{name}@@libcudart.so.{major}"
        for versions, name in re.findall(r"^RUNTIME_FUNCTION\((\w+), (\w+)\)", rows, re.MULTILINE)
        if versions in ("BOTH", f"ONLY_{major}")
    }
    assert len(wanted) > 400
    exported = exports(build / "simulator" / f"libcudart.so.{major}")
    assert wanted == exported
    assert all(re.fullmatch(rf"(__)?cuda\w+@@libcudart\.so\.{major}", name) for name in exported)


# --- everything the recorder sees ------------------------------------------------------------------

# The tests of lookups are in test_simulated_driver.py.
LOOKUPS = re.compile(r"cu(da)?Get(Driver)?(ProcAddress|EntryPoint)\w*")
SECTION = re.compile(r"\b6\.\d+|Graph Memory Nodes|Lazy Loading|cuMulticast")


def without_suffix(name):
    return re.sub(r"_pt[ds][sz]$", "", name)


def hooked():
    """Returns (API, name) of every CUDA function that the recorder hooks because it allocates or frees GPU memory."""
    rows = (ROOT / "include/gpumemtrace/hooks.def").read_text(encoding="utf-8")
    names = re.findall(r"^(?:HOOK|SEEN)\((driver|runtime), (\w+)", rows, re.MULTILINE)
    return [(api, name) for api, name in names if not LOOKUPS.fullmatch(name)]


def test_every_hooked_function_is_simulated(build):
    bodiless = {}
    for api, library in (("driver", "libcuda.so.1"), ("runtime", "libcudart.so.13")):
        output = subprocess.run(
            ["nm", "-D", build / "simulator" / library], capture_output=True, text=True, check=True
        ).stdout
        bodiless[api] = {name.split("@")[0] for name in re.findall(r" W (\S+)", output)}
    assert len(hooked()) > 100
    assert [name for api, name in hooked() if name in bodiless[api]] == []


def test_every_hooked_function_is_tried_by_a_program_that_names_its_section():
    """Each program must name the section of the documentation that it tests. This keeps the hook and the simulator from
    having the same misunderstanding."""
    tried = set()
    for source in PROGRAMS.rglob("sim_*.c"):
        text = source.read_text(encoding="utf-8")
        blocks = re.finditer(
            r"(?:/\*(?P<said>(?:(?!\*/).)*)\*/\n)?(?:PART|CASE|static void \w+)\(\w+\)\n\{(?P<body>.*?)\n\}", text, re.DOTALL
        )
        for block in blocks:
            said = block["said"] or ""
            if SECTION.search(said):
                tried |= set(re.findall(r"\bcu\w+", said + block["body"]))
    tried = {without_suffix(name) for name in tried}
    assert [name for _, name in hooked() if without_suffix(name) not in tried] == []


@pytest.mark.parametrize("library, size", [("libcudart.so.11.0", 52), ("libcudart.so.12", 144), ("libcudart.so.13", 144)])
def test_what_is_said_of_a_kernel_is_as_long_as_that_versions_structure(library, size):
    code = (f"import ctypes\ncuda, said = ctypes.CDLL('{library}'), (ctypes.c_ubyte * 200)(*[0xAA] * 200)\n"
            "assert cuda.cudaFuncGetAttributes(said, said) == 0\nprint(len(bytes(said).rstrip(b'\\xaa')))\n")
    completed = subprocess.run([sys.executable, "-c", code], env=simulator_environment(), capture_output=True, text=True, timeout=TIMEOUT_S)
    assert (completed.stdout, completed.stderr) == (f"{size}\n", "")
