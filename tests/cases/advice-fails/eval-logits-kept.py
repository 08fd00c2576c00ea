# SPDX-License-Identifier: MIT
"""Evaluates a masked language model and gathers all logits for the metrics. --labels: gathers predicted ids only."""
import sys

import torch
from torch import nn

IDS_ONLY = "--labels" in sys.argv
VOCABULARY, LENGTH, BATCH, BATCHES, WIDTH = 30522, 512, 8, 24, 256


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY)

    def forward(self, ids):
        return self.head(self.embed(ids))


def gather(predictions, more):
    return more if predictions is None else torch.cat((predictions, more), dim=0)


@torch.no_grad()
def evaluate(model):
    all_predictions = None
    for number in range(BATCHES):
        logits = model(torch.randint(VOCABULARY, (BATCH, LENGTH), device="cuda"))
        all_predictions = gather(all_predictions, logits.argmax(-1) if IDS_ONLY else logits)
        print((number + 1) * BATCH, "examples", torch.cuda.memory_allocated(), flush=True)
    return all_predictions


with torch.device("cuda"):
    net = Model().eval()
evaluate(net)
