# SPDX-License-Identifier: MIT
"""The first step that is higher than all other steps: it makes what is made once, or has a longer batch."""
from test_steps import ask, steps, train

from support.tracefile import MIB


def test_a_first_step_with_a_longer_batch_is_told_from_what_is_made_once(trace):
    train(trace, 20, scale=lambda step: 3 if step == 1 else 1)
    assert steps(trace)["outlier"]["cause"] == "more bytes at the same call stacks"
    assert ask(trace)["answer"][1] == (
        "In step 1, the same call stacks allocated 3.00 times as much as in other steps, the largest part by train.py:20 "
        "layer_0 (+20.00 MiB): a longer batch or more of the same."
    )


def test_the_first_step_begins_with_the_trace_again_when_better_ends_of_steps_appear(trace):
    for _ in range(2):
        with trace.phase("optimizer"):
            trace.free(trace.alloc(30 * MIB, stack=trace.stack(("train.py", 20, "layer_0"))))
    train(trace, 20, scale=lambda step: 3 if step == 1 else 1)
    (site,) = [site for site in steps(trace)["outlier_sites"] if site["frames"][0]["function"] == "layer_0"]
    assert (site["bytes"], site["typical_bytes"]) == (90 * MIB, 10 * MIB)
