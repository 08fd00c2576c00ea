# SPDX-License-Identifier: MIT
"""Sharpens pictures for a site: mostly icons, once a poster. --release: the pool's idle memory goes back after each picture."""
import sys

import torch
from torch import nn

CHANNELS = 64


class Sharpen(nn.Module):
    def __init__(self):
        super().__init__()
        self.rise = nn.Linear(3, CHANNELS)
        self.mixes = nn.ModuleList(nn.Linear(CHANNELS, CHANNELS) for _ in range(6))
        self.fall = nn.Linear(CHANNELS, 3)

    def forward(self, picture):
        detail = self.rise(picture)
        for mix in self.mixes:
            detail = detail + torch.tanh(mix(detail))
        return self.fall(detail)


@torch.inference_mode()
def serve(model, side):
    picture = torch.zeros(side * side, 3, device="cuda")
    model(picture)
    if "--release" in sys.argv:
        del picture
        torch.cuda.empty_cache()


def main():
    with torch.device("cuda"):
        model = Sharpen()
    for side in (256, 320, 192, 256, 2000, 256, 192, 320, 256, 224, 192, 320, 256, 288):
        serve(model, side)
        print(side, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), flush=True)
    print("peak", torch.cuda.max_memory_allocated())


main()
