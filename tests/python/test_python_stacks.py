# SPDX-License-Identifier: MIT
"""The Python frames in a trace, beside what Python itself says."""
import sys

from tracedstacks import compare_with_traceback

SELF = [sys.executable]


def test_ten_thousand_stacks_are_those_that_traceback_sees(tmp_path):
    count, differing = compare_with_traceback(SELF, 1500, tmp_path)
    assert count >= 10000
    assert differing == []
