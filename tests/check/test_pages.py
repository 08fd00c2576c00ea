# SPDX-License-Identifier: MIT
"""README, doc/, the README of the samples and the manual tell the truth: the commands in them run, the links lead to a
page, and the output is real.

A command with a placeholder in capitals (TRACE, SPEC …) is not run, but its names must exist. `run` records
build/samples/train, whatever program the page names, in an environment that has the simulator.
"""
import os
import re
import shlex
import shlex
import shutil
import sqlite3
import subprocess

import pytest

from support.run import BUILD, ROOT, TIMEOUT_S, run_command, simulator_environment

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "samples/README.md", *sorted(ROOT.glob("doc/*.md")),
         *sorted(ROOT.glob("include/gpumemtrace/*.md"))]
MANUAL = ROOT / "analyzer/man/gpumemtrace.1"
PLACEHOLDER = re.compile(r"\b[A-Z]{3,}\b|…")
TRACES = ("train.db", "leak.db", "llama.db", "last-week.db", "new.db", "memory.db", "done.db", "late.db")


def manual_text():
    """Returns the examples in the manual as indented lines."""
    text = MANUAL.read_text(encoding="utf-8").replace(r"\-", "-")
    return "".join(re.sub(r"^", "    ", block, flags=re.M) for block in re.findall(r"^\.EX\n(.*?)^\.EE", text, re.M | re.S))


def shown(pattern):
    """Returns the code in all pages that matches the pattern, both as whole lines and inside a line."""
    texts = [page.read_text(encoding="utf-8") for page in PAGES] + [manual_text()]
    code = [line for text in texts for line in re.findall(r"^ {4,}(?:\$ )?(\S.*?)(?: {3,}.*)?$|`([^`\n]+)`", text, re.M)]
    return sorted({word for pair in code for word in pair if re.match(pattern, word)})


COMMANDS = [re.sub(r"^build/", "", line) for line in shown(r"(build/)?gpumemtrace \w+")]
RUNNABLE = sorted({line for line in COMMANDS if not PLACEHOLDER.search(line) and (" help" in line or line.count(" ") > 1)})


def options_of(command):
    return set(re.findall(r"(?<!\S)--?[a-z][a-z-]*", run_command("help", command).stdout))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Makes the folder in which the commands run, with the files that pages name."""
    path = tmp_path_factory.mktemp("pages")
    (path / "build").mkdir()
    (path / "samples").symlink_to(ROOT / "samples")
    shutil.copy(ROOT / "samples/train.json", path / "model.json")
    environment = simulator_environment(GPUMEMTRACE_QUIET=1)
    command = [BUILD / "gpumemtrace", "run", "-o", path / TRACES[0], "--", BUILD / "samples/train"]
    subprocess.run(command, env=environment, check=True, timeout=TIMEOUT_S)
    export = ["export", "--to=torch-snapshot", "-o", path / "snapshot.pickle", path / TRACES[0]]
    assert run_command(*export).returncode == 0
    shutil.copy(path / TRACES[0], path / "imported.db")
    (path / "traces").mkdir()
    for name in (*TRACES[1:], "build/demo.db", "traces/rank0.db", "traces/rank1.db"):
        shutil.copy(path / TRACES[0], path / name)
    return path


def test_there_are_commands_to_run():
    assert len(RUNNABLE) > 15
    assert {line.split()[1] for line in COMMANDS} >= {"run", "report", "check", "resolve", "estimate"}


@pytest.mark.parametrize("line", sorted(set(COMMANDS)))
def test_a_command_on_a_page_names_a_command_and_options_that_exist(line):
    words = shlex.split(line.split(" -- ")[0].split(" | ")[0])
    known = options_of(words[1])
    assert known, words[1]
    for word in words[2:]:
        option = re.match(r"--?[a-z][a-z-]*", word)
        assert not option or option.group() in known, word


@pytest.mark.parametrize("line", RUNNABLE)
def test_a_command_on_a_page_runs(line, folder):
    before, separator, _ = line.partition(" -- ")
    words = shlex.split(before)[1:] + (["--", str(BUILD / "samples/train")] if separator else [])
    completed = run_command(*words, cwd=folder, env=simulator_environment())
    assert completed.returncode == 0, completed.stderr
    if "-o" in words and not separator:
        assert (folder / words[words.index("-o") + 1]).stat().st_size
    else:
        assert separator or completed.stdout


@pytest.mark.parametrize("line", shown("sqlite3 "))
def test_a_query_on_a_page_answers(line, folder):
    _, _, query = shlex.split(line)
    with sqlite3.connect(folder / TRACES[0]) as database:
        assert database.execute(query).fetchall()


def test_the_page_of_commands_explains_the_shared_options_and_no_others():
    page = (ROOT / "doc/commands.md").read_text(encoding="utf-8")
    names = re.findall(r"COMMAND\((\w+),", (ROOT / "analyzer/command/commands.def").read_text(encoding="utf-8"))
    shown_options = set(re.findall(r"--[a-z][a-z-]+", page))
    assert {option for option in options_of("peak") if option.startswith("--")} <= shown_options | {"--help"}
    assert shown_options <= set().union(*map(options_of, names))


def test_variables_on_pages_exist():
    folders = ("simulator", "analyzer", "common")
    sources = [*ROOT.glob("include/**/*.def"), *(path for folder in folders for path in ROOT.glob(f"{folder}/**/*.[ch]")),
               ROOT / "tests/analyzer/test_outputs.py"]
    known = set(re.findall(r'"(GPUMEMTRACE_\w+)"', "".join(path.read_text(encoding="utf-8") for path in sources)))
    for page in [*PAGES, MANUAL]:
        assert set(re.findall(r"GPUMEMTRACE_[A-Z_]+\b(?!\.h)", page.read_text(encoding="utf-8"))) <= known | {
            "GPUMEMTRACE_REAL_CUDA_H"}, page


def test_make_targets_on_pages_exist():
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8").replace("\\\n", " ")
    targets = set(re.search(r"^\.PHONY: (.*)$", makefile, re.M).group(1).split())
    for line in shown(r"make( |$)"):
        for target in [word for word in shlex.split(line)[1:] if "=" not in word]:
            assert target in targets, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_on_a_page_lead_to_files(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
        assert (page.parent / target).exists(), target


def test_the_source_tour_names_folders_that_exist():
    tour = (ROOT / "README.md").read_text(encoding="utf-8").split("## Source tour")[1]
    folders = set(re.findall(r"(?<![\w/(])([a-z]\w*(?:/\w+)*)/(?![\w.(])", tour))
    assert {"interpose", "analyzer", "simulator", "trace", "hook", "replay"} <= folders
    for folder in folders:
        assert any(path.is_dir() for path in (ROOT / folder, *ROOT.glob(f"*/{folder}"))), folder


def comparable(text):
    """Returns the lines of the text. Times, padding and the path of the tree are removed."""
    text = text.replace(str(BUILD), "build").replace(os.path.relpath(BUILD, ROOT), "build")
    text = re.sub(r"\S*build/demo\.db", "build/demo.db", text)
    text = re.sub(r"\b[\d.]+ [mu]?s\b", "TIME", text)
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="README shows the demo of a machine without a GPU")
def test_what_readme_shows_of_make_demo_is_what_it_prints():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    text = re.search(r"^## The report as text\n\n.*\n\n((?:    .*\n|\n)+)", readme, re.M).group(1)
    assert text.count("\n") >= 20
    environment = {**simulator_environment(), "O": os.path.relpath(BUILD, ROOT)}
    completed = subprocess.run(["sh", "samples/demo"], cwd=ROOT, env=environment, check=True, text=True,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=TIMEOUT_S)
    printed = iter(comparable(completed.stdout))
    for line in comparable(text):
        assert line in ("", "…") or line in printed, f"not printed, or not there: {line}"
