# SPDX-License-Identifier: MIT
"""Trains a tagger with plain SGD, then tags a corpus and keeps all scores. --tags keeps only the best tag of each word."""
import sys

import torch
from torch import nn

TAGS = "--tags" in sys.argv
STEPS, BATCHES = 6, 16


class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.body, self.head = nn.Linear(512, 2048), nn.Linear(2048, 8192)

    def forward(self, words):
        return self.head(torch.relu(self.body(words)))


def train(model):
    sgd = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(STEPS):
        sgd.zero_grad()
        model(torch.randn(256, 512, device="cuda")).mean().backward()
        sgd.step()


def tag(model):
    kept = []
    with torch.inference_mode():
        for _ in range(BATCHES):
            scores = model(torch.randn(1024, 512, device="cuda"))
            kept.append(scores.argmax(1) if TAGS else scores)
    return kept


model = Tagger().cuda()
train(model)
print(len(tag(model)), "batches")
