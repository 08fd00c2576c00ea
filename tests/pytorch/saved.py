# SPDX-License-Identifier: MIT
"""Has PyTorch's counterpart of each layer of the estimate, and counts the bytes that autograd saves for it.

    python saved.py      in a dry run: bytes saved for backward by layer and element type, as JSON

A case is the layer's fields in a model file, the shape of one input sample, and the PyTorch code: a module, or a function
of the inputs.
"""
import json
import math
import sys

BATCH = 6
FLAT, ROWS, LINE, PLANE, CUBE = [16], [12, 16], [8, 20], [8, 12, 10], [4, 6, 8, 5]
WINDOW = {"kernel": 3, "stride": 2, "padding": 1}


def rms_norm(nn, torch):
    class Norm(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(16))

        def forward(self, x):
            wide = x.to(torch.float32)
            wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
            return self.weight * wide.to(x.dtype)

    return Norm()


def stochastic_depth(torch, x):
    noise = torch.empty([len(x)] + [1] * (x.dim() - 1), dtype=x.dtype, device=x.device).bernoulli_(0.9).div_(0.9)
    return x * noise


def new_gelu(torch, x):
    return 0.5 * x * (1.0 + torch.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * torch.pow(x, 3.0))))


def fast_gelu(torch, x):
    return 0.5 * x * (1.0 + torch.tanh(x * 0.7978845608 * (1.0 + 0.044715 * x * x)))


def attention(torch, q, k, v):
    heads = [x.view(len(x), -1, 2, 8).transpose(1, 2) for x in (q, k, v)]
    result = torch.nn.functional.scaled_dot_product_attention(*heads)
    return result.transpose(1, 2).reshape(q.shape)


# {layer type: ({fields}, shape of a sample, function of (nn, torch) that returns a module or a function)}. The loop
# below adds the layers that exist for several dimensions.
CASES = {
    "Linear": ({"out": 24}, ROWS, lambda nn, torch: nn.Linear(16, 24)),
    "InProjection": ({}, ROWS, lambda nn, torch: nn.Linear(16, 48)),
    "BatchNorm1d": ({}, FLAT, lambda nn, torch: nn.BatchNorm1d(16)),
    "BatchNorm2d": ({}, PLANE, lambda nn, torch: nn.BatchNorm2d(8)),
    "BatchNorm3d": ({}, CUBE, lambda nn, torch: nn.BatchNorm3d(4)),
    "GroupNorm": ({"groups": 4}, PLANE, lambda nn, torch: nn.GroupNorm(4, 8)),
    "LayerNorm": ({}, ROWS, lambda nn, torch: nn.LayerNorm(16)),
    "RMSNormEager": ({}, ROWS, rms_norm),
    "Embedding": ({"num": 50, "dim": 16}, [12], lambda nn, torch: nn.Embedding(50, 16)),
    "LSTM": ({"hidden": 20}, ROWS, lambda nn, torch: nn.LSTM(16, 20, batch_first=True)),
    "GRU": ({"hidden": 20}, ROWS, lambda nn, torch: nn.GRU(16, 20, batch_first=True)),
    "RNN": ({"hidden": 20}, ROWS, lambda nn, torch: nn.RNN(16, 20, batch_first=True)),
    "ReLU": ({}, PLANE, lambda nn, torch: nn.ReLU()),
    "Sigmoid": ({}, PLANE, lambda nn, torch: nn.Sigmoid()),
    "Tanh": ({}, PLANE, lambda nn, torch: nn.Tanh()),
    "Softmax": ({}, ROWS, lambda nn, torch: nn.Softmax(-1)),
    "LogSoftmax": ({}, ROWS, lambda nn, torch: nn.LogSoftmax(-1)),
    "GELU": ({}, PLANE, lambda nn, torch: nn.GELU()),
    "NewGELU": ({}, PLANE, lambda nn, torch: lambda x: new_gelu(torch, x)),
    "FastGELU": ({}, PLANE, lambda nn, torch: lambda x: fast_gelu(torch, x)),
    "QuickGELU": ({}, PLANE, lambda nn, torch: lambda x: x * torch.sigmoid(1.702 * x)),
    "Softplus": ({}, PLANE, lambda nn, torch: nn.Softplus()),
    "SiLU": ({}, PLANE, lambda nn, torch: nn.SiLU()),
    "Mish": ({}, PLANE, lambda nn, torch: nn.Mish()),
    "Hardswish": ({}, PLANE, lambda nn, torch: nn.Hardswish()),
    "Hardsigmoid": ({}, PLANE, lambda nn, torch: nn.Hardsigmoid()),
    "ReLU6": ({}, PLANE, lambda nn, torch: nn.ReLU6()),
    "LeakyReLU": ({}, PLANE, lambda nn, torch: nn.LeakyReLU()),
    "Dropout": ({"p": 0.1}, PLANE, lambda nn, torch: nn.Dropout(0.1)),
    "StochasticDepth": ({"p": 0.1}, PLANE, lambda nn, torch: lambda x: stochastic_depth(torch, x)),
    "AdaptiveAvgPool1d": ({"output": 3}, LINE, lambda nn, torch: nn.AdaptiveAvgPool1d(3)),
    "AdaptiveAvgPool2d": ({"output": 3}, PLANE, lambda nn, torch: nn.AdaptiveAvgPool2d(3)),
    "AdaptiveAvgPool3d": ({"output": 3}, CUBE, lambda nn, torch: nn.AdaptiveAvgPool3d(3)),
    "Flatten": ({}, PLANE, lambda nn, torch: nn.Flatten()),
    "Identity": ({}, PLANE, lambda nn, torch: nn.Identity()),
    "View": ({"shape": [16, 12]}, ROWS, lambda nn, torch: lambda x: x.view(-1, 16, 12)),
    "Permute": ({"order": [1, 0]}, ROWS, lambda nn, torch: lambda x: x.permute(0, 2, 1)),
    "First": ({}, ROWS, lambda nn, torch: lambda x: x[:, 0]),
    "Float": ({}, ROWS, lambda nn, torch: lambda x: x.float()),
    "Scale": ({}, ROWS, lambda nn, torch: lambda x: x * 0.5),
    "Add": ({"from": ["a", "b"]}, ROWS, lambda nn, torch: lambda x, y: x + y),
    "Mul": ({"from": ["a", "b"]}, ROWS, lambda nn, torch: lambda x, y: x * y),
    "Cat": ({"from": ["a", "b"]}, PLANE, lambda nn, torch: lambda x, y: torch.cat([x, y], 1)),
    "CatLast": ({"from": ["a", "b"]}, ROWS, lambda nn, torch: lambda x, y: torch.cat([x, y], -1)),
    "Attention": ({"from": ["a", "b", "c"], "heads": 2}, ROWS, lambda nn, torch: lambda *qkv: attention(torch, *qkv)),
    "CrossEntropyLoss": ({}, FLAT, lambda nn, torch: nn.CrossEntropyLoss()),
    "MSELoss": ({}, FLAT, lambda nn, torch: nn.MSELoss()),
}  # fmt: skip
for rank, shape in ((1, LINE), (2, PLANE), (3, CUBE)):
    words = {"kernel_size": 3, "stride": 2, "padding": 1}
    CASES[f"Conv{rank}d"] = {"out": 6, **WINDOW}, shape, lambda nn, torch, rank=rank, shape=shape: getattr(nn, f"Conv{rank}d")(shape[0], 6, 3, 2, 1)
    CASES[f"ConvTranspose{rank}d"] = {"out": 6, **WINDOW}, shape, lambda nn, torch, rank=rank, shape=shape: getattr(
        nn, f"ConvTranspose{rank}d")(shape[0], 6, 3, 2, 1)  # fmt: skip
    CASES[f"MaxPool{rank}d"] = WINDOW, shape, lambda nn, torch, rank=rank: getattr(nn, f"MaxPool{rank}d")(3, 2, 1)
    CASES[f"AvgPool{rank}d"] = WINDOW, shape, lambda nn, torch, rank=rank: getattr(nn, f"AvgPool{rank}d")(3, 2, 1)
TYPES = ("float32", "bfloat16")
# These are tested only in float32. In bfloat16, PyTorch's releases differ: cuDNN keeps a copy of the weights, or
# PyTorch composes the layer of single operations.
RECURRENT = ("LSTM", "GRU", "RNN")


def types_of(name):
    return TYPES[:1] if name in RECURRENT else TYPES


def saved_bytes(torch, name, dtype):
    """Returns the bytes of the storages that autograd saves for this layer, without parameters, buffers and targets."""
    fields, shape, make = CASES[name]
    layer = make(torch.nn, torch)
    own, targets = [], []
    if isinstance(layer, torch.nn.Module):
        layer.to("cuda", getattr(torch, dtype))
        own = [*layer.parameters(), *layer.buffers()]
    inputs = [torch.zeros(BATCH, *shape, device="cuda", dtype=torch.long if name == "Embedding" else getattr(torch, dtype))
              for _ in fields.get("from", ["input"])]  # fmt: skip
    if name != "Embedding":
        inputs = [x.requires_grad_() * 1 for x in inputs]
    if "Loss" in name:  # a loss also needs a target
        targets = [torch.zeros(BATCH, dtype=torch.long, device="cuda") if name == "CrossEntropyLoss" else torch.zeros_like(inputs[0])]
    given = {tensor.untyped_storage().data_ptr() for tensor in [*own, *targets]}
    saved = {}

    def keep(tensor):
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in given and tensor.is_cuda:
            saved[storage.data_ptr()] = storage.nbytes()
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        result = layer(*inputs, *targets)  # keeps the storages alive, so that each has its own address
    del result
    return sum(saved.values())


def main():
    import torch

    json.dump({f"{name} {dtype}": saved_bytes(torch, name, dtype) for name in CASES for dtype in types_of(name)}, sys.stdout)


if __name__ == "__main__":
    main()
