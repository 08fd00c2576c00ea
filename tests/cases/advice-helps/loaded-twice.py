# SPDX-License-Identifier: MIT
"""Distils a student from a teacher; both are read from checkpoints. --cpu: reads them to host memory."""
import sys

import torch
from torch import nn

PLACE = "cpu" if "--cpu" in sys.argv else "cuda"


def make(width):
    return nn.Sequential(nn.Linear(1024, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 1024))


def load(name, width):
    """Returns a model, and the checkpoint for its other entries."""
    model = make(width).cuda()
    checkpoint = torch.load(name, map_location=PLACE)
    model.load_state_dict(checkpoint["model"])
    return model, checkpoint


for name, width in (("teacher.pt", 8192), ("student.pt", 4096)):
    torch.save({"model": make(width).state_dict(), "epoch": 3}, name)
teacher, of_teacher = load("teacher.pt", 8192)
student, of_student = load("student.pt", 4096)
print("epochs", of_teacher["epoch"], of_student["epoch"], torch.cuda.memory_allocated(), flush=True)
optimizer = torch.optim.SGD(student.parameters(), lr=0.1)
for step in range(3):
    x = torch.randn(8192, 1024, device="cuda")
    with torch.no_grad():
        wanted = teacher(x)
    nn.functional.mse_loss(student(x), wanted).backward()
    optimizer.step()
    optimizer.zero_grad()
    print(step, torch.cuda.max_memory_allocated(), flush=True)
