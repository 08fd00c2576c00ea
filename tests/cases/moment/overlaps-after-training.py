# SPDX-License-Identifier: MIT
"""Trains a small segmenter, then compares every predicted mask with every true mask of an image. --rows compares one
predicted mask at a time."""
import sys

import torch
from torch import nn

ROWS = "--rows" in sys.argv
SIZE, TRUE, STEPS, IMAGES = 640, 30, 6, 4


def overlaps(found, true):
    a = found.flatten(1).float()
    b = true.flatten(1).float()
    both = torch.stack([(row * b).sum(-1) for row in a]) if ROWS else (a[:, None] * b).sum(-1)
    return both / (a.sum(-1)[:, None] + b.sum(-1) - both)


def main():
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 2, 1), nn.ReLU(), nn.Conv2d(16, 100, 3, 2, 1)).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        loss = model(torch.rand(8, 3, SIZE, SIZE).cuda()).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    with torch.no_grad():
        for _ in range(IMAGES):
            masks = nn.functional.interpolate(model(torch.rand(1, 3, SIZE, SIZE).cuda()), size=(SIZE, SIZE))[0] > 0
            true = torch.rand(TRUE, SIZE, SIZE).cuda() > 0.5
            print(tuple(overlaps(masks, true).shape), torch.cuda.max_memory_allocated(), flush=True)


main()
