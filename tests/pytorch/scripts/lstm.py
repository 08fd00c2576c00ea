# SPDX-License-Identifier: MIT
"""An LSTM over sequences of different lengths."""
import torch
from torch import nn

from moments import moment, saved_for_backward


def main():
    model = nn.ModuleList([nn.Embedding(500, 64), nn.LSTM(64, 128, 2, batch_first=True), nn.Linear(128, 500)]).cuda()
    embedding, lstm, head = model
    moment("model")
    optimizer = torch.optim.Adam(model.parameters())
    for length in (8, 16, 5, 24, 12):
        tokens = torch.zeros(16, length, dtype=torch.long, device="cuda")
        moment("batch")
        with saved_for_backward(model, tokens) as saved:
            loss = head(lstm(embedding(tokens))[0]).logsumexp(-1).mean()
        moment("forward", model, optimizer, saved)
        loss.backward()
        moment("backward", model, optimizer)
        optimizer.step()
        moment("step", model, optimizer)
        optimizer.zero_grad()
    moment("end")


main()
