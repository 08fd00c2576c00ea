# SPDX-License-Identifier: MIT
"""make install puts down what it says, works from there, and uninstall takes it all away."""
import os
import re
import subprocess

from conftest import BUILD, ROOT, clean_environment, run_command

STANDINS = re.findall(
    r'^STANDIN\("([^"]+)"', (ROOT / "simulator/standins/libraries.def").read_text(), re.MULTILINE
)
INSTALLED = {
    "bin/gpumemtrace",
    "include/gpumemtrace/gpumemtrace.h",
    "lib/libgpumemtrace.so",
    "share/man/man1/gpumemtrace.1",
    *(
        f"lib/gpumemtrace/simulator/{name}"
        for name in ["libcuda.so.1", "libcudart.so.12", "libcudart.so.13", *STANDINS]
    ),
}


def make(target, folder):
    environment = {k: v for k, v in clean_environment().items() if not k.startswith("MAKE")}
    subprocess.run(
        ["make", "-s", target, f"O={os.path.relpath(BUILD, ROOT)}", "PREFIX=/usr", f"DESTDIR={folder}"],
        cwd=ROOT, env=environment, check=True, capture_output=True, timeout=300,
    )


def files_in(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir()}


def test_install_and_uninstall_leave_what_is_listed_and_nothing(tmp_path):
    make("install", tmp_path)
    assert files_in(tmp_path / "usr") == INSTALLED
    make("uninstall", tmp_path)
    assert files_in(tmp_path) == set()


def test_the_installed_command_records_a_dry_run_and_reports_it(tmp_path, program):
    make("install", tmp_path)
    command = tmp_path / "usr" / "bin" / "gpumemtrace"
    trace = tmp_path / "dry.db"
    completed = subprocess.run(
        [command, "run", "-o", trace, "--dry-run=16GiB", "--", program("process_end"), "return"],
        env=clean_environment(), capture_output=True, text=True, timeout=60,
    )
    assert completed.returncode == 5, completed.stderr
    assert run_command("report", trace).returncode == 0
