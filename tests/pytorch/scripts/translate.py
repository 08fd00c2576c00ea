# SPDX-License-Identifier: MIT
"""nn.Transformer with tied embeddings and padding masks, Adam with amsgrad, gradients of two batches summed,
and greedy decoding after each epoch."""
import math

import torch
from torch import nn

from moments import moment, saved_for_backward

WORDS, WIDTH, PAD = 800, 96, 0


class Translator(nn.Module):
    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH, padding_idx=PAD)
        self.transformer = nn.Transformer(WIDTH, 4, 2, 2, 192, dropout=0.1, batch_first=True)
        self.head = nn.Linear(WIDTH, WORDS)
        self.head.weight = self.words.weight
        places = torch.arange(64).unsqueeze(1) * torch.exp(torch.arange(0, WIDTH, 2) * (-math.log(1e4) / WIDTH))
        self.register_buffer("places", torch.stack([places.sin(), places.cos()], -1).flatten(1))

    def embed(self, tokens):
        return self.words(tokens) * math.sqrt(WIDTH) + self.places[:tokens.shape[1]]

    def forward(self, source, target):
        causal = nn.Transformer.generate_square_subsequent_mask(target.shape[1], device=target.device)
        out = self.transformer(self.embed(source), self.embed(target), tgt_mask=causal, tgt_is_causal=True,
                               src_key_padding_mask=source == PAD, memory_key_padding_mask=source == PAD)
        return self.head(out)


def batches(count):
    for i in range(count):
        yield torch.ones(12, 20 + 4 * i, dtype=torch.long), torch.ones(12, 16 + 4 * i, dtype=torch.long)


@torch.no_grad()
def decode(model, source):
    model.eval()
    target = torch.ones(len(source), 1, dtype=torch.long, device="cuda")
    for _ in range(6):
        target = torch.cat([target, model(source, target)[:, -1:].argmax(-1)], 1)
    return target.cpu()


def main():
    device = torch.device("cuda")
    model = Translator().to(device)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), amsgrad=True)
    loss_of = nn.CrossEntropyLoss(ignore_index=PAD)
    for _ in range(2):
        model.train()
        for i, (source, target) in enumerate(batches(4)):
            source, target = source.to(device), target.to(device)
            with saved_for_backward(model, source, target) as saved:
                loss = loss_of(model(source, target[:, :-1]).flatten(0, 1), target[:, 1:].flatten()) / 2
            moment("forward", model, optimizer, saved)
            loss.backward()
            moment("backward", model, optimizer)
            if i % 2:
                optimizer.step()
                optimizer.zero_grad()
                moment("step", model, optimizer)
        decode(model, source)
        moment("decoded", model, optimizer)


main()
