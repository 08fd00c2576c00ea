# SPDX-License-Identifier: MIT
"""Pins the weights of four feed-forward layers on the host and copies each to the card in turn."""
import torch

SHAPES = [(18944, 3584)] * 4


def main():
    weights = [torch.empty(shape, dtype=torch.float16) for shape in SHAPES]
    pinned_weights = [weight.pin_memory() for weight in weights]
    print("bytes of the weights", sum(w.nbytes for w in pinned_weights), flush=True)
    for weight in pinned_weights:
        on_card = weight.to("cuda", non_blocking=True)
        torch.cuda.synchronize()
        del on_card


main()
