# SPDX-License-Identifier: MIT
"""Trains an agent against a slowly moving copy of itself. --shared: the agent is its own target."""
import copy
import sys

import torch
from torch import nn

STATES, WIDTH, LAYERS, STEPS = 256, 2048, 8, 6


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(STATES, WIDTH)
        self.hidden = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(LAYERS))
        self.values = nn.Linear(WIDTH, 16)

    def forward(self, states):
        x = self.first(states).relu()
        for layer in self.hidden:
            x = layer(x).relu()
        return self.values(x)


class Learner:
    def __init__(self, shares):
        self.agent = Agent().cuda()
        self.target = self.agent if shares else copy.deepcopy(self.agent).requires_grad_(False)
        self.optimizer = torch.optim.SGD(self.agent.parameters(), lr=0.01, momentum=0.9, foreach=False)

    def learn(self, states):
        with torch.no_grad():
            goal = self.target(states).max(1).values
        loss = (self.agent(states).max(1).values - goal).square().mean()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        if self.target is not self.agent:
            with torch.no_grad():
                for slow, fast in zip(self.target.parameters(), self.agent.parameters()):
                    slow.lerp_(fast, 0.01)


def main():
    learner = Learner("--shared" in sys.argv)
    for _ in range(STEPS):
        learner.learn(torch.zeros(64, STATES, device="cuda"))


main()
