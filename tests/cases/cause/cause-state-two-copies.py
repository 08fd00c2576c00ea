# SPDX-License-Identifier: MIT
"""Trains a small network in functional style: one step takes the state and returns the next one.

--donate writes the new values into the buffers of the old state.
"""
import argparse

import torch

WIDTH = 4096
LAYERS = 6
BATCH = 256


def initial_state():
    params = [torch.randn(WIDTH, WIDTH, device="cuda") * 0.01 for _ in range(LAYERS)]
    mean = [torch.zeros_like(weight) for weight in params]
    spread = [torch.zeros_like(weight) for weight in params]
    return params, mean, spread


def gradients(params, x, target):
    leaves = [weight.detach().requires_grad_() for weight in params]
    for weight in leaves:
        x = torch.relu(x @ weight)
    loss = (x - target).square().mean()
    return torch.autograd.grad(loss, leaves)


def adam(params, mean, spread, grads):
    new_mean = [m * 0.9 + g * 0.1 for m, g in zip(mean, grads)]
    new_spread = [s * 0.999 + g * g * 0.001 for s, g in zip(spread, grads)]
    new_params = [w - 1e-3 * m / (s.sqrt() + 1e-8) for w, m, s in zip(params, new_mean, new_spread)]
    return new_params, new_mean, new_spread


def adam_donated(params, mean, spread, grads):
    for w, m, s, g in zip(params, mean, spread, grads):
        m.mul_(0.9).add_(g, alpha=0.1)
        s.mul_(0.999).addcmul_(g, g, value=0.001)
        w.addcdiv_(m, s.sqrt().add_(1e-8), value=-1e-3)
    return params, mean, spread


def step(state, x, target, donate):
    grads = gradients(state[0], x, target)
    return (adam_donated if donate else adam)(*state, grads)


parser = argparse.ArgumentParser()
parser.add_argument("--donate", action="store_true")
donate = parser.parse_args().donate
state = initial_state()
x, target = torch.randn(BATCH, WIDTH, device="cuda"), torch.randn(BATCH, WIDTH, device="cuda")
for number in range(12):
    state = step(state, x, target, donate)
    print(number, torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved(), flush=True)
