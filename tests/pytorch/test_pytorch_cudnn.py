# SPDX-License-Identifier: MIT
"""In a dry run, PyTorch calls cuDNN for the same operators as on a card, and cuDNN's workspaces are allocated."""
import json

import pytest

from support.pytorch_builds import SCRIPTS
from support.run import load_json

MIB = 1 << 20
OWN_KERNELS = ("slow_conv", "thnn_conv", "im2col")
CUDNN = ("cudnn_convolution", "cudnn_batch_norm", "_cudnn_rnn")


def functions(recording):
    return [name or "" for (name,) in recording.rows("SELECT DISTINCT function FROM named_frames WHERE kind = 'native'")]


def sizes(recording):
    return [size for (size,) in recording.rows("SELECT size_bytes FROM allocations WHERE memory = 'tensor' ORDER BY seq")]


@pytest.mark.parametrize("script", ["convolutions.py", "resnet.py", "cnn.py", "lstm.py"])
def test_no_convolution_or_recurrent_layer_takes_pytorchs_own_kernels(dry_run, script):
    names = functions(dry_run(script))
    assert not [name for name in names for own in OWN_KERNELS if own in name]


def test_a_resnet_50_goes_through_cudnn_and_is_replayed_as_pytorch_counts_it(dry_run):
    recording = dry_run(SCRIPTS / "strangers/resnet50.py")
    assert not [name for name in functions(recording) for own in OWN_KERNELS if own in name]
    told = json.loads(recording.completed.stdout.splitlines()[-1])
    assert told.pop("parameters") == 25557032  # as published
    (pool,) = load_json("report", recording.trace)["devices"][0]["pools"]
    assert told == {key: pool[key] for key in told}


@pytest.mark.parametrize("function", CUDNN)
def test_convolutions_batch_norm_and_recurrent_layers_go_through_cudnn(dry_run, function):
    assert any(function in name for name in functions(dry_run("convolutions.py")))


def test_each_convolution_takes_the_workspace_that_is_set(dry_run):
    marker = 778 * MIB
    none, set_to = (sizes(dry_run("convolutions.py", GPUMEMTRACE_SIM_CONV_WORKSPACE=size)) for size in (0, marker))
    assert marker not in none
    # The script runs 4 models in two element types, each forward and backward. Then it runs one model in benchmark
    # mode, which allocates the workspace once more for each convolution.
    assert set_to.count(marker) > 60
    assert len(set_to) == len(none) + set_to.count(marker)


def test_a_workspace_of_none_leaves_what_layers_keep(dry_run):
    """An LSTM keeps a reserve space for backward. It has the gates and states of two layers in two directions, and its
    size must be exact to the byte."""
    state = 20 * 8 * 64 * 2
    reserve = 256 + (2 * 5 + 1) * state * 4 + state // 8
    assert any(reserve <= size < reserve + 512 for size in sizes(dry_run("convolutions.py", GPUMEMTRACE_SIM_CONV_WORKSPACE=0)))


def test_no_word_of_a_call_that_nobody_modelled(dry_run):
    assert "cudnn" not in dry_run("convolutions.py").completed.stderr


BENCHMARK = """
import torch
convolution, x = torch.nn.Conv2d(8, 8, 3, bias=False).cuda(), torch.randn(2, 8, 16, 16, device="cuda")
torch.backends.cudnn.benchmark = True
with torch.no_grad():
    for _ in range(3):
        convolution(x)
"""


def test_benchmark_mode_tries_the_largest_workspace_once_for_a_shape(torch_build, tmp_path):
    marker = 778 * MIB
    (tmp_path / "benchmark.py").write_text(BENCHMARK)
    recording = torch_build.dry_run(tmp_path, tmp_path / "benchmark.py", GPUMEMTRACE_SIM_CONV_WORKSPACE=marker)
    assert sizes(recording).count(marker) == 1 + 3


VERSION = """
import torch
print(torch.backends.cudnn.version(), torch._C._cudnn.getRuntimeVersion() == torch._C._cudnn.getCompileVersion())
"""


@pytest.mark.parametrize("values", ["small", "none"])
def test_cudnns_version_is_the_one_that_pytorch_was_built_for(torch_build, tmp_path, values):
    (tmp_path / "version.py").write_text(VERSION)
    found = torch_build.dry_run(tmp_path, tmp_path / "version.py", GPUMEMTRACE_VALUES=values).completed.stdout.split()
    assert found[1] == "True" and 90000 <= int(found[0]) < 99000


ATTENTION = """
import torch
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

class Names(TorchDispatchMode):
    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if "attention" in str(function):
            print(function)
        return function(*args, **(kwargs or {}))

with Names():
    q = torch.randn(2, 8, 1024, 64, device="cuda", dtype=torch.bfloat16, requires_grad=True)
    functional.scaled_dot_product_attention(q, q, q, is_causal=True).sum().backward()
"""
# On an H100, PyTorch 2.9 and later prefer cuDNN's attention if cuDNN is 9.15 or newer. The wheel of PyTorch 2.15 has cuDNN 9.26.
CHOSEN = {("debian", "h100"): "flash", ("wheel", "h100"): "cudnn", ("debian", "a100-40"): "flash", ("wheel", "a100-40"): "flash"}


@pytest.mark.parametrize("card", ["h100", "a100-40"])
def test_attention_goes_the_way_that_pytorch_takes_on_that_card(torch_build, tmp_path, card):
    (tmp_path / "attention.py").write_text(ATTENTION)
    found = torch_build.dry_run(tmp_path, tmp_path / "attention.py", spec=card).completed.stdout.split()
    name = f"aten._scaled_dot_product_{CHOSEN[torch_build.name, card]}_attention"
    assert found == [f"{name}.default", f"{name}_backward.default"]
