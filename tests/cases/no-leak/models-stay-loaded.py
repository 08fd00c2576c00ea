# SPDX-License-Identifier: MIT
"""Runs a queue of image workflows; a model stays on the card once it was used. --unload: each leaves it after its workflow."""
import sys

import torch
from torch import nn

UNLOAD = "--unload" in sys.argv
WIDTHS = {"small": 1024, "large": 2048, "inpaint": 1536, "refine": 1280, "upscale": 768}
QUEUE = ["small"] * 4 + ["large", "small", "large", "inpaint", "large", "small", "inpaint", "refine", "large", "upscale"]
QUEUE += ["small", "refine", "inpaint", "large"] * 4


class Denoiser(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.enter = nn.Linear(16, width)
        self.blocks = nn.ModuleList(nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.GELU(),
                                                  nn.Linear(4 * width, width)) for _ in range(14))
        self.leave = nn.Linear(width, 16)

    def forward(self, latent):
        state = self.enter(latent)
        for block in self.blocks:
            state = state + block(state)
        return self.leave(state)


class Loader:
    def __init__(self):
        self.on_card = {}

    def get(self, name):
        if name not in self.on_card:
            with torch.device("cuda"):
                self.on_card[name] = Denoiser(WIDTHS[name])
        return self.on_card[name]

    def release(self, name):
        del self.on_card[name]


@torch.no_grad()
def run_workflow(loader, name, steps=4):
    model = loader.get(name)
    latent = torch.randn(4096, 16, device="cuda")
    for _ in range(steps):
        latent = latent - 0.1 * model(latent)
    del model
    if UNLOAD:
        loader.release(name)
    return latent


torch.set_default_dtype(torch.half)
loader = Loader()
for number, name in enumerate(QUEUE):
    run_workflow(loader, name)
    print(number + 1, name, torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)
