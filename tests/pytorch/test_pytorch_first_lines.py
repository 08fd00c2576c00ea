# SPDX-License-Identifier: MIT
"""The first line of `report` for every script with all its arguments; tests/golden/first_lines_pytorch.txt stores the lines
of each build."""
import ast

import pytest
from test_pytorch_advice import CASES, CAUGHT_CARD, ONE_CALL_CARD, SUMMED_LOSSES_CARD

from support.first_lines import check_first_line
from support.pytorch_builds import SCRIPTS
from support.run import ROOT

MODULES = {"moments.py"}  # scripts import this module; alone it does nothing
ADVICE_CARDS = {**{case: card for case, card, *_ in CASES}, "fragments": "1345MiB", "own_kernels": "1735MiB",
                "second_use_of_sequential": "3000MiB", "summed_losses": SUMMED_LOSSES_CARD, "caught": CAUGHT_CARD,
                "one_call": ONE_CALL_CARD}  # fmt: skip


FIXABLE = ("batch", "sequence", "library", "hopeless")


def functions(script):
    """Returns the names of the script's functions without parameters, except main."""
    tree = ast.parse((SCRIPTS / script).read_text(encoding="utf-8"))
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.args.args and node.name != "main"]


def keys_of(script, table):
    tree = ast.parse((SCRIPTS / script).read_text(encoding="utf-8"))
    (found,) = [node.value for node in tree.body if isinstance(node, ast.Assign) and node.targets[0].id == table]
    return [key.value for key in found.keys]


# {script: [(arguments, settings)]}. A script that is missing here runs once, without arguments.
WAYS = {
    "advice.py": [([case], {"spec": ADVICE_CARDS[case], "check": False}) for case in functions("advice.py")],
    "fixable.py": [([case], {"spec": "1GiB", "check": False, "SEQUENCE": "4096"}) for case in FIXABLE],
    "gan.py": [([way], {}) for way in keys_of("gan.py", "WAYS")],
    "growth.py": [([loop], {}) for loop in keys_of("growth.py", "LOOPS")],
    "layers.py": [([way], {}) for way in keys_of("layers.py", "WAYS")],
    "mempools.py": [([way], {}) for way in functions("mempools.py")],
    "mlp.py": [(["adam"], {})],
    "random_use.py": [(["1", "1"], {})],
    "out_of_memory.py": [([way], {"check": False}) for way in functions("out_of_memory.py")],
    "values.py": [([part], {}) for part in functions("values.py") if part != "wrong_check"],  # wrong_check fails
}
RUNS = [(path.name, *way) for path in sorted(SCRIPTS.glob("*.py")) if path.name not in MODULES
        for way in WAYS.get(path.name, [([], {})])]  # fmt: skip


@pytest.mark.parametrize("name, arguments, settings", RUNS, ids=[" ".join([name, *words]) for name, words, _ in RUNS])
def test_the_report_of_a_script_opens_as_stored_and_names_a_line_of_it(dry_run, torch_build, name, arguments, settings):
    recording = dry_run(name, *arguments, **settings)
    check_first_line("first_lines_pytorch.txt", " ".join([torch_build.name, name, *arguments]), recording.trace, name)


def test_the_report_of_a_sharded_llama_names_a_line_of_it(dry_run, torch_build):
    small = ("--layers=2", "--hidden=256", "--heads=4", "--kv-heads=2", "--ffn=512", "--vocabulary=1000", "--sequence=128",
             "--steps=2")
    recording = dry_run(ROOT / "samples/fsdp_llama.py", *small, rank="0/8")
    check_first_line("first_lines_pytorch.txt", f"{torch_build.name} fsdp_llama.py", recording.trace, "fsdp_llama.py")
