# SPDX-License-Identifier: MIT
"""Decodes latents to images. Nothing is trained. --no-grad tells autograd so."""
import contextlib
import sys

import torch
from torch import nn

NO_GRAD = "--no-grad" in sys.argv
BATCHES = 6


class Up(nn.Module):
    def __init__(self, before, after):
        super().__init__()
        self.conv = nn.Conv2d(before, after, 3, padding=1)
        self.again = nn.Conv2d(after, after, 3, padding=1)

    def forward(self, x):
        x = nn.functional.interpolate(x, scale_factor=2.0)
        x = nn.functional.silu(self.conv(x))
        return nn.functional.silu(self.again(x))


def main():
    ups = Up(128, 128), Up(128, 128), Up(128, 64)
    decoder = nn.Sequential(nn.Conv2d(4, 128, 3, padding=1), *ups, nn.Conv2d(64, 3, 3, padding=1)).to("cuda", dtype=torch.float16)
    with torch.no_grad() if NO_GRAD else contextlib.nullcontext():
        for _ in range(BATCHES):
            latents = torch.randn(4, 4, 96, 96, device="cuda", dtype=torch.float16)
            image = decoder(latents)
            print(tuple(image.shape), torch.cuda.max_memory_allocated(), flush=True)


main()
