# SPDX-License-Identifier: MIT
"""The stand-in for cuDNN answers through the documented interfaces. Its answers decide which memory a program
allocates."""
import json

import pytest

from support.run import clean_environment, run_command

ASKS = """
import ctypes, json
cuda, cudnn = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL("libcudnn.so.9")
p = ctypes.c_void_p()
assert cuda.cudaMalloc(ctypes.byref(p), ctypes.c_size_t(4096)) == 0
def ints(*values): return (ctypes.c_int * len(values))(*values)
def longs(*values): return (ctypes.c_int64 * len(values))(*values)
def check(status): assert status == 0, status
def new(what):
    made = ctypes.c_void_p()
    check(getattr(cudnn, "cudnnCreate" + what)(ctypes.byref(made)))
    return made
handle = new("")

# The graph interface, by the numbers of its public header.
DESCRIPTOR, INT64 = 15, 3
def descriptor(type, **attributes):
    made = ctypes.c_void_p()
    check(cudnn.cudnnBackendCreateDescriptor(type, ctypes.byref(made)))
    for name, (kind, count, values) in attributes.items():
        check(cudnn.cudnnBackendSetAttribute(made, int(name[1:]), kind, ctypes.c_int64(count), values))
    check(cudnn.cudnnBackendFinalize(made))
    return made
def inner(made): return DESCRIPTOR, 1, ctypes.byref(made)
def tensor(sizes, type, channels_last):
    n, c, h, w = sizes
    strides = (c * h * w, 1, w * c, c) if channels_last else (c * h * w, h * w, w, 1)
    return descriptor(17, _901=(1, 1, ints(type)), _902=(INT64, 4, longs(*sizes)), _903=(INT64, 4, longs(*strides)))
def graph(x, w, y, operation=10, type=0, stride=1, padding=0, channels_last=False):
    names = {10: (704, 703, 705, 702), 11: (716, 715, 717, 714), 12: (710, 709, 711, 708)}[operation]
    how = descriptor(1, _102=(INT64, 2, longs(1, 1)), _103=(INT64, 2, longs(stride, stride)), _105=(INT64, 2, longs(padding, padding)))
    parts = [tensor(t, type, channels_last) for t in (x, w, y)] + [how]
    made = descriptor(operation, **{f"_{name}": inner(part) for name, part in zip(names, parts)})
    result = descriptor(15, _801=inner(made))
    for part in [*parts, made]:
        check(cudnn.cudnnBackendDestroyDescriptor(part))
    return result
def configurations(graph, wanted=8):
    heuristics = descriptor(4, _201=inner(graph), _200=(8, 1, ints(0)))
    made = []
    for _ in range(wanted):
        one = ctypes.c_void_p()
        check(cudnn.cudnnBackendCreateDescriptor(3, ctypes.byref(one)))
        made.append(one)
    count = ctypes.c_int64()
    check(cudnn.cudnnBackendGetAttribute(heuristics, 202, DESCRIPTOR, ctypes.c_int64(wanted), ctypes.byref(count), (ctypes.c_void_p * wanted)(*made)))
    check(cudnn.cudnnBackendDestroyDescriptor(heuristics))
    return made[:count.value]
def workspaces(*words, **settings):
    "Of each engine's plan."
    bytes = ctypes.c_int64()
    result = []
    for configuration in configurations(graph(*words, **settings)):
        plan = descriptor(5, _401=inner(configuration))
        check(cudnn.cudnnBackendGetAttribute(plan, 402, INT64, ctypes.c_int64(1), None, ctypes.byref(bytes)))
        result.append(bytes.value)
    return result

# Recurrent layers: cell, layers, directions, sizes.
def lstm(layers, directions, dropout=0.0, projection=0):
    made, how, data = new("RNNDescriptor"), new("DropoutDescriptor"), new("RNNDataDescriptor")
    check(cudnn.cudnnSetDropoutDescriptor(how, handle, ctypes.c_float(dropout), None, ctypes.c_size_t(0), ctypes.c_ulonglong(0)))
    check(cudnn.cudnnSetRNNDescriptor_v8(made, 0, 2, 2, directions - 1, 0, 0, 0, 0, 24, 64, projection, layers, how, 0))
    check(cudnn.cudnnSetRNNDataDescriptor(data, 0, 0, 20, 8, 24, None, None))
    return made, data
def reserve(*words, **settings):
    work, kept = ctypes.c_size_t(), ctypes.c_size_t()
    check(cudnn.cudnnGetRNNTempSpaceSizes(handle, *lstm(*words, **settings)[:1], 1, lstm(*words)[1], ctypes.byref(work), ctypes.byref(kept)))
    return kept.value
"""
# The input has 16 images of 64 channels, with 40 x 40 pixels.
X, W3, W1, Y = (16, 64, 40, 40), (96, 64, 3, 3), (96, 64, 1, 1), (16, 96, 40, 40)
X_BYTES, W3_BYTES, Y_BYTES = 16 * 64 * 1600 * 4, 96 * 64 * 9 * 4, 16 * 96 * 1600 * 4


def ask(folder, code, card="h100", **environment):
    completed = run_command("run", "-o", folder / "trace.db", f"--dry-run={card}", "--", "/usr/bin/python3", "-c",
                            f"{ASKS}\nprint(json.dumps({code}))", env=clean_environment(**environment), cwd=folder)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout.splitlines()[-1])


def test_a_convolution_in_nchw_copies_its_tensors_for_tensor_cores_and_has_an_engine_without(tmp_path):
    assert ask(tmp_path, f"workspaces({X}, {W3}, {Y}, padding=1)") == [X_BYTES + W3_BYTES + Y_BYTES, 0]


@pytest.mark.parametrize("words", [f"{X}, {W3}, {Y}, padding=1, channels_last=True", f"{X}, {W1}, {Y}"])
def test_channels_last_and_1x1_filters_need_no_copies(tmp_path, words):
    assert ask(tmp_path, f"workspaces({words})") == [0, 0]


def test_a_card_without_tensor_cores_for_the_type_has_the_plain_engine_only(tmp_path):
    assert ask(tmp_path, f"[workspaces({X}, {W3}, {Y}, type=type) for type in (0, 2, 1)]", card="t4") == [[0], [pytest.approx(
        (X_BYTES + W3_BYTES + Y_BYTES) // 2), 0], [0]]  # fmt: skip


def test_the_workspace_that_is_set_is_that_of_every_engine(tmp_path):
    assert ask(tmp_path, f"workspaces({X}, {W1}, {Y})", GPUMEMTRACE_SIM_CONV_WORKSPACE="3MiB") == [3 << 20, 3 << 20]


def test_as_many_configurations_are_counted_as_were_wanted(tmp_path):
    assert ask(tmp_path, f"[len(configurations(graph({X}, {W3}, {Y}), wanted)) for wanted in (1, 2, 8)]") == [1, 2, 2]


def test_an_lstm_keeps_what_a_card_was_seen_to_keep(tmp_path):
    """The sizes were seen with PyTorch 2.11 on an H100: sequence length 20, batch 8, input size 24, hidden size 64."""
    wanted = "[reserve(1, 1), reserve(2, 1), reserve(3, 1), reserve(2, 2), reserve(2, 1, dropout=.1), reserve(2, 1, projection=32)]"
    assert ask(tmp_path, wanted) == [205056, 450816, 696576, 901376, 452096, 573696]


def test_the_weights_of_an_lstm_lie_one_behind_the_other_and_its_biases_behind_them(tmp_path):
    code = """[(lambda m, b: [m.value, b.value])(*((lambda m, b: (check(cudnn.cudnnGetRNNWeightParams(handle, lstm(1, 1)[0], 0,
        ctypes.c_size_t(1 << 20), ctypes.c_void_p(1 << 20), id, new("TensorDescriptor"), ctypes.byref(m), new("TensorDescriptor"),
        ctypes.byref(b))), (m, b))[1])(ctypes.c_void_p(), ctypes.c_void_p()))) for id in range(8)]"""
    rows = ask(tmp_path, code)
    matrices = [24 * 64] * 4 + [64 * 64] * 4
    starts = [sum(matrices[:id]) * 4 + (1 << 20) for id in range(8)]
    biases = [(1 << 20) + (sum(matrices) + id * 64) * 4 for id in range(8)]
    assert rows == [list(row) for row in zip(starts, biases)]


def test_the_states_of_dropout_are_those_of_a_cards_multiprocessors(tmp_path):
    code = "(lambda n: (check(cudnn.cudnnDropoutGetStatesSize(handle, ctypes.byref(n))), n.value)[1])(ctypes.c_size_t())"
    assert ask(tmp_path, code) == 6488064


def test_the_option_needs_a_dry_run_and_a_size(gpumemtrace):
    for words, part in (([], "needs --dry-run"), (["--dry-run=1GiB"], "'much' is not a size")):
        refused = gpumemtrace("run", *words, "--conv-workspace=much" if words else "--conv-workspace=1MiB", "--", "true", check=False)
        assert refused.returncode == 2
        assert part in " ".join(refused.stderr.split())
