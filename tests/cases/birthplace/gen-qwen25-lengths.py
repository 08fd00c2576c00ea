# SPDX-License-Identifier: MIT
"""Qwen2.5's shape in bfloat16: reads a prompt, then decodes some tokens. --size=0.5B|1.5B --prompt=N --new=N"""
import argparse

import torch
from torch import nn
from torch.nn import functional as F

SIZES = {  # hidden, layers, heads, key-value heads, feed-forward
    "0.5B": (896, 24, 14, 2, 4864),
    "1.5B": (1536, 28, 12, 2, 8960),
}
VOCABULARY = 151936


class Norm(nn.Module):
    def __init__(self, hidden):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x):
        wide = x.float()
        wide = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + 1e-6)
        return self.weight * wide.to(x.dtype)


def rotate(x, cos, sin):
    half = x.shape[-1] // 2
    return x * cos + torch.cat((-x[..., half:], x[..., :half]), dim=-1) * sin


class Layer(nn.Module):
    def __init__(self, hidden, heads, kv_heads, ffn):
        super().__init__()
        self.heads, self.kv_heads, self.head = heads, kv_heads, hidden // heads
        self.norm_1, self.norm_2 = Norm(hidden), Norm(hidden)
        self.query, self.out = nn.Linear(hidden, hidden), nn.Linear(hidden, hidden, bias=False)
        self.key, self.value = nn.Linear(hidden, kv_heads * self.head), nn.Linear(hidden, kv_heads * self.head)
        self.gate, self.up = nn.Linear(hidden, ffn, bias=False), nn.Linear(hidden, ffn, bias=False)
        self.down = nn.Linear(ffn, hidden, bias=False)

    def split(self, x, heads):
        return x.unflatten(-1, (heads, self.head)).transpose(1, 2)

    def attend(self, x, cos, sin, cache):
        query = rotate(self.split(self.query(x), self.heads), cos, sin)
        key = rotate(self.split(self.key(x), self.kv_heads), cos, sin)
        value = self.split(self.value(x), self.kv_heads)
        if cache:
            key, value = torch.cat((cache[0], key), dim=2), torch.cat((cache[1], value), dim=2)
        cache[:] = [key, value]
        key, value = (t.repeat_interleave(self.heads // self.kv_heads, dim=1) for t in (key, value))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=x.shape[1] > 1)
        return self.out(mixed.transpose(1, 2).flatten(2))

    def feed(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))

    def forward(self, x, cos, sin, cache):
        residual = x
        x = residual + self.attend(self.norm_1(x), cos, sin, cache)
        residual = x
        x = self.norm_2(x)
        return residual + self.feed(x)


class Qwen(nn.Module):
    def __init__(self, hidden, layers, heads, kv_heads, ffn):
        super().__init__()
        self.head = hidden // heads
        self.embedding = nn.Embedding(VOCABULARY, hidden)
        self.layers = nn.ModuleList(Layer(hidden, heads, kv_heads, ffn) for _ in range(layers))
        self.norm = Norm(hidden)

    def forward(self, ids, caches, begin):
        embedded = self.embedding(ids)
        places = torch.arange(begin, begin + ids.shape[1], device=ids.device, dtype=torch.float32)
        angles = places[:, None] / 1e6 ** (torch.arange(0, self.head, 2, device=ids.device) / self.head)
        angles = torch.cat((angles, angles), dim=-1)
        cos, sin = angles.cos().bfloat16(), angles.sin().bfloat16()
        state = embedded
        for layer, cache in zip(self.layers, caches):
            state = layer(state, cos, sin, cache)
        return F.linear(self.norm(state)[:, -1:], self.embedding.weight).float()


@torch.inference_mode()
def generate(model, prompt, new):
    caches = [[] for _ in model.layers]
    ids = torch.zeros(1, prompt, dtype=torch.long, device="cuda")
    token = model(ids, caches, 0).argmax(-1)
    print("after the prompt: peak", torch.cuda.max_memory_allocated() / 2**30, "GiB", flush=True)
    for number in range(new):
        token = model(token, caches, prompt + number).argmax(-1)
    print("at the end: peak", torch.cuda.max_memory_allocated() / 2**30, "GiB")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--size", choices=SIZES, default="0.5B")
    parser.add_argument("--prompt", type=int, default=30720)
    parser.add_argument("--new", type=int, default=8)
    given = parser.parse_args()
    torch.set_default_dtype(torch.bfloat16)
    with torch.device("cuda"):
        model = Qwen(*SIZES[given.size]).eval()
    print("parameters", sum(p.numel() for p in model.parameters()), flush=True)
    generate(model, given.prompt, given.new)


main()
