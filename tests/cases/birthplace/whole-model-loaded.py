# SPDX-License-Identifier: MIT
"""Loads a whole model onto the card and trains it."""
import os
import tempfile

import torch
from torch import nn

PATH = os.path.join(tempfile.mkdtemp(), "model.pt")

torch.save(nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]), PATH)
model = torch.load(PATH, map_location="cuda", weights_only=False)
os.remove(PATH)
sgd = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(6):
    sgd.zero_grad()
    model(torch.randn(64, 1024, device="cuda")).mean().backward()
    sgd.step()
