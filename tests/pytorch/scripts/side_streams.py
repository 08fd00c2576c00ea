# SPDX-License-Identifier: MIT
"""A loader copies batches on a side stream; record_stream lends them to the main stream, and the host waits only at the end
of each epoch. A thread queries an event until it is done, as NCCL's watchdog does."""
import threading

import torch

from moments import moment

MIB = 1 << 20


def load(side):
    host = torch.empty(6 * MIB, dtype=torch.uint8).pin_memory()
    with torch.cuda.stream(side):
        return host.to("cuda", non_blocking=True)


def step(side, weight):
    batch = load(side)
    torch.cuda.current_stream().wait_stream(side)
    batch.record_stream(torch.cuda.current_stream())
    return (batch.float() * weight).sum()


def watch(event):
    while not event.query():
        pass


def main():
    side = torch.cuda.Stream()
    weight = torch.ones(1, device="cuda")
    for epoch in range(3):
        losses = []
        for _ in range(6):
            losses.append(step(side, weight))
            moment(f"step of epoch {epoch}")
        event = torch.cuda.Event()
        event.record(side)
        watcher = threading.Thread(target=watch, args=(event,))
        watcher.start()
        watcher.join()
        moment("watched")
        torch.stack(losses).sum().item()
        del losses
        moment("waited for")
    torch.cuda.synchronize()
    moment("end")


main()
