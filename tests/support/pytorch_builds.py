# SPDX-License-Identifier: MIT
"""The builds of the real PyTorch that `make check-pytorch` and similar targets install. Also runs scripts on these
builds in dry runs."""
import json
import os
import re
import subprocess

from support.run import BUILD, ROOT, TIMEOUT_S, Recording, clean_environment

SCRIPTS = ROOT / "tests/pytorch/scripts"
BUILDS = os.environ.get("GPUMEMTRACE_PYTORCH", "debian wheel").split()
OLDEST = "oldest"
# The simulated devices of each script that does not run on the usual single device of 16 GiB.
SPECS = {"fragmented.py": "2GiB", "two_devices.py": "2x16GiB"}
# Python must store its bytecode, because it takes longer to compile PyTorch's modules than to run any script. The
# bytecode is stored outside the source tree.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": BUILD / "pytorch/bytecode"}
# Error messages of Python, and of PyTorch's allocator, that mean that a release lacks a feature. The error comes from a
# line of a script, or from a module that this line calls.
LACKING = re.compile(
    rf"""^  File "{re.escape(str(SCRIPTS))}/[^"]*", line \d+, in .*\n(?:    .*\n)*"""
    r"""(?:  File "[^"]*/torch/nn/modules/module\.py", line \d+, in _call_impl\n(?:    .*\n)*)?"""
    r"(?:TypeError: [\w.]+\(\) got an unexpected keyword argument '(?P<keyword>\w+)'"
    r"|AttributeError: module '(?P<module>torch[\w.]*)' has no attribute '(?P<attribute>\w+)'"
    r"|ImportError: cannot import name '(?P<name>\w+)' from '(?P<of>torch[\w.]*)')"
    r"|^RuntimeError: Unrecognized CachingAllocator option: (?P<option>\w+)",
    re.MULTILINE,
)


class Lacks(Exception):
    """Says that a script needs a feature that this release of PyTorch lacks; the message names the feature."""


def lacking(said):
    """Returns the missing feature that the script's traceback names, or None if the script failed for another
    reason."""
    found = LACKING.search(said)
    if not found:
        return None
    return found["option"] or found["keyword"] or f"{found['module'] or found['of']}.{found['attribute'] or found['name']}"


class TorchRecording(Recording):
    """A recording, with the values that the script noted at its moments (scripts/moments.py)."""

    def marked_moments(self):
        """Returns [(seq of the mark, the noted values)]. Moments before the first CUDA call are left out, because
        nothing is recorded before that call."""
        moments = json.loads((self.trace.parent / "moments.json").read_text())
        marks = self.rows(
            "SELECT CAST(substr(text, 8) AS INTEGER), seq FROM event JOIN string ON string_id = object"
            " WHERE kind = 13 AND text LIKE 'moment %' ORDER BY seq"
        )
        unmarked = len(moments) - len(marks)
        assert [number for number, _ in marks] == list(range(unmarked, len(moments)))
        assert not any(moment["segments"] for moment in moments[:unmarked])
        return [(seq, moments[number]) for number, seq in marks]


class Build:
    """One build of PyTorch: its folder, and the launcher inside that folder."""

    def __init__(self, name):
        self.name = name
        self.folder = BUILD / "pytorch" / name
        self.python = self.folder / "python"

    def missing(self):
        reason = self.folder / "missing"
        if self.python.exists():
            return None
        return reason.read_text().strip() if reason.exists() else "make check-pytorch makes it"

    def dry_run(self, folder, script, *arguments, spec=None, rank=None, check=True, **environment):
        """Dry-runs a script, or one rank of it ("0/8"), in `folder` and returns a TorchRecording. A name without a slash is
        a script of tests/pytorch/scripts."""
        spec = spec or SPECS.get(script, "16GiB")
        script = SCRIPTS / script if "/" not in str(script) else script
        trace = folder / "trace.db"
        for left in folder.glob("trace.db*"):
            left.unlink()
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "run", "-o", trace, f"--dry-run={spec}", *([f"--rank={rank}"] if rank else []), "--",
             self.python, script, *map(str, arguments)],
            env=clean_environment(**{"MOMENTS": folder / "moments.json", **BYTECODE, **environment}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=folder,
        )  # fmt: skip
        if self.name == OLDEST and completed.returncode and lacking(completed.stderr):
            raise Lacks(f"{script.name} asks for {lacking(completed.stderr)}, which PyTorch's oldest build has not")
        if check:
            assert completed.returncode == 0, completed.stdout + completed.stderr
        return TorchRecording(completed, trace)
