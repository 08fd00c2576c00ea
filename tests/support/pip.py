# SPDX-License-Identifier: MIT
"""Installs packages from PyPI. A test may be skipped only if PyPI cannot be reached. Any other failure of pip is an
error."""
import re
import subprocess
import sys

from support.run import ROOT

UNREACHABLE = 77


def pinned(name):
    """Returns the packages in a list of .ci/versions, or no packages if there is no such list."""
    found = re.search(rf'^{name}="([^"]*)"', (ROOT / ".ci/versions").read_text(), re.MULTILINE)
    return found.group(1).split() if found else []


class Unreachable(Exception):
    """Says that PyPI cannot be reached; the text gives the reason."""


def pip(*words, environment=None):
    """Runs pip, up to three times. Raises Unreachable, or RuntimeError with pip's output."""
    command = [ROOT / ".ci/pip", sys.executable, *map(str, words)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == UNREACHABLE:
        raise Unreachable(done.stdout.strip())
    if done.returncode:
        raise RuntimeError(f"pip {' '.join(map(str, words))}: {done.stderr.strip()}")
