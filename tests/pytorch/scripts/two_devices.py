# SPDX-License-Identifier: MIT
"""DataParallel on two devices."""
import torch
from torch import nn

from moments import moment


def main():
    model = nn.DataParallel(nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 16)).cuda())
    moment("model")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for size in (64, 64, 33, 128, 64):
        x = torch.randn(size, 256, device="cuda")
        moment("batch")
        loss = model(x).sum()
        moment("forward")
        loss.backward()
        moment("backward")
        optimizer.step()
        optimizer.zero_grad()
        moment("step")
    with torch.cuda.device(1):
        kept = torch.empty(3 << 20, device="cuda")
    moment("the other device")
    del kept
    moment("end")


main()
