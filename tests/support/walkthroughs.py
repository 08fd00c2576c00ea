# SPDX-License-Identifier: MIT
"""Runs the commands of doc/walkthroughs.md and compares their output with the page."""

import re
import subprocess

from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment

PAGE = ROOT / "doc/walkthroughs.md"


def sections():
    """Returns {heading: [(command, the output lines of the command on the page)]}."""
    found = {}
    for heading, body in re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE.read_text(encoding="utf-8"), re.M | re.S):
        lines = re.findall(r"^    (.*)$", body, re.M)
        commands = []
        for line in lines:
            if line.startswith("$ "):
                commands.append((line[2:], []))
            else:
                commands[-1][1].append(line)
        found[heading] = commands
    return found


def put_tools(folder, python):
    """Puts gpumemtrace, python3, build/ and samples/ into `folder` under the names that the page uses. Returns an
    environment in which a shell finds these names."""
    tools = folder / "tools"
    tools.mkdir()
    (tools / "gpumemtrace").symlink_to(BUILD / "gpumemtrace")
    (tools / "python3").write_text(f'#!/bin/sh\nexec {python} "$@"\n')
    (tools / "python3").chmod(0o755)
    (folder / "build").symlink_to(BUILD)
    (folder / "samples").symlink_to(ROOT / "samples")
    return clean_environment(PATH=f"{tools}:/usr/bin:/bin", PYTHONDONTWRITEBYTECODE="1")


def play(heading, folder, python="/usr/bin/python3"):
    """Runs the commands of a section in an empty folder. Returns [(command, its output on the page, its real
    output)]."""
    environment = put_tools(folder, python)
    played = []
    for command, shown in sections()[heading]:
        completed = subprocess.run(command, shell=True, cwd=folder, env=environment, stdin=subprocess.DEVNULL, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S, check=False)  # fmt: skip
        played.append((command, shown, completed.stdout.replace(f"{folder}/", "")))
    return played


def comparable(text):
    """Returns the text with each time replaced by TIME and each run of white space by one space."""
    return " ".join(re.sub(r"\b[\d.]+ [mu]?s\b", "TIME", text).split())


def check(heading, folder, python="/usr/bin/python3"):
    """Fails unless the commands print the lines of the page in the same order. A line "…" matches any number of
    lines."""
    for command, shown, printed in play(heading, folder, python):
        rest = comparable(printed)
        for part in map(comparable, re.split(r"^…$", "\n".join(shown), flags=re.M)):
            assert part in rest, f"$ {command}\nnot printed, or not there: {part}\n{printed}"
            rest = rest[rest.index(part) + len(part) :]
