# SPDX-License-Identifier: MIT
"""Saves a trained model, resumes from the file and trains on. --drop lets go of what was loaded once it has been handed over."""
import os
import sys
import tempfile

import torch
from torch import nn

DROP = "--drop" in sys.argv
WIDTH, LAYERS, BATCH = 2048, 12, 64


def new_run():
    layers = []
    for _ in range(LAYERS):
        layers += [nn.Linear(WIDTH, WIDTH, bias=False), nn.GELU()]
    model = nn.Sequential(*layers).cuda()
    return model, torch.optim.Adam(model.parameters(), lr=1e-4, fused=True)


def train(model, optimizer, steps):
    for _ in range(steps):
        x = torch.randn(BATCH, WIDTH, device="cuda")
        loss = (model(x) - x).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def first_run(path):
    model, optimizer = new_run()
    train(model, optimizer, 2)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 2}, path)
    print("first run peak", torch.cuda.max_memory_allocated(), flush=True)


def main():
    path = os.path.join(tempfile.mkdtemp(), "last.pt")
    first_run(path)
    print("between the runs", torch.cuda.memory_allocated(), flush=True)
    torch.cuda.reset_peak_memory_stats()
    checkpoint = torch.load(path, map_location="cuda")
    os.remove(path)
    model, optimizer = new_run()
    model.load_state_dict(checkpoint["model"])
    optimizer.load_state_dict(checkpoint["optimizer"])
    first_step = checkpoint["step"]
    if DROP:
        del checkpoint
    print("resumed at", first_step, torch.cuda.memory_allocated(), flush=True)
    train(model, optimizer, 5)
    print("second run", torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), flush=True)


main()
