# SPDX-License-Identifier: MIT
"""Scores short texts with attention biases by distance, for the longest text allowed. --exact: for the texts at hand."""
import sys

import torch
from torch import nn

LONGEST, WIDTH, TERMS = 55808, 512, 20000


class Scorer(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(TERMS, WIDTH)
        self.query, self.key, self.value = (nn.Linear(WIDTH, WIDTH, bias=False) for _ in range(3))
        self.rate = nn.Parameter(torch.tensor(0.1))
        self.score = nn.Linear(WIDTH, 1)

    def distance_bias(self, length):
        span = length if "--exact" in sys.argv else LONGEST
        bias = torch.zeros(span, span, dtype=torch.float16, device="cuda")
        return bias[:length, :length] - self.rate

    def forward(self, terms):
        bias = self.distance_bias(terms.shape[1])
        x = self.embed(terms)
        weights = torch.softmax(self.query(x) @ self.key(x).transpose(1, 2) + bias, -1)
        return self.score((weights @ self.value(x)).mean(1))


@torch.inference_mode()
def main():
    torch.set_default_dtype(torch.float16)
    with torch.device("cuda"):
        scorer = Scorer()
    for length in (180, 75, 260):
        scorer(torch.zeros(6, length, dtype=torch.long, device="cuda"))
    print("live", torch.cuda.memory_allocated(), "peak", torch.cuda.max_memory_allocated(), flush=True)


main()
