# SPDX-License-Identifier: MIT
"""Modules for samples/describe_torch.py. As a program, this file trains one module for three steps and prints PyTorch's counts:

    python described.py NAME [TYPE:]SHAPE      parameters, bytes saved for backward, peaks of allocated and reserved bytes
"""
import sys

import torch
import torch.nn.functional as F
from torch import nn


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.before, self.between, self.heads = nn.LayerNorm(width), nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down, self.dropout = nn.Linear(width, 4 * width), nn.Linear(4 * width, width), nn.Dropout(0.1)

    def forward(self, x):
        batch, tokens, width = x.shape
        query, key, value = self.qkv(self.before(x)).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True).transpose(1, 2).reshape(batch, tokens, width)
        x = x + self.dropout(self.out(mixed))
        return x + self.down(F.gelu(self.up(self.between(x))))


class Decoder(nn.Module):
    """A decoder with learned positions, a head that is tied to the embedding, and a loss inside the module."""

    def __init__(self, words=1000, width=256, tokens=128):
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(tokens, width)
        self.blocks = nn.ModuleList(Block(width, 4) for _ in range(3))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, ids):
        x = self.words(ids) + self.places(torch.arange(ids.shape[1], device=ids.device))
        for block in self.blocks:
            x = block(x)
        scores = self.head(self.norm(x)).flatten(0, 1)
        return F.cross_entropy(scores, torch.zeros(len(scores), dtype=torch.long, device=ids.device))


class Root(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x):
        return self.weight * (x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6))


class Composed(nn.Module):
    """Has layers that the model format does not name: attention written by hand, a norm made of single operations, a
    gate, one selected token."""

    def __init__(self, width=128):
        super().__init__()
        self.into, self.norm, self.gate = nn.Linear(32, width), Root(width), nn.Linear(width, width, bias=False)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, 10)

    def forward(self, x):
        x = self.into(x)
        scores = torch.softmax(self.query(x) @ self.key(x).transpose(1, 2) / 11, -1)
        x = self.norm(scores @ self.value(x))
        x = F.silu(self.gate(x)) * x
        return self.out(x[:, -1]).sum()


class Biased(nn.Module):
    """Attention with a bias for each pair of positions; the bias is computed from parameters only."""

    def __init__(self, tokens=64, heads=8, width=128):
        super().__init__()
        self.into, self.heads, self.out = nn.Linear(32, width), heads, nn.Linear(width, 10)
        self.table = nn.Parameter(torch.zeros(heads, tokens, tokens))

    def forward(self, x):
        batch, tokens, _ = x.shape
        parts = self.into(x).view(batch, tokens, self.heads, -1).transpose(1, 2)
        bias = 16 * torch.sigmoid(self.table)
        scores = torch.softmax(parts @ parts.transpose(2, 3) + bias.unsqueeze(0), -1)
        return self.out((scores @ parts).transpose(1, 2).reshape(batch, tokens, -1)).sum()


class Residual(nn.Module):
    def __init__(self, channels, out):
        super().__init__()
        self.first, self.first_norm = nn.Conv2d(channels, out, 3, 2, 1, bias=False), nn.BatchNorm2d(out)
        self.second, self.second_norm = nn.Conv2d(out, out, 3, 1, 1, bias=False), nn.BatchNorm2d(out)
        self.relu, self.side = nn.ReLU(True), nn.Conv2d(channels, out, 1, 2)

    def forward(self, x):
        y = self.second_norm(self.second(self.relu(self.first_norm(self.first(x)))))
        y += self.side(x)
        return self.relu(y)


class Images(nn.Module):
    """A model for images with an in-place sum, a transposed convolution and a concatenation."""

    def __init__(self):
        super().__init__()
        self.stem, self.pool, self.norm = nn.Conv2d(3, 32, 3, padding=1), nn.MaxPool2d(2), nn.GroupNorm(4, 32)
        self.blocks, self.up = nn.Sequential(Residual(32, 64), nn.Conv2d(64, 64, 3, padding=1)), nn.ConvTranspose2d(64, 32, 2, 2)
        self.head = nn.Linear(64, 100)

    def forward(self, x):
        x = F.silu(self.norm(self.pool(torch.relu(self.stem(x)))))
        x = torch.cat([x, self.up(self.blocks(x))], 1)
        return F.cross_entropy(self.head(x.mean((2, 3))), torch.zeros(len(x), dtype=torch.long, device=x.device))


class Encoder(nn.Module):
    """PyTorch's TransformerEncoder with two parameters that belong to the model itself."""

    def __init__(self, width=64):
        super().__init__()
        self.into, self.head = nn.Linear(16, width), nn.Linear(width, 7)
        self.first, self.places = nn.Parameter(torch.zeros(1, 1, width)), nn.Parameter(torch.zeros(1, 51, width))
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)

    def forward(self, x):
        x = torch.cat([self.first.expand(len(x), -1, -1), self.into(x)], 1) + self.places
        return self.head(self.layers(x)[:, 0]).sum()


def saved_bytes(module, x):
    """Returns the bytes of all storages that autograd saves for backward, without the parameters."""
    saved, own = {}, {tensor.untyped_storage().data_ptr() for tensor in module.parameters()}

    def keep(tensor):
        storage = tensor.untyped_storage()
        saved.update({} if storage.data_ptr() in own else {storage.data_ptr(): storage.nbytes()})
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
        loss = module(x)  # the loss keeps the storages alive, so that no two storages have the same address
    del loss
    return sum(saved.values())


def main(name, text):
    kind, _, sizes = text.rpartition(":")
    module = globals()[name]().cuda()
    optimizer = torch.optim.AdamW(module.parameters())
    for _ in range(3):
        x = torch.zeros([int(size) for size in sizes.split("x")], dtype=getattr(torch, kind or "float32"), device="cuda")
        module(x).backward()
        optimizer.step()
        optimizer.zero_grad()
    counted = torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()
    print(sum(tensor.numel() for tensor in module.parameters()), saved_bytes(module, x), *counted)


if __name__ == "__main__":
    main(*sys.argv[1:])
