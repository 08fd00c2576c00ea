# SPDX-License-Identifier: MIT
"""The first line of `report` of each script, stored in tests/golden/first_lines_pytorch.txt for each build."""
import pytest

from support.first_lines import check_first_line
from support.pytorch_builds import SCRIPTS
from support.run import ROOT

ARGUMENTS = {"mlp.py": ["adam"]}
# They make no trace of their own, want arguments that stand in their own tests, or look at the machine alone.
LEFT_OUT = {"moments.py", "advice.py", "facts.py", "graphs.py", "growth.py", "out_of_memory.py", "look.py", "operators.py"}
NAMES = sorted(path.name for path in SCRIPTS.glob("*.py") if path.name not in LEFT_OUT)


@pytest.mark.parametrize("name", NAMES)
def test_the_report_of_a_script_opens_as_stored_and_names_a_line_of_it(dry_run, torch_build, name):
    recording = dry_run(name, *ARGUMENTS.get(name, []))
    check_first_line("first_lines_pytorch.txt", f"{torch_build.name} {name}", recording.trace, name)


def test_the_report_of_a_sharded_llama_names_a_line_of_it(dry_run, torch_build):
    small = ("--layers=2", "--hidden=256", "--heads=4", "--kv-heads=2", "--ffn=512", "--vocabulary=1000", "--sequence=128",
             "--steps=2")
    recording = dry_run(ROOT / "samples/fsdp_llama.py", "--fake-ranks=8", *small)
    check_first_line("first_lines_pytorch.txt", f"{torch_build.name} fsdp_llama.py", recording.trace, "fsdp_llama.py")
