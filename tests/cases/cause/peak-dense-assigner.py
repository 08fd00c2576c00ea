# SPDX-License-Identifier: MIT
"""Trains a detector whose batches have few boxes, but one is crowded. --direct: the assigner compares edges one by one."""
import sys

import torch
import torch.nn.functional as F
from torch import nn

DIRECT = "--direct" in sys.argv
ROWS, ANCHORS, CLASSES, WIDTH = 16, 8400, 80, 64
BOXES = [24, 40, 32, 56, 20, 48, 300, 36, 28, 44]


def inside_boxes(centers, boxes):
    if DIRECT:
        x, y = centers[:, 0], centers[:, 1]
        left, top, right, bottom = boxes[..., None].unbind(2)
        return (x > left) & (y > top) & (x < right) & (y < bottom)
    left_top = centers - boxes[:, :, None, :2]
    right_bottom = boxes[:, :, None, 2:] - centers
    return torch.cat((left_top, right_bottom), dim=-1).amin(-1) > 1e-9


@torch.no_grad()
def assign(scores, centers, boxes, labels):
    candidates = inside_boxes(centers, boxes)
    owner = candidates.to(torch.int8).argmax(1)
    target = torch.zeros(ROWS, ANCHORS, CLASSES, dtype=torch.int8 if DIRECT else torch.long, device="cuda")
    target.scatter_(2, labels.gather(1, owner).unsqueeze(-1), 1)
    return torch.where(candidates.any(1).unsqueeze(-1), target, 0) * scores.sigmoid()


class Detector(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Linear(3 * 64, 4096)
        self.trunk = nn.Sequential(*(nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()) for _ in range(4)))
        self.spread, self.head = nn.Linear(4096 // 64, WIDTH), nn.Linear(WIDTH, CLASSES)

    def forward(self, images):
        x = self.trunk(self.stem(images)).view(ROWS, -1, 64)
        return self.head(F.relu(self.spread(x)))[:, :ANCHORS]


def main():
    with torch.device("cuda"):
        model, centers = Detector(), torch.rand(ANCHORS, 2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
    for step, count in enumerate(BOXES):
        scores = model(torch.randn(ROWS, 132, 3 * 64, device="cuda"))
        boxes, labels = torch.rand(ROWS, count, 4, device="cuda"), torch.zeros(ROWS, count, dtype=torch.long, device="cuda")
        loss = F.binary_cross_entropy_with_logits(scores, assign(scores, centers, boxes, labels))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(step, "boxes", count, "allocated", torch.cuda.memory_allocated(),
              "peak", torch.cuda.max_memory_allocated(), flush=True)
        torch.cuda.reset_peak_memory_stats()


main()
