# SPDX-License-Identifier: MIT
"""Typical training loops, some with typical mistakes: loops.py
hidden_state | exceptions | masks | tokens | average | mixed_precision | evaluation | momentum"""
import copy
import random
import sys

import torch
from torch import nn
from torch.nn import functional

STEPS = 20
kept = []


class Language(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed, self.lstm, self.out = nn.Embedding(1000, 256), nn.LSTM(256, 256, 2, batch_first=True), nn.Linear(256, 1000)

    def forward(self, tokens, state):
        x, state = self.lstm(self.embed(tokens), state)
        return self.out(x), state


def hidden_state():
    """The hidden state passes into the next batch together with the graph of all earlier batches."""
    model, state = Language().cuda(), None
    for _ in range(STEPS):
        tokens = torch.randint(1000, (16, 33), device="cuda")
        logits, state = model(tokens[:, :-1], state)
        model.zero_grad()
        functional.cross_entropy(logits.flatten(0, 1), tokens[:, 1:].flatten()).backward(retain_graph=True)
        for weight in model.parameters():
            weight.data.add_(weight.grad, alpha=-0.1)


def layers():
    return nn.Sequential(*[nn.Linear(512, 512) for _ in range(4)]).cuda()


def exceptions():
    """A list keeps exceptions; each exception keeps its traceback, whose frames keep their tensors."""
    model = layers()
    optimizer = torch.optim.Adam(model.parameters())

    def train(batch, is_bad):
        loss = model(batch).square().mean()
        if is_bad:
            raise ValueError("a bad batch")
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for step in range(STEPS):
        try:
            train(torch.randn(256, 512, device="cuda"), step % 2)
        except ValueError as error:
            kept.append(error)


def masks():
    """A cache keeps one mask for each length, and there are many lengths."""
    model, known = nn.TransformerEncoderLayer(128, 4, 256, batch_first=True).cuda(), {}
    optimizer = torch.optim.AdamW(model.parameters())
    random.seed(0)
    for _ in range(2 * STEPS):
        length = random.randint(64, 1024)
        if length not in known:
            known[length] = torch.full((length, length), float("-inf"), device="cuda")
        model(torch.randn(2, length, 128, device="cuda"), src_mask=known[length]).mean().backward()
        optimizer.step()
        optimizer.zero_grad()


class Decoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(512, 512) for _ in range(8))

    def forward(self, x, past):
        """Returns (x, past): torch.cat makes the cache of each layer one token longer."""
        for number, layer in enumerate(self.layers):
            new = layer(x)
            past[number] = new if past[number] is None else torch.cat([past[number], new], 1)
            x = torch.softmax(new @ past[number].transpose(1, 2), -1) @ past[number]
        return x, past


def tokens():
    model, past = Decoder().cuda(), [None] * 8
    with torch.no_grad():
        for _ in range(5 * STEPS):
            _, past = model(torch.randn(8, 1, 512, device="cuda"), past)


def average():
    """A moving average of the weights keeps its graph, but the graph holds no extra memory."""
    model = layers()
    mean, optimizer = dict(copy.deepcopy(model).named_parameters()), torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        model(torch.randn(64, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
        for name, weight in model.named_parameters():
            mean[name] = 0.9 * mean[name] + 0.1 * weight


def mixed_precision():
    model, scaler = layers(), torch.amp.GradScaler("cuda")
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(STEPS):
        with torch.autocast("cuda", dtype=torch.float16):
            loss = model(torch.randn(64, 512, device="cuda")).square().mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()


def evaluation():
    """A list keeps each output, with its graph, for a score at the end."""
    model, outputs = layers(), []
    for _ in range(STEPS):
        batch = torch.randn(256, 512, device="cuda")
        outputs.append(model(batch))


def momentum():
    """The optimizer allocates memory in its first step only."""
    model = layers()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(STEPS):
        model(torch.randn(64, 512, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


globals()[sys.argv[1]]()
