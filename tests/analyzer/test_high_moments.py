# SPDX-License-Identifier: MIT
"""`peak --moments`: the highest moments. Between two of these moments, the live bytes fell by more than a quarter of
the lower moment's bytes."""
import pytest

from support.run import load_json, run_command
from support.tracefile import MIB


def go_to(trace, *levels):
    """Allocates and frees single bytes, so that the number of live bytes takes every value between two `levels`. Each
    level has a line of its own."""
    blocks = []
    for level in levels:
        for _ in range(level - len(blocks)):
            blocks.append(trace.alloc(1, stack=trace.stack(("a.py", level, "f"))))
        while len(blocks) > level:
            trace.free(blocks.pop())
    trace.write()


def moments(trace, *options):
    rows = load_json("peak", "--moments", *options, trace.path)["devices"][0]["high_moments"]
    return [(row["live_bytes"], row["site"], row["site_bytes"]) for row in rows]


def test_each_has_the_line_that_held_most_then(trace):
    go_to(trace, 100, 10, 70, 5)
    assert moments(trace) == [(100, "a.py:100 f", 100), (70, "a.py:70 f", 60)]


@pytest.mark.parametrize("low, found", [(60, [100]), (59, [100, 80])])
def test_a_fall_by_more_than_a_quarter_of_the_lower_one_separates(trace, low, found):
    go_to(trace, 100, low, 80, low)
    assert [bytes_ for bytes_, *_ in moments(trace)] == found


def test_a_rise_that_began_low_is_one_moment(trace):
    go_to(trace, 100, 10, 50, 45, 60, 55, 70)
    assert [bytes_ for bytes_, *_ in moments(trace)] == [100, 70]


def test_of_equal_moments_the_earliest_comes_first(trace):
    go_to(trace, 100, 1, 100, 1)
    seqs = [row["seq"] for row in load_json("peak", "--moments", trace.path)["devices"][0]["high_moments"]]
    assert seqs == sorted(seqs) and len(seqs) == 2


def test_no_more_than_ten_are_listed_and_top_leaves_fewer(trace):
    go_to(trace, *(level for high in range(100, 120) for level in (high, 1)))
    assert [bytes_ for bytes_, *_ in moments(trace)] == list(range(119, 109, -1))
    assert len(moments(trace, "--top=3")) == 3


def test_each_layer_has_its_own_moments(trace):
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 3 * MIB)
    trace.write()
    assert moments(trace) == [(3 * MIB, None, 3 * MIB), (20 * MIB, None, 20 * MIB)]


def test_people_are_shown_them_in_place_of_call_stacks(trace):
    go_to(trace, 100, 10, 70)
    text = run_command("peak", "--moments", trace.path).stdout
    assert "The highest separate moments" in text and "By call stack" not in text
    assert run_command("peak", "--moments", "--format=csv", trace.path).stdout.startswith("device,layer,pool,time_ns,seq,live")
