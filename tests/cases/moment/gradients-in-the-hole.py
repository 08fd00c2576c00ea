# SPDX-License-Identifier: MIT
"""Trains on sounds that a large filter cleans first. --first: the gradients are made before the filter's first output."""
import sys

import torch
from torch import nn

WIDTH, LAYERS, SOUNDS, SAMPLES = 2560, 8, 96, 6400000


def clean(sounds):
    """Returns one row for each sound. The spectrum is a temporary."""
    spectrum = torch.empty(SOUNDS, SAMPLES, device="cuda")
    return spectrum[:, :WIDTH] + sounds


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))

    def forward(self, x):
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


def learn(net, optimizer, sounds):
    cleaned = clean(sounds)
    loss = net(cleaned).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad(set_to_none=False)


def main():
    with torch.device("cuda"):
        net = Net()
        sounds = torch.zeros(SOUNDS, WIDTH)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, foreach=False)
    if "--first" in sys.argv:
        for parameter in net.parameters():
            parameter.grad = torch.zeros_like(parameter)
    for number in range(4):
        learn(net, optimizer, sounds)
        print("step", number, torch.cuda.memory_allocated(), torch.cuda.memory_reserved(), flush=True)


main()
