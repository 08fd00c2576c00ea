# SPDX-License-Identifier: MIT
"""Makes pytest items of the unit tests in C. A unit test is a cmocka program: tests/unit/FOLDER/NAME.c is built to
tests/unit/FOLDER/NAME below the build folder. Each `TEST(name)` or `TEST_WITH(name, …)` of tests/unit/unit_test.h is an item."""
import re
import subprocess

import pytest

from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment

SOURCES = ROOT / "tests" / "unit"


def pytest_collect_file(file_path, parent):
    if file_path.suffix == ".c" and SOURCES in file_path.parents:
        return UnitFile.from_parent(parent, path=file_path)
    return None


class UnitFile(pytest.File):
    """A C file with unit tests. A test without a result fails."""

    def collect(self):
        source = self.path.read_text(encoding="utf-8")
        names = re.findall(r"^TEST(?:_WITH)?\((\w+)", source, re.MULTILINE)
        for name in dict.fromkeys(names):
            yield UnitItem.from_parent(self, name=name)

    def results(self):
        """Runs the program once. Returns ({test name: "ok", "not ok" or "skip"}, the program's output)."""
        if not hasattr(self, "_results"):
            program = BUILD / "tests" / "unit" / self.path.relative_to(SOURCES).with_suffix("")
            completed = subprocess.run(
                [str(program)],
                env=clean_environment(CMOCKA_MESSAGE_OUTPUT="TAP"),
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
            )
            self._said = completed.stdout + completed.stderr
            self._results = {}
            for line in completed.stdout.splitlines():
                match = re.match(r"(not ok|ok) \d+ (?:-|# SKIP) (\w+)", line)
                if match:
                    state = "skip" if "# SKIP" in line else match.group(1)
                    self._results[match.group(2)] = state
        return self._results, self._said


class UnitItem(pytest.Item):
    def runtest(self):
        results, said = self.parent.results()
        state = results.get(self.name, "no result")
        if state == "skip":
            pytest.skip(said)
        if state != "ok":
            raise UnitFailure(f"{self.parent.path.stem}.{self.name}: {state}\n{said}")

    def repr_failure(self, excinfo):
        if isinstance(excinfo.value, UnitFailure):
            return str(excinfo.value)
        return super().repr_failure(excinfo)

    def reportinfo(self):
        return self.path, 0, f"{self.parent.path.stem}: {self.name}"


class UnitFailure(Exception):
    pass
