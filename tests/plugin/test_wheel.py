# SPDX-License-Identifier: MIT
"""make check-packages, make check-pythons: installs the wheel of `make wheel` in a new environment of each interpreter, and
runs the plugin's own tests there."""
import json
import os
import re
import subprocess

import pytest

from support import pythons
from support.run import BUILD, ROOT, clean_environment

LAST = (3, 13)  # the last version that the plugin promises to support
TRAIN = 'import ctypes\nctypes.CDLL("libcudart.so.12").cudaMalloc(ctypes.byref(ctypes.c_void_p()), 512)\n'
TESTS = ROOT / "tests" / "plugin" / "test_plugin.py"

pytestmark = pytest.mark.skipif(not os.environ.get("GPUMEMTRACE_PYTHONS"), reason="make check-packages and make check-pythons run it")
INTERPRETERS = [each for each in pythons.found() if each.is_known() and each.version <= LAST]


def wheel():
    [path] = BUILD.glob("gpumemtrace-*.whl")
    return path


def run(*words, **options):
    return subprocess.run(
        [*map(str, words)], env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, **options
    )


def environment(folder, interpreter):
    """Creates a virtual environment and returns its python."""
    made = run(*interpreter.command, "-m", "venv", folder / "new venv")
    if made.returncode:
        pytest.skip(f"{interpreter.name} makes no environment: {made.stdout.strip() or made.stderr.strip()}")
    return folder / "new venv/bin/python"


def install_plugin(python):
    """Installs the wheel with the first listed version of pytest that the interpreter accepts."""
    (versions,) = re.findall('pytest_versions="(.*)"', pythons.VERSIONS.read_text())
    for version in versions.split():
        done = run(python, "-m", "pip", "install", "--quiet", wheel(), f"pytest=={version}")
        if done.returncode == 0:
            return
    pytest.fail(done.stdout + done.stderr)


def entries(folder):
    return {path for path in folder.rglob("*") if path.name != "__pycache__" and path.suffix != ".pyc"}


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda each: each.name)
def test_the_wheel_brings_a_command_that_records_a_dry_run_and_goes_without_a_trace(interpreter, tmp_path):
    python = environment(tmp_path, interpreter)
    before = entries(tmp_path / "new venv")
    installed = run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel())
    assert installed.returncode == 0, installed.stderr
    command = python.with_name("gpumemtrace")
    assert run(command, "--version").stdout.split()[-1] == wheel().name.split("-")[1]
    assert run(command, "doctor", cwd=tmp_path).returncode == 0
    ran = run(command, "run", "--dry-run=16GiB", "-o", tmp_path / "train.db", "--", BUILD / "samples/train")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(run(command, "report", "--json", tmp_path / "train.db").stdout)["devices"][0]["driver"]["peak_bytes"] > 0
    (tmp_path / "train.py").write_text(TRAIN)
    ran = run(command, "run", "--dry-run=16GiB", "-o", tmp_path / "python.db", "--", python, "train.py", cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert "train.py:2" in run(command, "peak", tmp_path / "python.db").stdout
    left = run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "gpumemtrace")
    assert left.returncode == 0 and entries(tmp_path / "new venv") == before


def test_the_command_of_the_wheel_leaves_signals_as_they_were(tmp_path):
    """Python ignores SIGPIPE, but a program that is started through Python must not inherit the ignored signal."""
    python = environment(tmp_path, INTERPRETERS[0])
    assert run(python, "-m", "pip", "install", "--quiet", "--no-index", wheel()).returncode == 0
    show = ["grep", "SigIgn", "/proc/self/status"]
    for command in ([python.with_name("gpumemtrace")], [python, "-m", "gpumemtrace"]):
        assert run(*command, "run", "--", *show).stdout == run(*show).stdout


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda each: each.name)
def test_the_plugin_keeps_its_tests_where_pip_installed_it(interpreter, tmp_path):
    python = environment(tmp_path, interpreter)
    install_plugin(python)
    options = ["-q", "-p", "no:cacheprovider", "-c", os.devnull, "--noconftest", f"--rootdir={tmp_path}"]
    done = subprocess.run(
        [str(python), "-m", "pytest", *options, str(TESTS)],
        env={**clean_environment(), "GPUMEMTRACE_BUILD": str(BUILD), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
