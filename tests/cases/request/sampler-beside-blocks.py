# SPDX-License-Identifier: MIT
"""Serves a model: fills most of the free card with blocks for keys and values, then samples for more and more requests
at once. --share=0.5 leaves more room beside the blocks."""
import sys

import torch
from torch import nn

SHARE = next((float(one.split("=")[1]) for one in sys.argv if one.startswith("--share=")), 0.9)
VOCABULARY, WIDTH, BLOCK_BYTES = 152064, 256, 2 << 20


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, WIDTH)
        self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

    def forward(self, ids):
        return self.head(self.embed(ids))


def sample(logits):
    logits = logits.float()
    shares = torch.softmax(logits, dim=-1)
    _, order = shares.sort(dim=-1, descending=True)
    return order[:, 0]


@torch.inference_mode()
def main():
    model = Model().half().cuda()
    free, _ = torch.cuda.mem_get_info()
    blocks = [torch.empty(BLOCK_BYTES, dtype=torch.uint8, device="cuda") for _ in range(int(free * SHARE) // BLOCK_BYTES)]
    for requests in (8, 64, 256):
        ids = torch.zeros(requests, dtype=torch.long, device="cuda")
        print(requests, len(blocks), sample(model(ids)).shape, flush=True)


main()
