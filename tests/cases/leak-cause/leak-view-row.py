# SPDX-License-Identifier: MIT
"""Embeds clips frame by frame and keeps the first frame of each as its key. --clone: keeps a copy of that row."""
import sys

import torch
from torch import nn

CLONE = "--clone" in sys.argv
FRAMES, PIXELS, WIDTH, CLIPS = 256, 3072, 4096, 120


class Embedder(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(PIXELS, WIDTH)
        self.second = nn.Linear(WIDTH, WIDTH)

    def forward(self, frames):
        hidden = torch.relu(self.first(frames))
        return torch.tanh(self.second(hidden))


@torch.inference_mode()
def index_clips(model):
    keys = []
    motion = torch.zeros((), device="cuda")
    for clip in range(CLIPS):
        frames = torch.randn(FRAMES, PIXELS, device="cuda")
        features = model(frames)
        motion += (features[1:] - features[:-1]).square().mean()
        key = features[0]
        keys.append(key.clone() if CLONE else key)
        if clip in (0, 1, 2, 59, 119):
            print(clip + 1, "allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved(), flush=True)
    return keys, motion / CLIPS


def main():
    with torch.device("cuda"):
        model = Embedder().eval()
    keys, motion = index_clips(model)
    print(len(keys), "keys of", keys[0].numel() * keys[0].element_size(), "bytes", flush=True)


main()
