# SPDX-License-Identifier: MIT
"""The builds of the real PyTorch that `make check-pytorch` could get, and dry runs of scripts on them."""
import json
import subprocess

from support.run import BUILD, ROOT, Recording, clean_environment

SCRIPTS = ROOT / "tests/pytorch/scripts"
TIMEOUT_S = 600
# The wheel may abort when all is done, in its own teardown, with or without a recorder (9 of 28 runs of one script).
ABORTED, TEARDOWN_SAYS, TEARDOWNS = 134, "terminate called without an active exception", 8
# The simulated devices of scripts that need others than one of 16 GiB.
SPECS = {"fragmented.py": "2GiB", "two_devices.py": "2x16GiB"}
# Bytecode is kept outside the source tree: compiling PyTorch's modules takes longer than any script.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": BUILD / "pytorch/bytecode"}


class TorchRecording(Recording):
    """A recording with what the script noted at its moments (scripts/moments.py)."""

    def marked_moments(self):
        """[(seq of the mark, what the script noted)]; nothing is recorded before the first CUDA call."""
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
    """One build of PyTorch: its folder, and the launcher in it."""

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
        """Runs a script in `folder`. A name without a slash is one of tests/pytorch/scripts."""
        spec = spec or SPECS.get(script, "16GiB")
        script = SCRIPTS / script if "/" not in str(script) else script
        trace = folder / "trace.db"
        for _ in range(TEARDOWNS):
            for left in folder.glob("trace.db*"):
                left.unlink()
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
            if not check or completed.returncode != ABORTED or TEARDOWN_SAYS not in completed.stderr:
                break
            print(f"{script.name}: {self.name} aborted in its own teardown; once more")
        if check:
            assert completed.returncode == 0, completed.stdout + completed.stderr
        return TorchRecording(completed, trace)
