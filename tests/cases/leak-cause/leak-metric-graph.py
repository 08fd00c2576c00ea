# SPDX-License-Identifier: MIT
"""Scores batches with a small model and collects the scores for a curve. --plain: detaches the scores first."""
import sys

import torch
from torch import nn

PLAIN = "--plain" in sys.argv


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(20, 64)
        self.head = nn.Linear(64, 9)

    def forward(self, signal):
        hidden = torch.relu(self.embed(signal))
        return self.head(hidden.mean(dim=1))


class Curve:
    def __init__(self):
        self.kept_scores, self.kept_labels = [], []

    def update(self, scores, labels):
        self.kept_scores.append(scores)
        self.kept_labels.append(labels)


def main():
    model = Scorer().cuda()
    curve = Curve()
    for number in range(1000 if PLAIN else 200):
        signal = torch.randn(32, 991, 20, device="cuda")
        labels = torch.randint(-1, 2, (32, 9), device="cuda")
        scores = model(signal)
        curve.update(scores.detach() if PLAIN else scores, labels)
        if number % 50 == 49:
            print(number + 1, torch.cuda.memory_allocated(), flush=True)


main()
