# SPDX-License-Identifier: MIT
"""A small training loop that leaks, or only seems to leak: growth.py
list | cache | closure | outputs | adam | lengths | bounded"""
import collections
import sys

import torch
from torch import nn

STEPS = 40
cache = {}
recent = collections.OrderedDict()


def build():
    model = nn.Sequential(nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 256)).cuda()
    return model, torch.optim.Adam(model.parameters())


def step_of(model, optimizer, rows=128):
    loss = model(torch.randn(rows, 256, device="cuda")).mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()
    return loss


def collect_losses(model, optimizer):
    """The list keeps each loss together with a mask of its batch."""
    losses = []
    for _ in range(STEPS):
        mask = torch.zeros(512, 256, device="cuda")
        loss = step_of(model, optimizer)
        losses.append((loss, mask))
    return losses


def mask_of(step):
    """Returns the mask of a training step from a cache, whose keys never come again."""
    if step not in cache:
        cache[step] = torch.zeros(1024, 256, device="cuda")
    return cache[step]


def cache_masks(model, optimizer):
    for step in range(STEPS):
        mask_of(step)
        step_of(model, optimizer)


def register_callbacks(model, optimizer):
    """Each callback holds the tensor that it closes over."""
    callbacks = []

    def watch(step):
        seen = torch.zeros(768, 256, device="cuda")
        callbacks.append(lambda: (step, seen))

    for step in range(STEPS):
        watch(step)
        step_of(model, optimizer)
    return callbacks


def collect_outputs(model, _):
    """Keeps outputs, with an optimizer that allocates in its first step only."""
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    outputs = []
    for _ in range(STEPS):
        output = model(torch.randn(128, 256, device="cuda")).detach()
        step_of(model, optimizer)
        outputs.append(output)
    return outputs


def train(model, optimizer):
    for _ in range(STEPS):
        step_of(model, optimizer)


def train_on_lengths(model, optimizer):
    """The last loss holds no graph, but its batch was longer or shorter than this one."""
    for step in range(STEPS):
        held = torch.zeros(64 + step * 41 % 101 * 16, 256, device="cuda")
        step_of(model, optimizer, 64 + step * 29 % 97)
        del held


def keep_recent(model, optimizer):
    """Of many shapes the last eight."""
    for step in range(STEPS):
        recent[step] = torch.zeros(1024, 256, device="cuda")
        if len(recent) > 8:
            recent.popitem(last=False)
        step_of(model, optimizer)


LOOPS = {"list": collect_losses, "cache": cache_masks, "closure": register_callbacks,
         "outputs": collect_outputs, "adam": train, "lengths": train_on_lengths, "bounded": keep_recent}  # fmt: skip
held = LOOPS[sys.argv[1]](*build())
