# SPDX-License-Identifier: MIT
"""Trains with a pipeline that fills a buffer in a thread. Some steps validate with a new iterator. --close: it is closed."""
import queue
import sys
import threading

import torch
from torch import nn

CLOSE = "--close" in sys.argv
FEATURES, BATCH, STEPS, VALIDATE_EVERY = 4096, 256, 48, 4


class MapIterDataset:
    def __init__(self, parent, transform):
        self.parent, self.transform = parent, transform

    def __iter__(self):
        for element in self.parent:
            yield self.transform(element)


class SourceIterDataset:
    def __init__(self, length):
        self.length = length

    def __iter__(self):
        for number in range(self.length):
            yield torch.full((BATCH, FEATURES), float(number))


class ThreadPrefetchDatasetIterator:
    def __init__(self, parent, prefetch_buffer_size):
        self._parent = parent
        self._buffer = queue.Queue(prefetch_buffer_size)
        self._stop_event = threading.Event()
        self._work_thread = threading.Thread(target=self._produce, daemon=True)
        self._work_thread.start()

    def _produce(self):
        for element in self._parent:
            if self._stop_event.is_set():
                return
            self._buffer.put(element)
        self._buffer.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        element = self._buffer.get()
        if element is None:
            raise StopIteration
        return element

    def close(self):
        self._stop_event.set()
        while not self._buffer.empty():
            self._buffer.get()


class ThreadPrefetchIterDataset:
    def __init__(self, parent, prefetch_buffer_size):
        self.parent, self.prefetch_buffer_size = parent, prefetch_buffer_size

    def __iter__(self):
        return ThreadPrefetchDatasetIterator(self.parent, self.prefetch_buffer_size)


def device_put(dataset):
    return ThreadPrefetchIterDataset(MapIterDataset(dataset, lambda batch: batch.cuda()), prefetch_buffer_size=4)


model = nn.Linear(FEATURES, 16).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
val_dataset = device_put(SourceIterDataset(length=1000))
for step, batch in zip(range(STEPS), SourceIterDataset(STEPS)):
    model(batch.cuda()).square().mean().backward()
    optimizer.step()
    optimizer.zero_grad()
    if step % VALIDATE_EVERY == 0:
        batches = iter(val_dataset)
        with torch.no_grad():
            losses = [model(val_batch).square().mean().item() for _, val_batch in zip(range(2), batches)]
        if CLOSE:
            batches.close()
