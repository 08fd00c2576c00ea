# SPDX-License-Identifier: MIT
"""Resumes a training from a checkpoint with Adam's states, and keeps the checkpoint. --del deletes it before the steps."""
import os
import sys
import tempfile

import torch
from torch import nn

DELETES = "--del" in sys.argv
PATH = os.path.join(tempfile.mkdtemp(), "resume.pt")


def make(device):
    return nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).to(device)


def save():
    model = make("cpu")
    adam = torch.optim.Adam(model.parameters())
    for parameter in model.parameters():
        parameter.grad = torch.zeros_like(parameter)
    adam.step()
    torch.save({"model": model.state_dict(), "adam": adam.state_dict()}, PATH)


save()
state = torch.load(PATH, map_location="cuda")
os.remove(PATH)
model = make("cuda")
model.load_state_dict(state["model"])
adam = torch.optim.Adam(model.parameters())
adam.load_state_dict(state["adam"])
if DELETES:
    del state
for _ in range(6):
    adam.zero_grad()
    model(torch.randn(64, 1024, device="cuda")).mean().backward()
    adam.step()
