# SPDX-License-Identifier: MIT
"""make install puts down what it says, works from there, and uninstall takes exactly that away."""
import os
import re
import subprocess

import pytest

from support.run import BUILD, ROOT, clean_environment, run_command

SIMULATOR = re.findall(
    r'^(?:DRIVER|RUNTIME|STANDIN)\("([^"]+)"', (ROOT / "simulator/libraries.def").read_text(), re.MULTILINE
)
INSTALLED = {
    "bin/gpumemtrace",
    "include/gpumemtrace/gpumemtrace.h",
    "lib/gpumemtrace/installed",
    "lib/libgpumemtrace.so",
    "share/doc/gpumemtrace/MODEL-FORMAT.md",
    "share/doc/gpumemtrace/TRACE-FORMAT.md",
    "share/man/man1/gpumemtrace.1",
    *(
        f"lib/gpumemtrace/simulator/{name}"
        for name in SIMULATOR
    ),
}
HARD_NAMES = ["plain", "inst dir", "it's \"quoted\"", "back\\slash `tick` ;semi*"]


def make(target, prefix="/usr", destdir=""):
    environment = {k: v for k, v in clean_environment().items() if not k.startswith("MAKE")}
    return subprocess.run(
        ["make", "-s", target, f"O={os.path.relpath(BUILD, ROOT)}", f"PREFIX={prefix}",
         f"DESTDIR={destdir}"],
        cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=300,
    )


def entries(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def files_in(folder):
    return {name for name in entries(folder) if not (folder / name).is_dir()}


@pytest.mark.parametrize("name", HARD_NAMES)
def test_install_and_uninstall_leave_what_is_listed_and_nothing(tmp_path, name):
    source = set(os.listdir(ROOT))
    prefix = tmp_path / name
    make("install", prefix)
    assert entries(tmp_path) == {name, *(f"{name}/{entry}" for entry in entries(prefix))}
    assert files_in(prefix) == INSTALLED
    make("uninstall", prefix)
    assert entries(tmp_path) == set()
    assert set(os.listdir(ROOT)) == source


@pytest.mark.parametrize("name", HARD_NAMES)
def test_a_staged_installation_lies_below_destdir_alone(tmp_path, name):
    source = set(os.listdir(ROOT))
    make("install", "/opt/gpu tools", tmp_path / name)
    assert entries(tmp_path / name) >= {"opt", "opt/gpu tools"}
    assert files_in(tmp_path / name / "opt" / "gpu tools") == INSTALLED
    assert files_in(tmp_path) == {f"{name}/opt/gpu tools/{file}" for file in INSTALLED}
    make("uninstall", "/opt/gpu tools", tmp_path / name)
    assert files_in(tmp_path) == set()
    assert set(os.listdir(ROOT)) == source


def test_uninstall_leaves_what_others_put_beside_it_and_folders_that_were_there(tmp_path):
    foreign = ["bin/other", "lib/gpumemtrace/simulator/libother.so", "share/man/man1/other.1"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    make("install", tmp_path)
    make("install", tmp_path)
    for name in foreign:
        (tmp_path / name).write_text("not ours")
    make("uninstall", tmp_path)
    assert files_in(tmp_path) == set(foreign)
    for name in foreign:
        (tmp_path / name).unlink()
    assert {"bin", "lib"} <= entries(tmp_path)
    assert not entries(tmp_path) & {"include", "share/doc"}


def test_uninstall_removes_nothing_where_nothing_was_installed(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gpumemtrace").write_text("of another origin")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        make("uninstall", tmp_path)
    assert "nothing to remove" in failed.value.stderr
    assert entries(tmp_path) == {"bin", "bin/gpumemtrace"}


def test_the_installed_command_records_a_dry_run_and_reports_it(tmp_path, program):
    make("install", destdir=tmp_path)
    command = tmp_path / "usr" / "bin" / "gpumemtrace"
    trace = tmp_path / "dry.db"
    completed = subprocess.run(
        [command, "run", "-o", trace, "--dry-run=16GiB", "--", program("process_end"), "return"],
        env=clean_environment(), capture_output=True, text=True, timeout=60,
    )
    assert completed.returncode == 5, completed.stderr
    assert run_command("report", trace).returncode == 0


def test_an_installation_that_the_loader_cannot_preload_says_so_and_still_reads_traces(
    tmp_path, record, program
):
    recording = record(program("phases"))
    prefix = tmp_path / "inst dir"
    assert "cannot be recorded from" in make("install", prefix).stderr
    assert make("install", tmp_path / "plain").stderr == ""
    command = prefix / "bin" / "gpumemtrace"
    environment = clean_environment()
    report = subprocess.run([command, "report", recording.trace], env=environment, timeout=60)
    assert report.returncode == 0
    run = subprocess.run([command, "run", "--", "/bin/true"], env=environment,
                         capture_output=True, text=True, timeout=60)
    assert run.returncode == 2
    assert "LD_PRELOAD cannot carry" in run.stderr
