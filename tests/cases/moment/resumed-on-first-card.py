# SPDX-License-Identifier: MIT
"""The second of two ranks resumes a training. The checkpoint was written by the first rank, so its tensors come back to the
first card. --mapped says where they should go."""
import os
import sys
import tempfile

import torch
from torch import nn

MAPPED = "--mapped" in sys.argv
RANK, STEPS = 1, 5


class Trainer:
    def __init__(self, path):
        self.model = nn.Sequential(*(nn.Sequential(nn.Linear(4096, 4096), nn.ReLU()) for _ in range(8))).to(RANK)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-4)
        self.load(path)

    def load(self, path):
        where = torch.device("cuda", RANK) if MAPPED else None
        self.snapshot = torch.load(path, map_location=where)
        self.model.load_state_dict(self.snapshot["model"])
        self.epoch = self.snapshot["epoch"]

    def run_batch(self, source):
        self.optimizer.zero_grad()
        loss = self.model(source).square().mean()
        loss.backward()
        self.optimizer.step()

    def train(self):
        for _ in range(STEPS):
            self.run_batch(torch.randn(512, 4096, device=RANK))


def write_checkpoint(path):
    """Writes what the first rank would have written, and leaves nothing on a card."""
    names = [f"{layer}.0.{kind}" for layer in range(8) for kind in ("weight", "bias")]
    shapes = {"weight": (4096, 4096), "bias": (4096,)}
    model = {name: torch.empty(shapes[name.rsplit(".", 1)[1]], device="cuda:0") for name in names}
    torch.save({"model": model, "epoch": 3}, path)


path = os.path.join(tempfile.mkdtemp(), "snapshot.pt")
write_checkpoint(path)
torch.cuda.empty_cache()
trainer = Trainer(path)
trainer.train()
print("resumed at", trainer.epoch)
os.unlink(path)
