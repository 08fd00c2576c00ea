# SPDX-License-Identifier: MIT
"""Random use of the caching allocator, reproducible by seed: streams, record_stream, CUDA graphs with shared or own private
pools, empty_cache, and caught failures. Arguments: the seed; the fraction of the card that the program may use."""
import random
import sys

import torch

MIB = 1 << 20


class Use:
    def __init__(self, choose):
        self.choose, self.live, self.graphs = choose, [], []
        self.streams = [torch.cuda.Stream() for _ in range(3)]

    def take(self, into):
        kind, size = self.choose.random(), 0
        if kind < 0.4:
            size = self.choose.randint(1, MIB)
        elif kind < 0.8:
            size = self.choose.randint(MIB + 1, 12 * MIB)
        else:
            size = self.choose.randint(12 * MIB, 90 * MIB)
        into.append(torch.empty(size, dtype=torch.uint8, device="cuda"))

    def drop(self, tensors):
        return tensors.pop(self.choose.randrange(len(tensors)))

    def capture(self):
        graph, kept = torch.cuda.CUDAGraph(), []
        share = {"pool": self.choose.choice(self.graphs)[0].pool()} if self.graphs and self.choose.random() < 0.5 else {}
        with torch.cuda.graph(graph, **share):
            for _ in range(self.choose.randint(2, 20)):
                if kept and self.choose.random() < 0.5:
                    self.drop(kept)
                else:
                    self.take(kept)
        self.graphs.append((graph, kept))

    def one(self):
        kind = self.choose.random()
        if kind < 0.02:
            torch.cuda.empty_cache()
        elif kind < 0.05:
            self.capture()
        elif self.graphs and kind < 0.08:
            graph, _ = self.drop(self.graphs)
            del graph  # del also resets the graph; PyTorch 2.0 fails an assertion after an explicit reset()
        elif self.live and kind < 0.5:
            tensor = self.drop(self.live)
            if self.choose.random() < 0.3:
                tensor.record_stream(self.choose.choice(self.streams))
        elif self.choose.random() < 0.3:
            with torch.cuda.stream(self.choose.choice(self.streams)):
                self.take(self.live)
        else:
            self.take(self.live)


def main(seed, fraction):
    use = Use(random.Random(int(seed)))
    torch.cuda.set_per_process_memory_fraction(float(fraction))
    for _ in range(250):
        try:
            use.one()
        except torch.OutOfMemoryError:
            del use.live[::2]


main(*sys.argv[1:])
