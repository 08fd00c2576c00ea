# SPDX-License-Identifier: MIT
"""Runs DataParallel over all devices. The first device holds the states of the optimizer and gathers the outputs of all
devices."""
import torch
from torch import nn


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.hidden, self.out = nn.Linear(256, 512), nn.Linear(512, 4096)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x)))


def main():
    model = nn.DataParallel(Model().cuda())
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        x = torch.randn(1024, 256, device="cuda")
        y = torch.zeros(1024, dtype=torch.long, device="cuda")
        outputs = model(x)
        loss = nn.functional.cross_entropy(outputs, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


main()
