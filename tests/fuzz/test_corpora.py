# SPDX-License-Identifier: MIT
"""Each target of the fuzzer, built without the fuzzer, accepts its corpus, so that both stay up to date."""
import pytest

from support.endings import end_of
from support.run import BUILD, ROOT, clean_environment

FOLDER = ROOT / "tests" / "fuzz"
TARGETS = sorted(path.stem for path in FOLDER.glob("*.c") if path.stem != "feed")


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_takes_its_corpus(target):
    inputs = sorted((FOLDER / "corpus" / target).iterdir())
    ending = end_of([BUILD / "tests/fuzz" / target, *inputs], env=clean_environment())
    assert (ending.status, ending.stdout, ending.stderr) == (0, f"{len(inputs)} inputs\n", "")
    assert inputs, "a target without a corpus"


def test_no_corpus_is_without_a_target():
    assert sorted(path.name for path in (FOLDER / "corpus").iterdir()) == TARGETS
