# SPDX-License-Identifier: MIT
"""A variational autoencoder built on the device, a loss of the script's own, RMSprop."""
import torch
from torch import nn

from moments import moment, saved_for_backward


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(1, 16, 4, 2, 1, device="cuda"), nn.ReLU(),
                                     nn.Conv2d(16, 32, 4, 2, 1, device="cuda"), nn.ReLU(), nn.Flatten())
        self.code = nn.Linear(32 * 49, 2 * 20, device="cuda")
        self.prior = nn.Parameter(torch.zeros(20, device="cuda"))
        self.decoder = nn.Sequential(nn.Linear(20, 32 * 49, device="cuda"), nn.Unflatten(1, (32, 7, 7)),
                                     nn.ConvTranspose2d(32, 16, 4, 2, 1, device="cuda"), nn.ReLU(),
                                     nn.ConvTranspose2d(16, 1, 4, 2, 1, device="cuda"))

    def forward(self, x):
        mean, spread = self.code(self.encoder(x)).chunk(2, 1)
        drawn = mean + torch.randn_like(mean) * (spread / 2).exp() + self.prior
        return self.decoder(drawn), mean, spread


def loss_of(image, x, mean, spread):
    return ((image - x) ** 2).sum() - 0.5 * (1 + spread - mean ** 2 - spread.exp()).sum()


def main():
    model = Model()
    optimizer = torch.optim.RMSprop(model.parameters(), momentum=0.5)
    for size in (32, 32, 64, 16, 32, 32, 48):
        x = torch.rand(size, 1, 28, 28).to("cuda")
        with saved_for_backward(model, x) as saved:
            image, mean, spread = model(x)
            loss = loss_of(image, x, mean, spread)
        moment("forward", model, optimizer, saved)
        optimizer.zero_grad()
        loss.backward()
        moment("backward", model, optimizer)
        optimizer.step()
        moment("step", model, optimizer)
        del image, mean, spread


main()
