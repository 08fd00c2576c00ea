# SPDX-License-Identifier: MIT
"""Runs the recipe of doc/ci.md on samples/train.py. If a change holds 10 % more memory, the build is red, with one
annotation on the line."""
import pytest

from support.pytorch_builds import BYTECODE
from support.recipe import Server
from support.run import ROOT

PROGRAM = (ROOT / "samples/train.py").read_text(encoding="utf-8")
KEPT = PROGRAM.replace("            samples, classes = samples.to(device), classes.to(device)\n",
                       "            samples, classes = samples.to(device), classes.to(device)\n            # For a figure.\n"
                       "            shown = torch.cat([samples] * 3)\n")  # fmt: skip
BATCH = PROGRAM.replace("BATCH, FEATURES, HIDDEN, CLASSES, STEPS = 8192,", "BATCH, FEATURES, HIDDEN, CLASSES, STEPS = 9012,")
HARMLESS = PROGRAM.replace("def build_network(nn):", "# Two layers.\n\n\ndef build_network(nn):")


@pytest.fixture
def server(torch_build, tmp_path):
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "train.py").write_text(PROGRAM)
    server = Server(folder, torch_build.python)
    server.environment |= {name: str(value) for name, value in BYTECODE.items()}
    server.write_baseline()
    return server


@pytest.mark.parametrize("program, guilty", [(KEPT, "shown = torch.cat"), (BATCH, "samples, classes = samples.to")])
def test_ten_per_cent_more_is_red_with_one_annotation_on_the_line(server, program, guilty):
    (server.folder / "train.py").write_text(program)
    (line,) = [number for number, text in enumerate(program.splitlines(), 1) if guilty in text]
    green, (annotation,) = server.run_github()
    assert not green and annotation.startswith(f"::error file=train.py,line={line},")


def test_what_holds_nothing_more_is_green(server):
    (server.folder / "train.py").write_text(HARMLESS)
    assert server.run_github() == (True, [])
