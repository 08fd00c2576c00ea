# SPDX-License-Identifier: MIT
"""Marks events in recordings, chunk by chunk, with a state that is carried on. --cut detaches the state after each chunk."""
import sys

import torch
from torch import nn

CUT = "--cut" in sys.argv
BANDS, HIDDEN, STREAMS = 256, 1024, 512
RECORDINGS = [7, 12, 5, 9, 16, 4, 11, 6]


class Marker(nn.Module):
    def __init__(self):
        super().__init__()
        self.front = nn.Linear(BANDS, HIDDEN)
        self.memory = nn.GRUCell(HIDDEN, HIDDEN)
        self.decide = nn.Linear(HIDDEN, 2)

    def forward(self, frames, state):
        features = torch.relu(self.front(frames))
        state = self.memory(features, state)
        return self.decide(state).argmax(dim=1), state


def mark(model, chunks, state):
    events = 0
    for _ in range(chunks):
        frames = torch.randn(STREAMS, BANDS, device="cuda")
        marks, state = model(frames, state)
        if CUT:
            state = state.detach()
        events += int(marks.sum())
    return events, state


def main():
    model = Marker().cuda().eval()
    state = torch.zeros(STREAMS, HIDDEN, device="cuda")
    done = 0
    for number, chunks in enumerate(RECORDINGS):
        events, state = mark(model, chunks, state)
        done += chunks
        print("recording", number, "chunks", done, "live", torch.cuda.memory_allocated(), flush=True)
    print("peak", torch.cuda.max_memory_allocated(), flush=True)


main()
