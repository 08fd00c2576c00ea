# SPDX-License-Identifier: MIT
"""Trains a critic with a penalty on its slope at mixed samples. --grad asks for that slope without filling .grad."""
import sys

import torch
from torch import nn

GRAD = "--grad" in sys.argv
WIDTH, BATCH, STEPS = 1024, 2048, 25


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.Tanh(), nn.Linear(WIDTH, WIDTH), nn.Tanh())
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, x):
        return self.head(self.body(x))


def slope_penalty(critic, real, fake):
    share = torch.rand(real.shape[0], 1, device="cuda")
    mixed = torch.lerp(fake, real, share).requires_grad_()
    score = critic(mixed).sum()
    if GRAD:
        slope, = torch.autograd.grad(score, mixed, create_graph=True)
    else:
        score.backward(create_graph=True)
        slope = mixed.grad
    return (slope.norm(dim=1) - 1).square().mean()


def main():
    critic = Critic().cuda()
    optimizer = torch.optim.RMSprop(critic.parameters(), lr=5e-5)
    for step in range(STEPS):
        real = torch.randn(BATCH, WIDTH, device="cuda")
        fake = torch.randn(BATCH, WIDTH, device="cuda")
        penalty = slope_penalty(critic, real, fake)
        optimizer.zero_grad()
        loss = critic(fake).mean() - critic(real).mean() + 10 * penalty
        loss.backward()
        optimizer.step()
        if step in (1, 2, 3, 4, STEPS - 1):
            print(step + 1, torch.cuda.memory_allocated(), flush=True)


main()
