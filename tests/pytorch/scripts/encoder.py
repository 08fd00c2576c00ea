# SPDX-License-Identifier: MIT
"""nn.TransformerEncoder with AdamW, a schedule, and an average of the weights beside it."""
import torch
from torch import nn

from moments import moment, saved_for_backward


def main():
    layer = nn.TransformerEncoderLayer(128, 4, 256, dropout=0.1, batch_first=True)
    model = nn.ModuleDict({"encoder": nn.TransformerEncoder(layer, 3), "head": nn.Linear(128, 20)}).cuda()
    average = torch.optim.swa_utils.AveragedModel(model)
    both = nn.ModuleList([model, average])
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 10)
    for length in (32, 48, 16, 64, 32, 32, 40):
        x = torch.randn(8, length, 128, device="cuda")
        y = torch.zeros(8, dtype=torch.long, device="cuda")
        with saved_for_backward(model, x, y) as saved:
            pooled = model["encoder"](x).mean(1)
            loss = nn.functional.cross_entropy(model["head"](pooled), y, label_smoothing=0.1)
        moment("forward", both, optimizer, saved)
        loss.backward()
        moment("backward", both, optimizer)
        optimizer.step()
        schedule.step()
        average.update_parameters(model)
        moment("step", both, optimizer)
        optimizer.zero_grad()


main()
