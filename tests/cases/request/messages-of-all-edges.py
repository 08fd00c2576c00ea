# SPDX-License-Identifier: MIT
"""Trains a graph network on the whole graph. Each layer gathers a message for every edge and adds them up for each node.
--sampled takes a tenth of the edges for each epoch."""
import sys

import torch
from torch import nn

SAMPLED = "--sampled" in sys.argv
NODES, EDGES, FEATURES, CLASSES, EPOCHS = 14049, 9_000_000, 200, 20, 5


class Convolution(nn.Module):
    def __init__(self, inward, outward):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inward, outward) * 0.01)

    def message(self, x_j, norm):
        return norm.view(-1, 1) * x_j

    def propagate(self, edges, x, norm):
        source, target = edges
        messages = self.message(x.index_select(0, source), norm)
        return torch.zeros_like(x).index_add_(0, target, messages)

    def forward(self, x, edges, norm):
        return self.propagate(edges, x @ self.weight, norm)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.nodes = nn.Parameter(torch.randn(NODES, FEATURES))
        self.first, self.second = Convolution(FEATURES, FEATURES), Convolution(FEATURES, CLASSES)

    def forward(self, edges, norm):
        hidden = self.first(self.nodes, edges, norm).relu()
        return self.second(hidden, edges, norm)


edges = torch.zeros(2, EDGES, dtype=torch.long, device="cuda")
norm = torch.ones(EDGES, device="cuda")
labels = torch.zeros(NODES, dtype=torch.long, device="cuda")
model = Net().cuda()
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    chosen = slice(epoch, None, 10) if SAMPLED else slice(None)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(edges[:, chosen], norm[chosen]), labels)
    loss.backward()
    optimizer.step()
    print(epoch, loss.item())
