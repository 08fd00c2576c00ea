# SPDX-License-Identifier: MIT
"""make check-pythons: `pip install` of the tree into a new environment of each interpreter, and the plugin's own
tests in it."""
import os
import re
import shutil
import subprocess

import pytest

from support import pythons
from support.run import BUILD, ROOT, clean_environment

LAST = (3, 13)  # of those that the plugin is promised for
TESTS = ROOT / "tests" / "plugin" / "test_plugin.py"
PACKAGED = ("pyproject.toml", "python", "LICENSE")

pytestmark = pytest.mark.skipif(not os.environ.get("GPUMEMTRACE_PYTHONS"), reason="make check-pythons runs it")
INTERPRETERS = [each for each in pythons.found() if each.is_known() and each.version <= LAST]


def run(*words, **options):
    return subprocess.run(
        [*map(str, words)], env=clean_environment(), stdin=subprocess.DEVNULL, capture_output=True, text=True, **options
    )


def install(folder, interpreter):
    """The environment's python, with the plugin and the first version of pytest that it takes."""
    made = run(*interpreter.command, "-m", "venv", folder / "venv")
    if made.returncode:
        pytest.skip(f"{interpreter.name} makes no environment: {made.stdout.strip() or made.stderr.strip()}")
    python = folder / "venv/bin/python"
    tree = folder / "tree"
    for name in PACKAGED:
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        tree.mkdir(exist_ok=True)
        copy(ROOT / name, tree / name)
    (versions,) = re.findall('pytest_versions="(.*)"', pythons.VERSIONS.read_text())
    for version in versions.split():
        done = run(python, "-m", "pip", "install", "--quiet", tree, f"pytest=={version}")
        if done.returncode == 0:
            return python
    pytest.fail(done.stdout + done.stderr)


@pytest.mark.parametrize("interpreter", INTERPRETERS, ids=lambda each: each.name)
def test_the_plugin_is_installed_by_pip_and_keeps_its_tests(interpreter, tmp_path):
    python = install(tmp_path, interpreter)
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
    left = run(python, "-m", "pip", "uninstall", "--yes", "--quiet", "pytest-gpumemtrace")
    assert left.returncode == 0 and not list((tmp_path / "venv").rglob("*gpumemtrace*"))
