# SPDX-License-Identifier: MIT
"""Inference under no_grad, with batches of changing size."""
import torch
from torch import nn

from moments import moment


def main():
    model = nn.Sequential(*(nn.Sequential(nn.Linear(512, 512), nn.GELU()) for _ in range(6))).cuda().eval()
    moment("model")
    with torch.no_grad():
        for size in (1, 8, 64, 256, 1024, 64, 512, 2048, 16, 1):
            x = torch.randn(size, 512, device="cuda")
            moment("batch")
            y = model(x)
            moment("forward")
            del x, y
    moment("end")


main()
