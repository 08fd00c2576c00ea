# SPDX-License-Identifier: MIT
"""The step that stands out, compared with the average of all other steps."""
from support.run import load_json
from support.tracefile import MIB, Trace


def test_what_few_steps_allocate_is_another_path_than_that_of_most_steps(tmp_path):
    """Each step allocates 100 MiB and frees them. Steps 9 and 17 of 24 also evaluate, and that memory stays."""
    trace = Trace(tmp_path / "trace.db")
    trains, evaluates = trace.stack(("train.py", 20, "train")), trace.stack(("train.py", 52, "evaluate"))
    for step in range(1, 25):
        passing = trace.alloc(100 * MIB, stack=trains)
        if step in (9, 17):
            trace.alloc(110 * MIB, stack=evaluates)
        trace.free(passing)
        trace.step(step)
    page = load_json("steps", trace.write())
    outlier = page["devices"][0]["steps"]["outlier"]
    assert outlier["cause"] == "new call stacks"
    assert "allocated no more" not in page["answer"][1]
