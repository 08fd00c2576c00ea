# SPDX-License-Identifier: MIT
"""For every layer type, the estimate's bytes saved for backward equal the bytes that autograd's hooks see."""
import json
import re

import pytest

from pytorch.saved import BATCH, CASES, TYPES, types_of
from support.run import ROOT

ROWS = re.findall(r"^LAYER\((\w+)", (ROOT / "analyzer/estimate/layer/layers.def").read_text(), re.M)
SEEDS_BYTES = {"Attention": 24}  # the seeds of a possible dropout, which newer releases keep on the card
# {layer type that has no counterpart of its own in PyTorch: the suite that compares it, or the reason why none does}
ELSEWHERE = {
    "RMSNorm": "torch 2.6 composes it, 2.15 has a kernel: estimates",
    "RMSNormWide": "estimates", "Rotary": "estimates", "Experts": "estimates", "TokenLoss": "estimates", "Tokens": "estimates",
    "PositionEmbedding": "estimates", "Cache": "estimates", "Cast": "estimates", "Part": "estimates", "Operation": "what describe_torch writes: samples",
    "Ids": "makes ids, saves nothing", "Parameter": "is one", "Buffer": "is one",
}  # fmt: skip


def described(name, dtype):
    """Returns a model file that ends with the layer `name`. Other layers make the inputs of this layer, so that the
    inputs need gradients."""
    fields, shape, _ = CASES[name]
    before = [] if name == "Embedding" else [{"type": "Scale", "name": letter, "from": "read"} for letter in fields.get("from", ["a"])]
    return {"schema": "gpumemtrace.model/1", "input": shape, "dtype": dtype, "batch": BATCH, "layers": [
        *([{"type": "Linear", "name": "read", "out": shape[-1]}] if before else []), *before, {"type": name, "name": "it", **fields}]}  # fmt: skip


def test_every_type_has_a_case_or_is_held_beside_pytorch_elsewhere():
    assert sorted([*CASES, *ELSEWHERE]) == sorted(ROWS)


@pytest.mark.parametrize("dtype", TYPES)
def test_each_layer_saves_for_backward_what_autograds_hooks_see(dry_run, gpumemtrace, dtype):
    measured = json.loads(dry_run(ROOT / "tests/pytorch/saved.py").completed.stdout)
    wrong = {}
    for name in (name for name in CASES if dtype in types_of(name)):
        completed = gpumemtrace("estimate", "-", "--json", input=json.dumps(described(name, dtype)))
        assert completed.returncode == 0, f"{name}: {completed.stderr}"
        (row,) = [row for row in json.loads(completed.stdout)["layers"] if row["name"] == "it"]
        if abs(row["saved_bytes"] - measured[f"{name} {dtype}"]) > SEEDS_BYTES.get(name, 0):
            wrong[name] = row["saved_bytes"], measured[f"{name} {dtype}"]
    assert wrong == {}
