# SPDX-License-Identifier: MIT
"""A trainer validates every few steps, on whole recordings. Its order is zero_grad, backward, step, so the gradients of the
last step are there during the validation. --clear drops them before it."""
import sys

import torch
from torch import nn

CLEAR = "--clear" in sys.argv
EPOCHS, STEPS, RECORDINGS = 3, 6, 4


class Separator(nn.Module):
    def __init__(self, width=2048, layers=8):
        super().__init__()
        self.encode = nn.Linear(256, width)
        self.blocks = nn.ModuleList(nn.Sequential(nn.Linear(width, width), nn.ReLU()) for _ in range(layers))
        self.decode = nn.Linear(width, 256)

    def forward(self, frames):
        hidden = self.encode(frames)
        for block in self.blocks:
            hidden = hidden + block(hidden)
        return self.decode(hidden)


class Trainer:
    def __init__(self, model):
        self.model = model
        self.optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)

    def fit_batch(self, frames):
        self.optimizer.zero_grad()
        loss = (self.model(frames) - frames).abs().mean()
        loss.backward()
        self.optimizer.step()
        return loss.item()

    @torch.no_grad()
    def validate(self):
        self.model.eval()
        total = 0.0
        for _ in range(RECORDINGS):
            frames = torch.randn(48000, 256, device="cuda")
            total += (self.model(frames) - frames).abs().mean().item()
        self.model.train()
        return total / RECORDINGS

    def fit(self):
        for epoch in range(EPOCHS):
            for _ in range(STEPS):
                self.fit_batch(torch.randn(2000, 256, device="cuda"))
            if CLEAR:
                self.optimizer.zero_grad()
            print("epoch", epoch, self.validate())


Trainer(Separator().cuda()).fit()
