# SPDX-License-Identifier: MIT
"""Meta-learns with more and more inner steps. --first-order: the inner gradients have no graph."""
import sys

import torch
from torch import nn
from torch.func import functional_call

SECOND_ORDER = "--first-order" not in sys.argv
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(512, 1024), nn.ReLU(), nn.Linear(1024, 1024), nn.ReLU(), nn.Linear(1024, 64)).cuda()
meta = torch.optim.Adam(net.parameters(), lr=1e-3)


def adapt(x, y, steps, rate=0.1):
    fast = dict(net.named_parameters())
    for _ in range(steps):
        loss = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
        grads = torch.autograd.grad(loss, list(fast.values()), create_graph=SECOND_ORDER)
        fast = {name: value - rate * grad for (name, value), grad in zip(fast.items(), grads)}
    return fast


for steps in (1, 2, 5, 10, 20, 40):
    for _ in range(3):
        x, y = torch.randn(1024, 512, device="cuda"), torch.randn(1024, 64, device="cuda")
        fast = adapt(x, y, steps)
        outer = nn.functional.mse_loss(functional_call(net, fast, (x,)), y)
        meta.zero_grad()
        outer.backward()
        meta.step()
    print(steps, torch.cuda.max_memory_allocated() >> 20, flush=True)
