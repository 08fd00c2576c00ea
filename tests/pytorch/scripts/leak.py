# SPDX-License-Identifier: MIT
"""A leak: a list keeps each step's loss and output as tensors, without .item(); the program never reads the list."""
import torch
from torch import nn

from moments import moment


def main():
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 1)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    history = []
    moment("model")
    for step in range(25):
        output = model(torch.randn(512, 256, device="cuda"))
        loss = output.mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        history.append((loss, output))
        moment("step")


main()
