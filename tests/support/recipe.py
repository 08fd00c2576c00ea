# SPDX-License-Identifier: MIT
"""Runs the commands of doc/ci.md as a CI server does, in a folder where the program is named train.py."""
import os
import re
import subprocess

from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment


def section(heading):
    page = (ROOT / "doc/ci.md").read_text(encoding="utf-8")
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", page, re.M | re.S).group(1)


def baseline_commands():
    return re.findall(r"^ {4}(gpumemtrace .*)", section("The baseline"), re.M)


def github_steps():
    """Returns [(when, command)] for the steps that run gpumemtrace. `when` is success, failure or always."""
    steps = re.split(r"^ {10}- ", section("GitHub Actions"), flags=re.M)[1:]
    found = [(re.search(r"if: (\w+)\(\)", step), re.search(r"run: (gpumemtrace .*)", step)) for step in steps]
    return [(when.group(1) if when else "success", command.group(1)) for when, command in found if command]


def gitlab_commands(key):
    body = re.search(rf"^ {{6}}{key}:\n((?: {{8}}- .*\n)+)", section("GitLab"), re.M).group(1)
    return re.findall(r"- (gpumemtrace .*)", body)


class Server:
    """A CI server: a folder with train.py, and the command `python` that the test chooses."""

    def __init__(self, folder, python):
        self.folder = folder
        tools = folder.parent / "tools"
        tools.mkdir()
        (tools / "gpumemtrace").symlink_to(BUILD / "gpumemtrace")
        (tools / "python").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
        (tools / "python").chmod(0o755)
        self.environment = clean_environment(
            PATH=f"{tools}:{os.environ['PATH']}", GITHUB_WORKSPACE=folder, GITHUB_STEP_SUMMARY=folder / "summary.md",
            GPUMEMTRACE_QUIET=1)  # fmt: skip

    def run(self, command):
        return subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], cwd=self.folder, env=self.environment, text=True,
                              capture_output=True, timeout=TIMEOUT_S)  # fmt: skip

    def write_baseline(self):
        for command in baseline_commands():
            completed = self.run(command)
            assert completed.returncode == 0, completed.stdout + completed.stderr

    def run_github(self):
        """Returns (whether the build is green, its annotations)."""
        green, annotations = True, []
        for when, command in github_steps():
            if when == "always" or green == (when == "success"):
                completed = self.run(command)
                green &= completed.returncode == 0
                annotations += [line for line in completed.stdout.splitlines() if line.startswith("::error")]
        return green, annotations

    def run_gitlab(self):
        """Returns whether the build is green. The commands write the failures into the file memory.xml."""
        green = all(self.run(command).returncode == 0 for command in gitlab_commands("script"))
        assert all(self.run(command).returncode == 0 for command in gitlab_commands("after_script"))
        return green
