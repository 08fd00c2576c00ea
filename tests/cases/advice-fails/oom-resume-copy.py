# SPDX-License-Identifier: MIT
"""Trains with averaged weights, writes a checkpoint and resumes from it. --cpu: the checkpoint is read to the host."""
import copy
import os
import sys
import tempfile

import torch
from torch import nn

PLACE = "cpu" if "--cpu" in sys.argv else "cuda"
WIDTH, LAYERS, ROWS = 3072, 5, 256


def build():
    with torch.device("cuda"):
        model = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(LAYERS)))
    average = copy.deepcopy(model).requires_grad_(False)
    return model, average, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)


def train(model, average, optimizer, steps):
    for _ in range(steps):
        images = torch.randn(ROWS, WIDTH, device="cuda")
        loss = model(images).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        for kept, new in zip(average.parameters(), model.parameters()):
            kept.lerp_(new.detach(), 0.001)


def first_run(path):
    model, average, optimizer = build()
    train(model, average, optimizer, 3)
    state = {"model": model.state_dict(), "average": average.state_dict(), "optimizer": optimizer.state_dict()}
    torch.save(state, path)
    print("first run: peak", torch.cuda.max_memory_allocated(), flush=True)


def resume(path):
    model, average, optimizer = build()
    checkpoint = torch.load(path, map_location=PLACE)
    model.load_state_dict(checkpoint["model"])
    average.load_state_dict(checkpoint["average"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    print("resumed: allocated", torch.cuda.memory_allocated(), flush=True)
    train(model, average, optimizer, 3)
    print("second run: peak", torch.cuda.max_memory_allocated(), flush=True)


with tempfile.TemporaryDirectory() as folder:
    file = os.path.join(folder, "last.pt")
    first_run(file)
    torch.cuda.reset_peak_memory_stats()
    resume(file)
