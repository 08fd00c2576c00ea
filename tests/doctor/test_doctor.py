# SPDX-License-Identifier: MIT
"""`gpumemtrace doctor` finds the faults of a machine, prints a command that mends each fault, and leaves no file
behind."""
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import subprocess
import tempfile

import pytest

from support.run import (BUILD, LIBRARY, PRELOAD_FIRST, ROOT, TIMEOUT_S, clean_environment, compile_library, run_command,
                         simulator_environment)  # fmt: skip

sanitized = pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer reserves more addresses than that")

CHECKS = re.findall(r"^CHECK\((\w+)\)", (ROOT / "analyzer/doctor/checks.def").read_text(encoding="utf-8"), re.M)
DRIVER = """
int cuInit(unsigned flags) { (void)flags; return RESULT; }
int cuDeviceGetCount(int *count) { *count = CARDS; return 0; }
int cuDriverGetVersion(int *version) { *version = 13020; return 0; }
int cuDeviceGetName(char *name, int bytes, int device) { (void)device; (void)bytes; name[0] = 'X'; name[1] = 0; return 0; }
"""


def doctor(*arguments, cwd=None, limits=(), command=BUILD / "gpumemtrace", user=None, **environment):
    """Returns ({name of a check: its row}, the whole answer)."""
    def restrict():
        if user is not None:
            os.setgroups([])
            os.setgid(user)
            os.setuid(user)
        for kind, value in limits:
            resource.setrlimit(kind, (value, resource.getrlimit(kind)[1]))

    completed = subprocess.run([command, "doctor", "--json", *arguments], cwd=cwd, env={**clean_environment(), **environment},
                               preexec_fn=restrict, capture_output=True, text=True, timeout=TIMEOUT_S)  # fmt: skip
    answer = json.loads(completed.stdout)
    assert completed.returncode == (1 if answer["wrong"] else 0), completed.stderr
    assert answer["wrong"] == sum(row["state"] == "wrong" for row in answer["checks"])
    for row in answer["checks"]:
        assert (row["mend"] is not None) == (row["state"] == "wrong"), row
    return {row["check"]: row for row in answer["checks"]}, answer


def wrong(rows):
    return {name for name, row in rows.items() if row["state"] == "wrong"}


@pytest.fixture
def fake_driver(tmp_path):
    def make(result, cards=1):
        (tmp_path / "driver").mkdir(exist_ok=True)
        source = DRIVER.replace("RESULT", str(result)).replace("CARDS", str(cards))
        compile_library(tmp_path / "driver/libcuda.so.1", source)
        return {"LD_LIBRARY_PATH": str(tmp_path / "driver")}

    return make


def test_the_checks_are_those_of_the_list_in_its_order(tmp_path):
    rows, _ = doctor("/bin/true", cwd=tmp_path)
    assert list(rows) == [name for name in CHECKS if name in rows]
    assert {"library", "simulator", "driver", "place", "limits", "preloads", "program"} <= set(rows)


@pytest.mark.skipif(os.path.exists("/proc/driver/nvidia/version"), reason="this machine has NVIDIA's driver")
def test_without_a_gpu_nothing_is_wrong_and_dry_runs_are_offered(tmp_path):
    rows, answer = doctor(cwd=tmp_path)
    assert wrong(rows) == set()
    assert rows["driver"]["state"] == "note" and "--dry-run" in rows["simulator"]["what"]
    assert (answer["can_record_on_a_card"], answer["can_record_dry_runs"]) == (False, True)
    assert answer["answer"][0].startswith("Nothing is wrong: dry runs")
    assert run_command("doctor", cwd=tmp_path).stdout.startswith(answer["answer"][0])


def test_a_driver_that_answers_is_named_with_its_card(tmp_path, fake_driver):
    rows, answer = doctor(cwd=tmp_path, **fake_driver(0))
    assert rows["driver"]["state"] == "fine" and "CUDA 13.2" in rows["driver"]["what"] and "1 card: X" in rows["driver"]["what"]
    assert answer["can_record_on_a_card"]


@pytest.mark.parametrize("result, cards, mend", [
    (100, 0, "nvidia-smi"), (0, 0, "nvidia-smi"), (803, 0, "sudo reboot"), (802, 0, "nvidia-fabricmanager"), (999, 0, "nvidia-smi"),
])  # fmt: skip
def test_a_driver_that_refuses_is_wrong_and_says_what_mends_it(tmp_path, fake_driver, result, cards, mend):
    rows, answer = doctor(cwd=tmp_path, **fake_driver(result, cards))
    assert wrong(rows) == {"driver"}
    assert mend in rows["driver"]["mend"] or "--gpus all" in rows["driver"]["mend"]  # for a container
    assert not answer["can_record_on_a_card"] and answer["can_record_dry_runs"]


def test_cards_that_a_variable_hides_are_wrong(tmp_path, fake_driver):
    rows, answer = doctor(cwd=tmp_path, CUDA_VISIBLE_DEVICES="", **fake_driver(100))
    assert wrong(rows) == {"simulator", "driver"} and not answer["can_record_dry_runs"]
    assert {rows["simulator"]["mend"], rows["driver"]["mend"]} == {"unset CUDA_VISIBLE_DEVICES"}


def test_a_driver_that_ends_the_process_ends_no_doctor(tmp_path):
    (tmp_path / "driver").mkdir()
    compile_library(tmp_path / "driver/libcuda.so.1", DRIVER.replace("return RESULT", "__builtin_trap()").replace("CARDS", "1"))
    rows, _ = doctor(cwd=tmp_path, LD_LIBRARY_PATH=str(tmp_path / "driver"))
    assert wrong(rows) == {"driver"}


def test_a_folder_for_traces_that_is_not_there_is_wrong_and_its_mend_mends_it(tmp_path):
    setting = {"GPUMEMTRACE_OUTPUT": str(tmp_path / "not there/trace.%p.db")}
    rows, _ = doctor(cwd=tmp_path, **setting)
    assert wrong(rows) == {"place"}
    subprocess.run(rows["place"]["mend"], shell=True, check=True)
    assert wrong(doctor(cwd=tmp_path, **setting)[0]) == set()


def test_a_folder_that_takes_no_file_is_wrong(tmp_path):
    rows, _ = doctor(cwd=tmp_path, GPUMEMTRACE_OUTPUT="/proc/trace.db")
    assert wrong(rows) == {"place"} and "GPUMEMTRACE_OUTPUT=" in rows["place"]["mend"]


@pytest.mark.parametrize("kind, value, mend", [
    (resource.RLIMIT_NOFILE, 20, "ulimit -n 1024"), (resource.RLIMIT_FSIZE, 1 << 20, "ulimit -f unlimited"),
    pytest.param(resource.RLIMIT_AS, 64 << 30, "ulimit -v unlimited", marks=sanitized),
])  # fmt: skip
def test_a_limit_that_is_too_low_is_wrong(tmp_path, kind, value, mend):
    rows, _ = doctor(cwd=tmp_path, limits=[(kind, value)])
    assert wrong(rows) == {"limits"} and rows["limits"]["mend"] == mend


@sanitized
def test_a_limit_is_shown_in_its_own_unit(tmp_path):
    rows, _ = doctor(cwd=tmp_path, limits=[(resource.RLIMIT_AS, 900 << 20)])
    assert "limited to 900.00 MiB" in rows["limits"]["what"]


def test_a_limit_that_a_shell_cannot_raise_is_raised_by_root(tmp_path):
    script = f"ulimit -f 1024 && exec {BUILD}/gpumemtrace doctor --json"
    completed = subprocess.run(["sh", "-c", script], cwd=tmp_path, env=clean_environment(), capture_output=True, text=True,
                               timeout=TIMEOUT_S)  # fmt: skip
    (row,) = (row for row in json.loads(completed.stdout)["checks"] if row["check"] == "limits")
    assert (row["state"], row["mend"]) == ("wrong", "sudo prlimit --pid $$ --fsize=unlimited")


def test_a_preload_that_is_missing_or_before_the_recorder_is_wrong(tmp_path):
    other = compile_library(tmp_path / "libother.so", "int other;")
    assert wrong(doctor(cwd=tmp_path, LD_PRELOAD="/nowhere/libother.so")[0]) == {"preloads"}
    rows, _ = doctor(cwd=tmp_path, LD_PRELOAD=f"{other}:{LIBRARY}")
    assert wrong(rows) == {"preloads"} and rows["preloads"]["mend"].startswith(f"export LD_PRELOAD={LIBRARY}:")
    for preload, state in ((f"{LIBRARY}:{other}", "note"), (str(LIBRARY), "fine")):
        assert doctor(cwd=tmp_path, LD_PRELOAD=preload)[0]["preloads"]["state"] == state


@pytest.mark.parametrize("path", ["libother.so", "the folder/libother.so", "libnowhere.so"])
def test_what_the_loader_does_not_take_for_a_preload_is_wrong_in_its_own_words(tmp_path, path):
    (tmp_path / "the folder").mkdir()
    (tmp_path / "libother.so").write_text("of no machine")
    compile_library(tmp_path / "the folder/libother.so", "int other;")
    name = path if "nowhere" in path else str(tmp_path / path)
    rows, _ = doctor(cwd=tmp_path, LD_PRELOAD=name)
    assert wrong(rows) == {"preloads"} and "cannot be preloaded (" in rows["preloads"]["what"]
    assert name.split()[0] in rows["preloads"]["what"] and rows["preloads"]["mend"] == "unset LD_PRELOAD"


def copy_build(prefix):
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib/gpumemtrace").mkdir(parents=True)
    shutil.copy(BUILD / "gpumemtrace", prefix / "bin")
    shutil.copy(LIBRARY, prefix / "lib")
    shutil.copytree(BUILD / "simulator", prefix / "lib/gpumemtrace/simulator")
    return prefix / "bin/gpumemtrace"


def test_an_installation_that_is_not_whole_is_wrong(tmp_path):
    command = copy_build(tmp_path / "prefix")
    assert wrong(doctor(cwd=tmp_path, command=command)[0]) == set()
    (tmp_path / "prefix/lib/gpumemtrace/simulator/libnccl.so.2").unlink()
    rows, answer = doctor(cwd=tmp_path, command=command)
    assert wrong(rows) == {"simulator"} and "libnccl.so.2" in rows["simulator"]["what"] and not answer["can_record_dry_runs"]
    (tmp_path / "prefix/lib/libgpumemtrace.so").write_text("no library")
    rows, answer = doctor(cwd=tmp_path, command=command)
    assert wrong(rows) == {"library", "simulator"} and answer["answer"][0].startswith("2 things are wrong. The first: ")
    assert "ldd" in rows["library"]["mend"]


def test_a_program_that_cannot_be_recorded_is_wrong(tmp_path):
    subprocess.run(["cc", "-static", "-x", "c", "-", "-o", tmp_path / "static"], input="int main(void) { return 0; }",
                   text=True, check=True)  # fmt: skip
    assert doctor("/bin/sh", cwd=tmp_path)[0]["program"]["state"] == "fine"
    for program, part in ((tmp_path / "static", "-static"), ("no-such-program", "command -v")):
        rows, _ = doctor(program, cwd=tmp_path)
        assert wrong(rows) == {"program"} and part in rows["program"]["mend"]


ODD = "it's a folder"  # a shell splits this name unless it is quoted


def build_program(path, *options, mode=0o755):
    path.parent.mkdir(exist_ok=True)
    subprocess.run(["cc", "-x", "c", "-", *options, "-o", path], input="int main(void) { return 0; }", text=True, check=True)
    path.chmod(mode)
    return path


def write_program(path, content, mode=0o755):
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(content)
    path.chmod(mode)
    return path


def program_row(program, **options):
    rows, _ = doctor(program, **options)
    assert wrong(rows) == {"program"}, rows
    return rows["program"]


def mended(program, mend, cwd):
    """Runs the command in a shell. Returns True if doctor finds no fault in the program afterwards."""
    subprocess.run(["sh", "-ec", mend], cwd=cwd, check=True, capture_output=True, env=clean_environment(), timeout=TIMEOUT_S)
    return doctor(program, cwd=cwd)[0]["program"]["state"] == "fine"


def test_a_program_without_the_x_bit_is_wrong_and_its_mend_mends_it(tmp_path):
    program = build_program(tmp_path / ODD / "pro gram", mode=0o644)
    row = program_row(program, cwd=tmp_path)
    assert "may not be executed by this user" in row["what"] and row["mend"].startswith("chmod u+x ")
    assert mended(program, row["mend"], tmp_path)


@pytest.mark.parametrize("bytes_left", [40, 100, 3000])
def test_a_program_that_is_cut_short_is_wrong_and_not_called_static(tmp_path, bytes_left):
    whole = build_program(tmp_path / "whole").read_bytes()
    row = program_row(write_program(tmp_path / ODD / "cut", whole[:bytes_left]), cwd=tmp_path)
    assert "is cut short" in row["what"] and "statically" not in row["what"]
    subprocess.run(["sh", "-ec", row["mend"].replace("file ", "test -f ")], check=True)


def test_a_program_whose_loader_is_missing_is_wrong(tmp_path):
    row = program_row(build_program(tmp_path / ODD / "program", "-Wl,--dynamic-linker=/no/ld-none.so.1"), cwd=tmp_path)
    assert "the interpreter that it names, /no/ld-none.so.1, is not there" in row["what"] and "patchelf" in row["mend"]


def test_a_script_whose_interpreter_is_elsewhere_is_started_with_that(tmp_path):
    row = program_row(write_program(tmp_path / ODD / "script", b"#!/no/such/sh -e\nexit 0\n"), cwd=tmp_path)
    assert "the interpreter that it names, /no/such/sh, is not there" in row["what"]
    assert row["mend"].startswith("gpumemtrace run -- sh ")
    subprocess.run(["sh", "-ec", row["mend"].removeprefix("gpumemtrace run -- ")], check=True)


def test_what_env_does_not_find_is_a_missing_interpreter(tmp_path):
    row = program_row(write_program(tmp_path / "script", b"#!/usr/bin/env -S A=1 no-such-python -u\n"), cwd=tmp_path)
    assert "no-such-python, is not there" in row["what"]
    assert doctor(write_program(tmp_path / "other", b"#!/usr/bin/env sh\n"), cwd=tmp_path)[0]["program"]["state"] == "fine"


def test_a_script_with_lines_of_windows_is_wrong_and_its_mend_mends_it(tmp_path):
    program = write_program(tmp_path / ODD / "script", b"#!/bin/sh\r\nexit 0\r\n")
    row = program_row(program, cwd=tmp_path)
    assert "Windows" in row["what"] and mended(program, row["mend"], tmp_path)


@pytest.fixture
def shut_folder():
    """Yields a folder that `user` may not enter, and `user`. `user` is None for the present user; if the tests run as
    root, it is a user without rights."""
    with tempfile.TemporaryDirectory() as outer:
        folder = pathlib.Path(outer, ODD)
        folder.mkdir()
        os.chmod(outer, 0o755)
        shutil.copy("/bin/true", folder)
        folder.chmod(0)
        user = 65534 if os.geteuid() == 0 else None
        if user and not all(path.stat().st_mode & 1 for path in BUILD.resolve().parents):
            pytest.skip("others than root may not enter the folder of the build")
        yield folder, user
        folder.chmod(0o755)


def test_a_folder_that_cannot_be_entered_is_named_with_what_opens_it(shut_folder):
    folder, user = shut_folder
    found = [doctor(folder / "true", cwd="/tmp", user=user)[0]["program"],
             doctor(cwd="/tmp", user=user, GPUMEMTRACE_OUTPUT=folder / "trace.db")[0]["place"]]  # fmt: skip
    for row in found:
        assert row["state"] == "wrong" and row["what"].endswith(f"this user may not enter the folder {folder}"), row
        assert row["mend"] == ("sudo chmod a+x " if user else "chmod u+x ") + shlex.quote(str(folder)).replace("'\"'\"'", "'\\''")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file to another user")
def test_a_setuid_program_is_wrong_and_is_started_as_its_user(tmp_path):
    shutil.copy("/bin/true", tmp_path / "raised")
    os.chown(tmp_path / "raised", 1, 1)
    (tmp_path / "raised").chmod(0o4755)
    rows, _ = doctor(tmp_path / "raised", cwd=tmp_path)
    assert wrong(rows) == {"program"} and rows["program"]["mend"].startswith("sudo -u ")


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer must be preloaded before the recorder")
def test_it_leaves_nothing_behind_also_where_everything_is_recorded(tmp_path):
    (tmp_path / "empty").mkdir()
    environment = simulator_environment(LD_PRELOAD=LIBRARY)
    completed = run_command("doctor", cwd=tmp_path / "empty", env=environment)
    assert completed.returncode == 0 and "Simulated GPU" in " ".join(completed.stdout.split())
    assert not list((tmp_path / "empty").iterdir())
