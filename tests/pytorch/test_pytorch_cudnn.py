# SPDX-License-Identifier: MIT
"""In a dry run PyTorch goes through cuDNN where it does on a card, and what cuDNN asks for is allocated."""
import pytest

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


@pytest.mark.parametrize("function", CUDNN)
def test_convolutions_batch_norm_and_recurrent_layers_go_through_cudnn(dry_run, function):
    assert any(function in name for name in functions(dry_run("convolutions.py")))


def test_each_convolution_takes_the_workspace_that_is_set(dry_run):
    marker = 778 * MIB
    none, set_to = (sizes(dry_run("convolutions.py", GPUMEMTRACE_SIM_CONV_WORKSPACE=size)) for size in (0, marker))
    assert marker not in none
    # 8 models with forward and backward of their convolutions, and benchmark mode, which tries it once more for each.
    assert set_to.count(marker) > 60
    assert len(set_to) == len(none) + set_to.count(marker)


def test_a_workspace_of_none_leaves_what_layers_keep(dry_run):
    """The gates and states of two layers in two directions: what an LSTM keeps for its backward, to the byte."""
    state = 20 * 8 * 64 * 2
    reserve = 256 + (2 * 5 + 1) * state * 4 + state // 8
    assert any(reserve <= size < reserve + 512 for size in sizes(dry_run("convolutions.py", GPUMEMTRACE_SIM_CONV_WORKSPACE=0)))


def test_no_word_of_a_call_that_nobody_modelled(dry_run):
    assert "cudnn" not in dry_run("convolutions.py").completed.stderr
