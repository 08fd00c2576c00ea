# SPDX-License-Identifier: MIT
"""For its programs in C, doc/walkthroughs.md shows the output that the commands print.
tests/pytorch/test_pytorch_walkthroughs.py checks the programs in PyTorch."""

import os
import re

import pytest

from support.run import ROOT
from support.walkthroughs import PAGE, check, sections

IN_C = [heading for heading, commands in sections().items() if not any("python3" in command for command, _ in commands)]


@pytest.mark.skipif(os.path.exists("/dev/nvidia0"), reason="the page shows a machine without a GPU")
@pytest.mark.parametrize("heading", IN_C)
def test_a_walkthrough_is_what_its_commands_print(heading, tmp_path):
    assert sum(len(shown) for _, shown in sections()[heading]) > 4
    check(heading, tmp_path)


def test_each_walkthrough_has_a_small_picture():
    pictures = re.findall(r"\]\((pictures/[\w-]+\.png)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) == len(sections()) == 4
    for picture in pictures:
        assert (ROOT / "doc" / picture).stat().st_size < 150_000, picture
