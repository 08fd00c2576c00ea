# SPDX-License-Identifier: MIT
"""The mistakes of mistakes.txt, and the one place in the sources where each can be made."""
import pathlib

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent


def mistakes():
    """Yields (number of the line, room, tests, old text, new text) of each mistake."""
    room = tests = None
    for number, line in enumerate((HERE / "mistakes.txt").read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("["):
            room, tests = line.strip("[]").split(": ")
        elif line and not line.startswith("#"):
            old, new = line.split(" =>")
            yield str(number), room, tests.split(), old, new.strip()


def source_of(folder, old):
    """Returns the file below `folder` that has the text `old`. Returns None unless the text is in exactly one place."""
    sources = [path for path in sorted(folder.rglob("*.[cS]")) for _ in range(path.read_text(encoding="utf-8").count(old))]
    return sources[0] if len(sources) == 1 else None
