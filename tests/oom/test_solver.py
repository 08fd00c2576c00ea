# SPDX-License-Identifier: MIT
"""A refused request of an operator that solves or decomposes matrices, in hand-written traces."""
import pytest

from support.pool_run import PoolRun
from support.run import load_json

LINE = ("/home/me/fit.py", 12, "invert")


def why(tmp_path, *operators):
    run = PoolRun(tmp_path / "trace.db")
    for number, operator in enumerate(operators):
        run.trace.name(0x1000 + number, (None, None, f"at::_ops::{operator}::call"))
    run.alloc(400, LINE)
    run.fail(700, *[0x1000 + number for number in range(len(operators))], LINE)
    run.trace.write()
    return next(row["text"] for row in load_json("oom", run.trace.path)["verdict"] if row["role"] == "why")


@pytest.mark.parametrize("operator", ["linalg_inv", "linalg_eigh", "linalg_svd", "cholesky_inverse"])
def test_the_operator_that_the_line_called_is_named(tmp_path, operator):
    said = why(tmp_path, "resize_", "linalg_solve_ex", operator)
    assert f"the request is of {operator}, whose results and workspace grow with the size" in said


@pytest.mark.parametrize("operator", ["linalg_vector_norm", "linalg_cross", "addmm"])
def test_another_operator_is_not_named(tmp_path, operator):
    assert "matrices" not in why(tmp_path, operator)
