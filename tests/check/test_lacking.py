# SPDX-License-Identifier: MIT
"""If a script fails on the oldest PyTorch, lacking() tells whether the script needs a feature that this release lacks
or has a fault of its own."""
import pytest

from support.pytorch_builds import SCRIPTS, lacking


def failed(place, error):
    return (f'Traceback (most recent call last):\n  File "{SCRIPTS}/gan.py", line 9, in <module>\n    main()\n'
            f'  File "{place}", line 3, in main\n    step()\n    ^^^^^^\n{error}\ngpumemtrace: trace.db\n')


ATTRIBUTE = "AttributeError: module 'torch.amp' has no attribute 'GradScaler'. Did you mean: 'autocast'?"


@pytest.mark.parametrize("error, name", [
    (ATTRIBUTE, "torch.amp.GradScaler"),
    ("ImportError: cannot import name 'fully_shard' from 'torch.distributed.fsdp' (/a/torch/__init__.py)", "torch.distributed.fsdp.fully_shard"),
    ("RuntimeError: Unrecognized CachingAllocator option: expandable_segments", "expandable_segments"),
])  # fmt: skip
def test_what_a_script_asks_for_in_vain_is_named(error, name):
    assert lacking(failed(SCRIPTS / "gan.py", error)) == name


def test_a_keyword_that_a_modules_forward_has_not_is_named():
    error = "TypeError: Transformer.forward() got an unexpected keyword argument 'tgt_is_causal'"
    call = '  File "/a/torch/nn/modules/module.py", line 1501, in _call_impl\n    return forward_call(*args, **kwargs)\n'
    assert lacking(failed(SCRIPTS / "gan.py", call + error)) == "tgt_is_causal"
    assert lacking(failed("<gpumemtrace values>", call + error)) is None


@pytest.mark.parametrize("place", ["<gpumemtrace values>", "/a/torch/nn/modules/module.py"])
def test_what_others_ask_for_is_a_fault(place):
    assert lacking(failed(place, ATTRIBUTE)) is None


@pytest.mark.parametrize("error", [
    "RuntimeError: CUDA error: operation not supported",
    "AttributeError: module 'json' has no attribute 'load'",
    "AttributeError: 'Tensor' object has no attribute 'cuda'",
])  # fmt: skip
def test_another_error_is_a_fault(error):
    assert lacking(failed(SCRIPTS / "gan.py", error)) is None
