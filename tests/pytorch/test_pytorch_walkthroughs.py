# SPDX-License-Identifier: MIT
"""With Debian's release of PyTorch, the PyTorch commands in doc/walkthroughs.md print the output that the page
shows."""

import pytest

from support.pytorch_builds import Build
from support.walkthroughs import check, sections

IN_PYTORCH = [heading for heading, commands in sections().items() if any("python3" in command for command, _ in commands)]


@pytest.mark.parametrize("heading", IN_PYTORCH)
def test_a_walkthrough_is_what_its_commands_print(heading, tmp_path):
    build = Build("debian")
    if build.missing():
        pytest.skip(f"PyTorch's build '{build.name}' is not there: {build.missing()}")
    assert sum(len(shown) for _, shown in sections()[heading]) > 4
    check(heading, tmp_path, build.python)
