# SPDX-License-Identifier: MIT
"""Trains a diffusion model of poses, then tests it: each clip is drawn as many hypotheses at once. --few draws fewer."""
import sys

import torch
from torch import nn

HYPOTHESES = 4 if "--few" in sys.argv else 20
FRAMES, JOINTS, WIDTH, EPOCHS, ROUNDS = 243, 17, 256, 2, 5


class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm, self.up, self.down = nn.LayerNorm(WIDTH), nn.Linear(WIDTH, 2 * WIDTH), nn.Linear(2 * WIDTH, WIDTH)

    def forward(self, x):
        return x + self.down(nn.functional.gelu(self.up(self.norm(x))))


class PoseDiffusion(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward, self.outward = nn.Linear(5, WIDTH), nn.Linear(WIDTH, 3)
        self.blocks = nn.ModuleList(Mixer() for _ in range(8))

    def predict(self, flat, noisy):
        hidden = self.inward(torch.cat([flat, noisy], dim=-1))
        for block in self.blocks:
            hidden = block(hidden)
        return self.outward(hidden)

    def forward(self, flat, solid=None):
        if self.training:
            return self.predict(flat, solid + torch.randn_like(solid))
        return self.sample(flat)

    def sample(self, flat):
        wide = flat[:, None].expand(-1, HYPOTHESES, -1, -1, -1).flatten(0, 1)
        poses = torch.randn(*wide.shape[:-1], 3, device=flat.device)
        for _ in range(ROUNDS):
            poses = 0.5 * poses + 0.5 * self.predict(wide, poses)
        return poses.unflatten(0, (-1, HYPOTHESES))


def clips(number, batch):
    for _ in range(number):
        yield torch.randn(batch, FRAMES, JOINTS, 2, device="cuda"), torch.randn(batch, FRAMES, JOINTS, 3, device="cuda")


def evaluate(model):
    model.eval()
    with torch.no_grad():
        return [(model(flat).mean(1) - solid).norm(dim=-1).mean().item() for flat, solid in clips(3, 48)]


model = PoseDiffusion().cuda()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
for epoch in range(EPOCHS):
    model.train()
    for flat, solid in clips(6, 16):
        loss = (model(flat, solid) - solid).norm(dim=-1).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print("epoch", epoch, evaluate(model))
