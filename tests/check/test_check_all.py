# SPDX-License-Identifier: MIT
"""`make check-all`: the list of suites, and the table that it writes about suites that pass, fail, are skipped or end
early."""
import os
import re
import subprocess

import pytest

from support.run import ROOT

SUITES = {line.split()[0]: line.split()[1:] for line in (ROOT / ".ci/suites").read_text().splitlines() if not line.startswith("#")}
OUTCOMES = {
    "passes": "echo '3 passed, 0 failed, 1 skipped'",
    "fails": "printf '%s\\n' 'FAILED tests/test_a.py::test_b[1 - 2: 3] - assert 1 == 2' '1 passed, 1 failed, 0 skipped'; exit 1",
    "ends": "echo '3 passed, 0 failed, 0 skipped'; exit 139",
    "says": "echo nothing",
    "twice": "printf '%s\\n' '1 passed, 0 failed, 0 skipped' '0 passed, 1 failed, 1 skipped' 'FAILED trace: status 77'; exit 1",
}


@pytest.fixture
def tree(tmp_path):
    """Returns tree(*suites), which runs check-all in a tree where each suite has the outcome that its name says. It
    returns (exit status, page or stderr)."""
    (tmp_path / ".ci").mkdir()
    (tmp_path / "tests").mkdir()
    (tmp_path / ".ci/check-all").write_bytes((ROOT / ".ci/check-all").read_bytes())
    (tmp_path / ".ci/suites").write_text("".join(f"{name} check-{name} TESTS\n" for name in OUTCOMES))
    (tmp_path / "Makefile").write_text("".join(f"check-{name}:\n\t@{line}\n" for name, line in OUTCOMES.items()))

    def run(*suites):
        command = ["/usr/bin/python3", tmp_path / ".ci/check-all", tmp_path / "build", "7", *suites]
        completed = subprocess.run(command, capture_output=True, text=True, check=False)
        page = tmp_path / "tests/results.md"
        return completed.returncode, page.read_text() if page.exists() else completed.stderr

    return run


def rows(page):
    return {row[0]: row[1:4] for row in re.findall(r"^\| (\S+) \| (\d+) \| (\d+) \| (\d+) \|", page, re.M)}


def test_the_list_the_makefile_and_contributing_name_the_same_suites():
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split())
    listed = re.findall(r"^\| `make (\S+?)[` ].*\| .* \| .* \|$", (ROOT / "CONTRIBUTING.md").read_text(), re.M)
    assert listed == [target for target, _ in SUITES.values()]
    assert set(listed) == {target for target in targets if target.startswith("check-")} - {"check-all", "check-run", "check-gpu"} | {"fuzz"}


@pytest.mark.parametrize("target, variable", SUITES.values())
def test_the_variable_that_narrows_a_suite_is_one_of_the_makefile(target, variable):
    assert f"$({variable})" in (ROOT / "Makefile").read_text()


def test_it_goes_on_after_a_failure_and_fails_itself(tree):
    status, page = tree()
    assert status == 1
    assert rows(page) == {"passes": ("3", "0", "1"), "fails": ("1", "1", "0"), "ends": ("3", "1", "0"), "says": ("0", "1", "0"),
                          "twice": ("1", "1", "1")}


def test_it_says_how_to_run_again_what_failed(tree):
    _, page = tree("fails", "ends", "twice")
    assert re.findall("^- .*$", page, re.M) == ["- fails: `make check-fails SEED=7 TESTS='tests/test_a.py::test_b[1 - 2: 3]'`",
                                                "- ends: `make check-ends SEED=7`", "- twice: `make check-twice SEED=7 TESTS=trace`"]


def test_the_results_of_other_suites_stay(tree):
    tree("fails")
    status, page = tree("passes")
    assert (status, list(rows(page))) == (0, ["passes", "fails"])
    assert "TESTS='tests/test_a.py::test_b[1 - 2: 3]'" in page


def test_a_suite_that_is_not_there_is_named_with_those_that_are(tree):
    status, text = tree("fuz")
    assert (status, text) == (1, "check-all: no suite fuz; there are passes fails ends says twice\n")


def test_a_folder_of_results_has_one_name_because_dependencies_name_its_files():
    """check-all names the folder by its whole path, make by a relative one. Objects are shared, and so must be their names."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    commands = {subprocess.run(["make", "-n", f"O={name}", "all"], cwd=ROOT, env=environment, capture_output=True, check=True).stdout
                for name in ("absent", "./absent", ROOT / "absent")}
    assert len(commands) == 1
