# SPDX-License-Identifier: MIT
"""Loads the weights of a teacher onto the card, and makes a student from a second model of the same size."""
import os
import tempfile

import torch
from torch import nn

PATH = os.path.join(tempfile.mkdtemp(), "teacher.pt")


def make(device):
    return nn.Sequential(*[nn.Linear(1024, 1024) for _ in range(8)]).to(device)


torch.save(make("cpu").state_dict(), PATH)
weights = torch.load(PATH, map_location="cuda")
averages = {name: weight.clone() for name, weight in weights.items()}
os.remove(PATH)
student = make("cuda")
student.load_state_dict(weights)
sgd = torch.optim.SGD(student.parameters(), lr=0.1)
for _ in range(6):
    sgd.zero_grad()
    student(torch.randn(64, 1024, device="cuda")).mean().backward()
    sgd.step()
    for name, weight in student.state_dict().items():
        averages[name].lerp_(weight, 0.1)
