# SPDX-License-Identifier: MIT
"""After each training step, packs the weights for an inference engine: two packs on two new streams.
--once: uses the same two streams every time."""
import sys

import torch
from torch import nn

ONCE = "--once" in sys.argv
PACK_BYTES, SYNCS = 128 << 20, 20


def two_streams():
    return [torch.cuda.Stream() for _ in range(2)]


def send_weights(streams):
    for stream in streams:
        with torch.cuda.stream(stream):
            pack = torch.empty(PACK_BYTES, dtype=torch.uint8, device="cuda")
            pack.zero_()
            stream.synchronize()


def train_step(model, optimizer):
    loss = model(torch.randn(256, 2048, device="cuda")).square().mean()
    loss.backward()
    optimizer.step()
    optimizer.zero_grad()


def main():
    model = nn.Sequential(*[nn.Linear(2048, 2048) for _ in range(4)]).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    kept_streams = two_streams()
    for number in range(SYNCS):
        train_step(model, optimizer)
        fresh_streams = kept_streams if ONCE else two_streams()
        send_weights(fresh_streams)
        print(number + 1, "allocated", torch.cuda.memory_allocated(), "reserved", torch.cuda.memory_reserved(), flush=True)


main()
