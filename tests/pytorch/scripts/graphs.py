# SPDX-License-Identifier: MIT
"""CUDA graphs: two that share a private pool and one that is deleted early; one tensor lies outside of the graphs."""
import json

import torch

from moments import moment

MIB = 1 << 20


def work(megabytes):
    kept = torch.empty(megabytes * MIB, dtype=torch.uint8, device="cuda")
    passing = torch.empty(4 * MIB, dtype=torch.uint8, device="cuda")
    del passing
    return kept


def main():
    outside = torch.empty(30 * MIB, dtype=torch.uint8, device="cuda")
    first, second, gone = (torch.cuda.CUDAGraph() for _ in range(3))
    with torch.cuda.graph(first):
        kept = [work(40)]
    with torch.cuda.graph(second, pool=first.pool()):
        kept.append(work(60))
    with torch.cuda.graph(gone):
        lost = work(80)
    for graph in (first, second, gone):
        graph.replay()
    moment("three graphs")
    del lost, graph
    del gone  # del without reset(), because PyTorch 2.0 fails an assertion if a reset graph is deleted
    moment("two graphs")
    torch.cuda.empty_cache()
    moment("flushed")
    del kept
    del first
    moment("one graph")
    del second
    moment("no graph")
    torch.cuda.empty_cache()
    moment("flushed again")
    del outside


main()
