# SPDX-License-Identifier: MIT
"""The first line of `report` for each sample, which tests/golden/first_lines.txt stores. The line names a line of the
sample. No two rows of sites read alike."""
import pytest

from support.first_lines import check_first_line
from support.run import ROOT

SAMPLES = sorted(path.stem for path in (ROOT / "samples").glob("*.c"))


@pytest.mark.parametrize("name", SAMPLES)
def test_the_report_of_a_sample_opens_as_stored_and_names_a_line_of_it(name, sample, record):
    check_first_line("first_lines.txt", name, record(sample(name)).trace, f"{name}.c")
