# SPDX-License-Identifier: MIT
"""A denoiser with attention over pixels, bfloat16 by autocast and a checkpointed middle block. The script itself
averages the weights, and adds the noise outside of modules."""
import copy

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from moments import moment, saved_for_backward

STEPS = 100


class Block(nn.Module):
    def __init__(self, width, times):
        super().__init__()
        self.norm, self.time = nn.GroupNorm(8, width), nn.Linear(times, width)
        self.one, self.two = nn.Conv2d(width, width, 3, padding=1), nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x, t):
        h = self.one(F.silu(self.norm(x))) + self.time(t)[:, :, None, None]
        return x + self.two(F.silu(h))


class Attention(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.attention = nn.MultiheadAttention(width, 4, batch_first=True)

    def forward(self, x):
        flat = x.flatten(2).transpose(1, 2)
        return x + self.attention(flat, flat, flat, need_weights=False)[0].transpose(1, 2).reshape(x.shape)


class Denoiser(nn.Module):
    def __init__(self, width=32, times=64):
        super().__init__()
        self.time = nn.Sequential(nn.Embedding(STEPS, times), nn.Linear(times, times), nn.SiLU())
        self.first, self.last = nn.Conv2d(3, width, 3, padding=1), nn.Conv2d(width, 3, 3, padding=1)
        self.down, self.up = nn.Conv2d(width, width, 2, 2), nn.ConvTranspose2d(width, width, 2, 2)
        self.middle, self.attention, self.end = Block(width, times), Attention(width), Block(width, times)

    def forward(self, x, t):
        t, x = self.time(t), self.first(x)
        h = checkpoint(self.middle, self.down(x), t, use_reentrant=False)
        return self.last(self.end(self.up(self.attention(h)) + x, t))


def main():
    model = Denoiser().cuda()
    average = copy.deepcopy(model).eval().requires_grad_(False)
    both = nn.ModuleList([model, average])
    kept = torch.linspace(1, 0, STEPS, device="cuda")
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)
    for _ in range(7):
        x = torch.rand(8, 3, 16, 16, device="cuda")
        t = torch.randint(0, STEPS, (len(x),), device="cuda")
        noise = torch.randn_like(x)
        share = kept[t].view(-1, 1, 1, 1)
        noisy = share.sqrt() * x + (1 - share).sqrt() * noise
        with torch.autocast("cuda", dtype=torch.bfloat16), saved_for_backward(model, noisy, t, noise) as saved:
            loss = F.mse_loss(model(noisy, t).float(), noise)
        moment("forward", both, optimizer, saved)
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        moment("backward", both, optimizer)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        with torch.no_grad():
            for mine, theirs in zip(average.parameters(), model.parameters()):
                mine.lerp_(theirs, 0.01)
        moment("step", both, optimizer)


main()
