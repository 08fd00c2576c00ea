# SPDX-License-Identifier: MIT
"""The real PyTorch in a dry run: each test runs on every build that `make check-pytorch` could get. A
script with the same arguments runs once for all tests of a build."""
import json
import subprocess

from support.run import BUILD, ROOT, Recording, clean_environment

SCRIPTS = ROOT / "tests/pytorch/scripts"
TIMEOUT_S = 600
# What a script runs on, where it is not one device of 16 GiB.
SPECS = {"fragmented.py": "2GiB", "two_devices.py": "2x16GiB"}
# Bytecode is kept, out of the source tree: to compile PyTorch's modules takes longer than any script.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": BUILD / "pytorch/bytecode"}


class TorchRecording(Recording):
    """Also what the script wrote down at its moments (scripts/moments.py)."""

    def marked_moments(self):
        """[(seq of the mark, what the script wrote)]; nothing is recorded before the first call of CUDA."""
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
    """One build of PyTorch: its folder and the launcher in it."""

    def __init__(self, name):
        self.name = name
        self.folder = BUILD / "pytorch" / name
        self.python = self.folder / "python"

    def missing(self):
        reason = self.folder / "missing"
        if self.python.exists():
            return None
        return reason.read_text().strip() if reason.exists() else "make check-pytorch makes it"

    def dry_run(self, folder, script, *arguments, spec=None, check=True, **environment):
        """Runs it in `folder` as anyone would. A script without a slash is one of tests/pytorch/scripts."""
        spec = spec or SPECS.get(script, "16GiB")
        script = SCRIPTS / script if "/" not in str(script) else script
        trace = folder / "trace.db"
        completed = subprocess.run(
            [BUILD / "gpumemtrace", "run", "-o", trace, f"--dry-run={spec}", "--",
             self.python, script, *map(str, arguments)],
            env=clean_environment(**{"MOMENTS": folder / "moments.json", **BYTECODE, **environment}),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            cwd=folder,
        )
        if check:
            assert completed.returncode == 0, completed.stdout + completed.stderr
        return TorchRecording(completed, trace)
