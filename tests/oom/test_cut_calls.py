# SPDX-License-Identifier: MIT
"""A checkpoint of the calls of a layer, where the failure cut the last call short."""
import pytest
from test_remedies import CALL, Run, layer

from support.tracefile import MIB


@pytest.fixture
def run(tmp_path):
    return Run(tmp_path / "trace.db")


@pytest.mark.parametrize("ends", [2, 5, 6])
def test_a_line_of_several_modules_does_not_hide_the_layer_where_its_last_call_was_cut_short(run, ends):
    """Line 3 calls three linears and an activation, as in down(silu(gate(x)) * up(x))."""
    linear = ("/lib/torch/nn/modules/linear.py", 125, "Linear.forward"), CALL
    silu = ("/home/me/act.py", 9, "SiLU.forward"), CALL
    steps = [(10, layer(2)), (40, linear + layer(3)), (40, silu + layer(3)), (40, linear + layer(3)), (40, layer(3)), (20, linear + layer(3))]
    with run.trace.phase("forward"):
        for number in range(4):
            made = [run.alloc(size, *place) for size, place in steps[: ends if number == 3 else None]]
            if number < 3:
                run.alloc(20, *layer(5))
                run.free(made[-1])
        run.fail(200, *linear, *layer(3))
    checkpoint = run.remedies()["checkpoint"]
    # Three outputs of 20 MiB remain, of calls that keep 190 MiB each.
    assert (checkpoint["advice"], checkpoint["gain_bytes"]) == ("checkpoint each Layer called by train.py:20", 3 * 170 * MIB)
