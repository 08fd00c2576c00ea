# SPDX-License-Identifier: MIT
"""Trains a model on two GPUs, with DataParallel, or as the first of two ranks. Prints PyTorch's peak of each GPU in
bytes.

    python imbalance.py dp | ddp
"""
import sys

import torch
from torch import nn

BATCH, WIDTH, WORDS = 512, 2048, 32768
HOW = sys.argv[1]


def reduced(_state, bucket):
    """Returns a future with the bucket's buffer, as if all ranks had summed the bucket in place."""
    future = torch.futures.Future()
    future.set_result(bucket.buffer())
    return future


def distribute(model):
    if HOW == "dp":
        return nn.DataParallel(model)
    from torch.testing._internal.distributed.fake_pg import FakeStore

    torch.distributed.init_process_group("fake", store=FakeStore(), rank=0, world_size=2)
    model = nn.parallel.DistributedDataParallel(model, device_ids=[0])
    model.register_comm_hook(None, reduced)
    return model


def main():
    model = nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, WORDS)).cuda()
    model = distribute(model)
    optimizer = torch.optim.Adam(model.parameters())
    rows = BATCH * (2 if HOW == "dp" else 1)
    for _ in range(3):
        x, y = torch.zeros(rows, WIDTH).cuda(), torch.zeros(rows, dtype=torch.long).cuda()
        loss = nn.functional.cross_entropy(model(x), y)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    print(*(torch.cuda.max_memory_allocated(device) for device in range(2)))


main()
