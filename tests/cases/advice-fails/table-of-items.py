# SPDX-License-Identifier: MIT
"""A recommender ranks an item that a user took above one that he did not take. Both items are looked up in one table of ten
million rows, and each look-up gives a gradient as large as the table. --sparse keeps only the rows that were looked up."""
import sys

import torch
from torch import nn

SPARSE = "--sparse" in sys.argv
USERS, ITEMS, WIDTH, BATCH, STEPS = 500000, 10000000, 64, 8192, 10


class Ranker(nn.Module):
    def __init__(self):
        super().__init__()
        self.users = nn.Embedding(USERS, WIDTH, sparse=SPARSE)
        self.items = nn.Embedding(ITEMS, WIDTH, sparse=SPARSE)
        self.mix = nn.Sequential(nn.Linear(WIDTH, 256), nn.ReLU(), nn.Linear(256, WIDTH))

    def score(self, user, item):
        return (user * item).sum(-1)

    def forward(self, user, taken, other):
        user = self.mix(self.users(user))
        taken = self.items(taken)
        other = self.items(other)
        return self.score(user, taken), self.score(user, other)


def batches():
    for _ in range(STEPS):
        user = torch.randint(USERS, (BATCH,))
        taken, other = torch.randint(ITEMS, (2, BATCH))
        yield user.cuda(), taken.cuda(), other.cuda()


def main():
    with torch.device("cuda"):
        model = Ranker()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for step, (user, taken, other) in enumerate(batches()):
        optimizer.zero_grad()
        liked, ignored = model(user, taken, other)
        loss = -nn.functional.logsigmoid(liked - ignored).mean()
        loss.backward()
        optimizer.step()
        print("step", step, loss.item())


main()
