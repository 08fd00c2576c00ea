# SPDX-License-Identifier: MIT
"""An MLP, trained with the optimizer of the first argument."""
import sys

import torch
from torch import nn

from moments import moment, saved_for_backward

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
        with saved_for_backward(model, x, y) as saved:
            loss = nn.functional.cross_entropy(model(x), y)
        moment("forward", model, optimizer, saved)
        loss.backward()
        moment("backward", model, optimizer)
        optimizer.step()
        moment("step", model, optimizer)
        optimizer.zero_grad()
        moment("zero_grad")
    del model, optimizer, loss, x, y
    moment("end")


main()
