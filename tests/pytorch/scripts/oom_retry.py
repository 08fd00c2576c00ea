# SPDX-License-Identifier: MIT
"""A batch that does not fit is tried again with half the size, until it fits."""
import torch
from torch import nn

from moments import moment


def main():
    model = nn.Sequential(nn.Linear(1024, 4096), nn.ReLU(), nn.Linear(4096, 1024)).cuda()
    moment("model")
    size = 1 << 20
    for _ in range(6):
        while True:
            try:
                x = torch.randn(size, 1024, device="cuda")
                moment("batch")
                loss = model(x).sum()
                moment("forward")
                loss.backward()
                moment("backward")
                break
            except torch.cuda.OutOfMemoryError:
                moment("out of memory")
                x = loss = None
                model.zero_grad()
                size //= 2
                moment("smaller")
        model.zero_grad()
    moment("end")


main()
