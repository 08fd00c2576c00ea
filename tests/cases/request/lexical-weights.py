# SPDX-License-Identifier: MIT
"""A text encoder gives each text a weight for each word of the vocabulary. It spreads the weights over a tensor of all
positions and words, of which it takes the maximum. --reduce spreads them into one row for each text."""
import sys

import torch
from torch import nn

REDUCE = "--reduce" in sys.argv
WORDS, WIDTH, DEPTH, BATCH = 250002, 768, 12, 16
LENGTHS = (48, 64, 96, 96, 128, 160, 512, 512)


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        layer = nn.TransformerEncoderLayer(WIDTH, 12, 4 * WIDTH, batch_first=True, dropout=0.0)
        self.layers = nn.TransformerEncoder(layer, DEPTH, enable_nested_tensor=False)
        self.weight = nn.Linear(WIDTH, 1)

    def dense(self, hidden):
        return nn.functional.normalize(hidden[:, 0], dim=-1)

    def lexical(self, hidden, tokens):
        weights = torch.relu(self.weight(hidden))
        if REDUCE:
            row = torch.zeros(tokens.size(0), WORDS, dtype=weights.dtype, device=weights.device)
            return row.scatter_reduce(1, tokens, weights.squeeze(-1), "amax")
        spread = torch.zeros(*tokens.shape, WORDS, dtype=weights.dtype, device=weights.device)
        spread = torch.scatter(spread, dim=-1, index=tokens.unsqueeze(-1), src=weights)
        return spread.max(dim=1).values

    def forward(self, tokens):
        hidden = self.layers(self.words(tokens))
        return self.dense(hidden), self.lexical(hidden, tokens)


class Indexer:
    def __init__(self):
        self.encoder = Encoder().half().cuda().eval()
        self.dense, self.lexical = [], []

    @torch.no_grad()
    def add(self, tokens):
        dense, lexical = self.encoder(tokens.cuda())
        self.dense.append(dense.cpu())
        self.lexical.append(lexical.cpu().to_sparse())


indexer = Indexer()
for number, length in enumerate(LENGTHS):
    indexer.add(torch.randint(WORDS, (BATCH, length)))
    print("batch", number, length)
