# SPDX-License-Identifier: MIT
"""An unmodified PyTorch script runs on a simulated GPU, without any library of NVIDIA's."""
import json
import os
import pathlib
import shutil
import signal
import subprocess

import pytest

from support.pytorch_builds import Build
from support.run import BUILD, ROOT, clean_environment, compile_library, run_command


def looked(recording):
    return json.loads(recording.completed.stdout.splitlines()[-1])


def test_pytorch_sees_the_simulated_devices(dry_run):
    seen = looked(dry_run("look.py", spec="2x80GiB"))
    assert seen["devices"] == 2
    assert seen["total_bytes"] == 80 << 30
    assert seen["capability"] == [8, 0]


def test_every_library_of_nvidias_is_the_simulators(dry_run):
    libraries = looked(dry_run("look.py"))["libraries"]
    assert libraries
    assert {os.path.dirname(path) for path in libraries} == {str(BUILD / "simulator")}


def test_values_are_computed_and_cudnn_is_there(dry_run):
    seen = looked(dry_run("look.py"))
    assert seen["sum"] == 64
    assert seen["cudnn"] is True


def test_operators_of_every_library_of_nvidias_run(dry_run):
    assert looked(dry_run("operators.py"))["failed"] == {}


# After be_late(), the calling thread sleeps 0.3 s each time after libtorch has used it to wake another thread.
LATE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>
#include <unistd.h>

static __thread int late;
void be_late(void) { late = 1; }

int pthread_cond_signal(pthread_cond_t *condition)
{
    int (*real)(pthread_cond_t *) = (int (*)(pthread_cond_t *))dlsym(RTLD_NEXT, "pthread_cond_signal");
    int result = real(condition);
    Dl_info caller;
    if (late && dladdr(__builtin_return_address(0), &caller) && strstr(caller.dli_fname, "libtorch_cpu"))
        usleep(300000);
    return result;
}
"""

# The program ends right after backward has returned. A switch interval of 1000 s keeps other threads from Python's lock.
ENDS_AT_ONCE = """
import ctypes
import sys
import time

import torch


def be_late(_):
    ctypes.CDLL(sys.argv[1]).be_late()


values = torch.ones(8, device="cuda", requires_grad=True)
values.register_hook(be_late)
sys.setswitchinterval(1000)
(values * values).sum().backward()
end = time.monotonic() + 2
while time.monotonic() < end:
    pass
"""


@pytest.mark.parametrize("values", ["small", "none"])
def test_a_program_ends_well_before_a_worker_of_autograd_has_dropped_the_graph(torch_build, tmp_path, values):
    library = compile_library(tmp_path / "late.so", LATE)
    (tmp_path / "ends_at_once.py").write_text(ENDS_AT_ONCE)
    torch_build.dry_run(tmp_path, tmp_path / "ends_at_once.py", library, LD_PRELOAD=library, GPUMEMTRACE_VALUES=values)


def test_the_heading_says_what_the_dry_run_does_not_know(dry_run):
    text = run_command("report", dry_run("look.py").trace).stdout
    heading = " ".join(text[text.rindex("\ntrace "):].split())
    for part in ("values of small tensors are computed", "inside kernels", "NCCL's buffers", "cuBLAS and cuDNN"):
        assert part in heading


def test_a_library_in_a_wheels_nvidia_folder_is_not_loaded(torch_build, tmp_path):
    """A library beside the wheel's torch, where torch's rpath looks first, aborts the process if it is loaded."""
    if torch_build.name != "wheel":
        pytest.skip("Debian's build has no such folder")
    build = Build(torch_build.name)
    (tmp_path / "packages").mkdir()
    for entry in (torch_build.folder / "packages").iterdir():
        if entry.name != "torch":
            (tmp_path / "packages" / entry.name).symlink_to(entry)
    subprocess.run(["cp", "-rl", torch_build.folder / "packages/torch", tmp_path / "packages"], check=True)
    packages = (torch_build.folder / "packages").resolve()
    build.python = pathlib.Path(shutil.copy(torch_build.python, tmp_path / "python"))
    build.python.write_text(build.python.read_text().replace(str(packages), str(tmp_path / "packages")))
    folder = tmp_path / "packages/nvidia/cu13/lib"
    folder.mkdir(parents=True)
    aborting = "#include <stdlib.h>\n__attribute__((constructor)) static void start(void) { abort(); }\n"
    for name in ("libcudart.so.13", "libcublas.so.13"):
        compile_library(folder / name, aborting, f"-Wl,-soname,{name}")
    plain = subprocess.run([build.python, "-c", "import torch"], env=clean_environment(), capture_output=True)
    assert plain.returncode == -signal.SIGABRT
    assert looked(build.dry_run(tmp_path, "look.py", PYTHONDONTWRITEBYTECODE=1))["devices"] == 1


def test_what_the_launchers_python_starts_is_the_same_python(torch_build):
    inner = "import sys; print(sys.version_info[:2], sys.prefix)"
    outer = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {inner!r}], check=True)"
    said = [
        subprocess.run([torch_build.python, "-c", code], env=clean_environment(), capture_output=True, text=True,
                       check=True).stdout
        for code in (inner, outer)
    ]
    assert said[0] == said[1] != ""


def test_the_stand_ins_have_every_symbol_that_the_build_asks_for(torch_build):
    completed = subprocess.run(
        [ROOT / "simulator/standins/update", "--check", torch_build.folder],
        env=clean_environment(), capture_output=True, text=True, check=True,
    )
    assert completed.stdout == ""
