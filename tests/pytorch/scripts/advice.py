# SPDX-License-Identifier: MIT
"""advice.py CASE [--taken]: a program that needs more memory than a small card has, because of the mistake that CASE
names; with --taken it follows the advice against this mistake. Nothing else differs between the two."""
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

TAKEN = "--taken" in sys.argv
WIDTH = 1024


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)

    def forward(self, x):
        y = self.up(self.norm(x))
        y = F.gelu(y)
        return x + self.down(y)


class Stack(nn.Module):
    def __init__(self, layers, recompute=False):
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))
        self.recompute = recompute

    def forward(self, x):
        for layer in self.layers:
            if self.recompute:
                x = checkpoint(layer, x, use_reentrant=False)
            else:
                x = layer(x)
        return x


def checkpointing():
    """Twelve layers keep their activations for backward."""
    model = Stack(12, recompute=TAKEN).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.randn(8192, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def smaller_batch():
    model = Stack(4).cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(2):
        batch = torch.randn(4096 if TAKEN else 8192, WIDTH, device="cuda")
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def chunked_loss():
    """The logits of a large vocabulary outweigh the model."""
    words = 32768
    body, head = Stack(2).cuda(), nn.Linear(WIDTH, words, bias=False).cuda()
    optimizer = torch.optim.SGD([*body.parameters(), *head.parameters()], lr=0.1)
    for _ in range(2):
        target = torch.zeros(16384, dtype=torch.long, device="cuda")
        x = body(torch.randn(16384, WIDTH, device="cuda"))
        if TAKEN:
            loss = sum(checkpoint(lambda part, to: F.cross_entropy(head(part), to, reduction="sum"), part, to,
                                  use_reentrant=False)
                       for part, to in zip(x.chunk(8), target.chunk(8)))
        else:
            loss = F.cross_entropy(head(x), target, reduction="sum")
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def zero_grad():
    """The previous step's gradients are zeroed instead of freed, so they take memory all through forward."""
    model = Stack(24).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(4):
        loss = model(torch.randn(2048, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=TAKEN)


def late_zero_grad():
    """Gradients are dropped only at the next batch, so they take memory while the model is evaluated on many samples."""
    model = Stack(24).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    for _ in range(3):
        optimizer.zero_grad()
        model(torch.randn(64, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
    if TAKEN:
        optimizer.zero_grad()
    with torch.no_grad():
        model(torch.randn(32768, WIDTH, device="cuda"))


def fused_optimizer():
    """The optimizer's temporaries are as large as the model."""
    model = Stack(24).cuda()
    optimizer = torch.optim.AdamW(model.parameters(), fused=TAKEN or None)
    for _ in range(2):
        loss = model(torch.randn(64, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def held_over():
    """Every step's output is kept for a mean at the end of the epoch."""
    model = Stack(2).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    outputs = []
    for _ in range(40):
        out = model(torch.randn(4096, WIDTH, device="cuda"))
        loss = out.square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        outputs.append(out.mean().item() if TAKEN else out)


def inference():
    """Autograd keeps all activations for a backward that the program never calls."""
    model = Stack(24).cuda()
    for size in (512, 1024, 8192):
        with torch.set_grad_enabled(not TAKEN):
            answer = model(torch.randn(size, WIDTH, device="cuda"))
        print(answer.sum().item())


def evaluation():
    """The sum of the validation losses keeps the autograd graph of every batch."""
    model = Stack(8).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0
    for _ in range(2):
        for _ in range(3):
            loss = model(torch.randn(2048, WIDTH, device="cuda")).square().mean()
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        with torch.set_grad_enabled(not TAKEN):
            for _ in range(8):
                total += model(torch.randn(2048, WIDTH, device="cuda")).square().mean()


def checkpoint_on_device():
    """The loaded weights stay on the card beside the model's own weights."""
    model = Stack(24)
    torch.save(model.state_dict(), "weights.pt")
    model = model.cuda()
    weights = torch.load("weights.pt", map_location="cpu" if TAKEN else "cuda")
    model.load_state_dict(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.randn(2048, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.second = (nn.Conv2d(64, 64, 3, padding=1, bias=False) for _ in range(2))
        self.norms = nn.ModuleList(nn.BatchNorm2d(64) for _ in range(2))

    def forward(self, x):
        y = F.relu(self.norms[0](self.first(x)))
        return F.relu(x + self.norms[1](self.second(y)))


def convolutions():
    """Twelve residual blocks that torch.nn.Sequential calls."""
    blocks = nn.Sequential(*(Block() for _ in range(12))).cuda()
    optimizer = torch.optim.SGD(blocks.parameters(), lr=0.1)
    for _ in range(2):
        x = torch.randn(32, 64, 56, 56, device="cuda")
        if TAKEN:
            for block in blocks:
                x = checkpoint(block, x, use_reentrant=False)
        else:
            x = blocks(x)
        x.square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()


def own_kernels():
    """The case `convolutions` without cuDNN: PyTorch's own kernels create cuBLAS's handle when the card is full."""
    torch.backends.cudnn.enabled = False
    convolutions()


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.project = nn.Linear(WIDTH, 3 * WIDTH)

    def forward(self, x):
        q, k, v = (t.view(*x.shape[:2], 16, -1).transpose(1, 2) for t in self.project(x).chunk(3, -1))
        if TAKEN:
            y = F.scaled_dot_product_attention(q, k, v)
        else:
            weights = torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1)
            y = weights @ v
        return x + y.transpose(1, 2).reshape(x.shape)


def attention():
    """The attention weights, one for each pair of tokens, are kept for backward."""
    model = nn.Sequential(*(Attention() for _ in range(4))).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.randn(4, 2048, WIDTH, device="cuda")).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def fragments():
    """A tenth of each of eight segments is in use, so no free piece has 400 MiB."""
    mib = 1 << 20
    large = [torch.empty(100 * mib, dtype=torch.uint8, device="cuda") for _ in range(8)]
    del large
    kept, passing = [], []
    for _ in range(8):
        kept.append(torch.empty(10 * mib, dtype=torch.uint8, device="cuda"))
        passing.append(torch.empty(90 * mib, dtype=torch.uint8, device="cuda"))
    passing.clear()
    torch.empty(400 * mib, dtype=torch.uint8, device="cuda")


class Branches(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(*(nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)) for _ in range(3)))
        self.head = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        return self.head(self.body(x))


def summed_losses():
    """Eight losses and one backward for their sum: half the batch and twice as many losses would keep the same bytes."""
    model = Branches().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        total = 0
        for _ in range(8):
            loss = model(torch.randn(2048, WIDTH, device="cuda")).square().mean()
            if TAKEN:
                loss.backward()
            else:
                total = total + loss
        if not TAKEN:
            total.backward()
        optimizer.step()
        optimizer.zero_grad()


def caught():
    """The exception's traceback keeps the first attempt's tensors alive while a part of the batch is tried."""
    model, errors = Stack(6).cuda(), []

    def attempt(rows):
        return model(torch.randn(rows, WIDTH, device="cuda")).square().mean()

    try:
        attempt(8192)
    except torch.cuda.OutOfMemoryError as error:
        errors.append(str(error) if TAKEN else error)
    print(torch.cuda.memory_allocated(), flush=True)
    attempt(2048)


class Looped(nn.Module):
    """A model whose layers keep only their outputs for backward."""

    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(WIDTH, WIDTH) for _ in range(16))

    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return x


def one_call():
    """The program calls the model once per step; checkpointing this one call would hold the same bytes at once."""
    model = Looped().cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(2):
        loss = model(torch.randn(16384, WIDTH, device="cuda")).pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()


def data_on_cpu():
    """All batches are moved to the card before the first one is used."""
    model = nn.Linear(WIDTH, 8).cuda()
    data = [torch.zeros(16384, WIDTH) for _ in range(16)]
    if not TAKEN:
        data = [batch.cuda() for batch in data]
    for batch in data[:3]:
        print(model(batch.cuda()).argmax().item())


def sequential(blocks):
    return nn.Sequential(*[nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.GELU()) for _ in range(blocks)]).cuda()


def evaluation_of_sequential():
    """The case `evaluation` with a model whose layers have no frame of the program."""
    model = sequential(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    total = 0
    for _ in range(3):
        model(torch.randn(4096, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    for _ in range(16):
        batch = torch.randn(4096, WIDTH, device="cuda")
        with torch.set_grad_enabled(not TAKEN):
            total = total + model(batch).square().mean()


def second_use_of_sequential():
    """A second line also trains, with a longer batch: although the line is new, this is no evaluation."""
    model = sequential(8)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    for _ in range(3):
        model(torch.randn(4096, WIDTH, device="cuda")).square().mean().backward()
        optimizer.step()
        optimizer.zero_grad()
    batch = torch.randn(65536, WIDTH, device="cuda")
    model(batch).square().mean().backward()


def main():
    globals()[sys.argv[1]]()
    print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())


if __name__ == "__main__":
    main()
