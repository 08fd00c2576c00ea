# SPDX-License-Identifier: MIT
"""The estimate is compared with published figures of real cards. It must be within its limits and equal to the stored
table."""
import statistics

import pytest

from estimates import published


@pytest.fixture(scope="module")
def rows():
    return published.measure(published.ROWS)


def test_ten_figures_of_real_cards_come_out(rows):
    off = [abs(published.percent(row)) for row in rows]
    assert len(off) >= 10 and min(row[2] for row in rows) >= 3.9 * published.GIB
    assert statistics.median(off) <= published.MEDIAN_MOST and max(off) <= published.WORST_MOST


def test_the_table_in_the_tree_is_that_of_today(rows):
    assert (published.HERE / "published.txt").read_text() == "\n".join(published.table(rows, published.measure(published.MISSES))) + "\n"
