# SPDX-License-Identifier: MIT
"""Each mistake of mistakes.txt can still be made in the sources. Only `make check-mutations` makes the mistakes and
runs the tests, because that takes half an hour."""
from mutations.mistakes import ROOT, mistakes, source_of


def test_each_mistake_can_be_made_in_one_place():
    lost = [f"{number}: {room}: {old}" for number, room, _, old, _ in mistakes() if not source_of(ROOT / room, old)]
    assert not lost, "\n".join(lost)


def test_the_tests_that_must_notice_a_mistake_exist():
    assert not [name for _, _, tests, _, _ in mistakes() for name in tests if not (ROOT / name).exists()]
