# SPDX-License-Identifier: MIT
"""The recipe in doc/ci.md makes the build green if the program holds no more memory than its baseline. In all other
cases the build is red, with one annotation on the line to blame."""
import json
import sys
import xml.etree.ElementTree

import pytest

from support.recipe import Server, baseline_commands, github_steps, gitlab_commands

PROGRAM = """import ctypes

CUDA = ctypes.CDLL("libcudart.so.13")


def allocate(mebibytes):
    block = ctypes.c_void_p()
    assert CUDA.cudaMalloc(ctypes.byref(block), ctypes.c_size_t(mebibytes << 20)) == 0


def weights():
    for _ in range(8):
        allocate(10)


def main():
    weights()
    allocate(20)


main()
"""
MORE = PROGRAM.replace("    allocate(20)\n", "    allocate(20)\n    # Beside it, one thing more.\n    allocate(10)\n")
MOVED = PROGRAM.replace("CUDA = ", "# A comment, and lines that moved.\n\n\nCUDA = ")


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    server = Server(folder, sys.executable)
    server.write_baseline()
    return server


def test_the_page_has_the_steps():
    assert [when for when, _ in github_steps()] == ["success", "success", "always", "failure"]
    assert (len(baseline_commands()), len(gitlab_commands("script")), len(gitlab_commands("after_script"))) == (2, 2, 1)


@pytest.mark.parametrize("program", [PROGRAM, MOVED])
def test_what_holds_nothing_more_is_green(server, program):
    (server.folder / "train.py").write_text(program)
    assert server.run_github() == (True, [])
    assert server.run_gitlab()


def test_ten_per_cent_more_is_red_with_one_annotation_on_the_line(server):
    (server.folder / "train.py").write_text(MORE)
    green, (annotation,) = server.run_github()
    line = MORE.splitlines().index("    allocate(10)") + 1
    assert not green and annotation.startswith(f"::error file=train.py,line={line},")
    assert f"train.py:{line}" in (server.folder / "summary.md").read_text()


def test_ten_per_cent_more_is_a_failed_test_on_gitlab(server):
    (server.folder / "train.py").write_text(MORE)
    assert not server.run_gitlab()
    (failed,) = xml.etree.ElementTree.parse(server.folder / "memory.xml").findall(".//testcase[failure]")
    line = MORE.splitlines().index("    allocate(10)") + 1
    assert (failed.get("file"), failed.get("line")) == ("train.py", str(line))


def test_the_new_baseline_of_a_red_build_makes_it_green(server):
    (server.folder / "train.py").write_text(MORE)
    server.run_github()
    (server.folder / "memory.new.json").replace(server.folder / "memory.json")
    assert json.loads((server.folder / "memory.json").read_text())["schema"] == "gpumemtrace.baseline/1"
    assert server.run_github() == (True, [])
