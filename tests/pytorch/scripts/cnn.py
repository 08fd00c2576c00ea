# SPDX-License-Identifier: MIT
"""A CNN with BatchNorm, pooling, dropout and inplace ReLU; the last batch is smaller."""
import torch
from torch import nn

from moments import moment, saved_for_backward


def block(inputs, outputs):
    return [nn.Conv2d(inputs, outputs, 3, padding=1, bias=False), nn.BatchNorm2d(outputs), nn.ReLU(inplace=True),
            nn.MaxPool2d(2)]


def main():
    model = nn.Sequential(*block(3, 32), *block(32, 64), *block(64, 128), nn.Flatten(), nn.Dropout(0.3),
                          nn.Linear(128 * 4 * 4, 10)).cuda()
    moment("model")
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    for size in (64, 64, 64, 48, 17):
        images = torch.randn(size, 3, 32, 32, device="cuda")
        labels = torch.zeros(size, dtype=torch.long, device="cuda")
        moment("batch")
        with saved_for_backward(model, images, labels) as saved:
            loss = nn.functional.cross_entropy(model(images), labels)
        moment("forward", model, optimizer, saved)
        optimizer.zero_grad()
        loss.backward()
        moment("backward", model, optimizer)
        optimizer.step()
        moment("step", model, optimizer)
    model.eval()
    with torch.no_grad():
        model(images)
    moment("evaluation")


main()
