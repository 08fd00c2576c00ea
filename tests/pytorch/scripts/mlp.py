# SPDX-License-Identifier: MIT
"""An MLP, trained with the optimizer of the first argument."""
import sys

import torch
from torch import nn

from moments import moment

OPTIMIZERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, foreach=False, fused=False),
    "adam-foreach": lambda p: torch.optim.Adam(p, foreach=True),
    "adam-fused": lambda p: torch.optim.Adam(p, fused=True),
}


def main():
    moment("start")
    model = nn.Sequential(nn.Linear(784, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 10)).cuda()
    moment("model")
    optimizer = OPTIMIZERS[sys.argv[1]](model.parameters())
    moment("optimizer")
    for _ in range(5):
        x = torch.randn(256, 784, device="cuda")
        y = torch.zeros(256, dtype=torch.long, device="cuda")
        moment("batch")
        loss = nn.functional.cross_entropy(model(x), y)
        moment("forward")
        loss.backward()
        moment("backward")
        optimizer.step()
        moment("step")
        optimizer.zero_grad()
        moment("zero_grad")
    del model, optimizer, loss, x, y
    moment("end")


main()
