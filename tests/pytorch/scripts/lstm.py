# SPDX-License-Identifier: MIT
"""An LSTM over sequences of different lengths."""
import torch
from torch import nn

from moments import moment


def main():
    embedding, lstm, head = nn.Embedding(500, 64).cuda(), nn.LSTM(64, 128, 2, batch_first=True).cuda(), nn.Linear(128, 500).cuda()
    moment("model")
    optimizer = torch.optim.Adam([*embedding.parameters(), *lstm.parameters(), *head.parameters()])
    for length in (8, 16, 5, 24, 12):
        tokens = torch.zeros(16, length, dtype=torch.long, device="cuda")
        moment("batch")
        loss = head(lstm(embedding(tokens))[0]).logsumexp(-1).mean()
        moment("forward")
        loss.backward()
        moment("backward")
        optimizer.step()
        moment("step")
        optimizer.zero_grad()
    moment("end")


main()
