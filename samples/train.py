# SPDX-License-Identifier: MIT
"""The network of train.json in PyTorch, trained with Adam on random data.

Real GPU:   build/gpumemtrace run -o train.db -- python3 samples/train.py
Then:       build/gpumemtrace report train.db
            build/gpumemtrace compare --workspace=8519680 train.db samples/train.json

The program does not use the recorder's API. NVTX ranges name the phases; without them
the report has no "forward" and "backward".
"""
import sys

BATCH, FEATURES, HIDDEN, CLASSES, STEPS = 8192, 1024, 4096, 1000, 5


def build_network(nn):
    return nn.Sequential(
        nn.Linear(FEATURES, HIDDEN),
        nn.BatchNorm1d(HIDDEN),
        nn.ReLU(),
        nn.Linear(HIDDEN, CLASSES),
    )


def train(torch, device):
    phase = torch.cuda.nvtx.range
    with phase("init"):
        network = build_network(torch.nn).to(device)
    optimizer = torch.optim.Adam(network.parameters())
    criterion = torch.nn.CrossEntropyLoss()
    for _ in range(STEPS):
        samples = torch.randn(BATCH, FEATURES)
        classes = torch.randint(CLASSES, (BATCH,))
        with phase("data"):
            samples, classes = samples.to(device), classes.to(device)
        with phase("forward"):
            prediction = network(samples)
            loss = criterion(prediction, classes)
        with phase("backward"):
            loss.backward()
        with phase("optimizer"):
            optimizer.step()
            optimizer.zero_grad()
        # A number on the host; the tensor would keep device memory.
        print(f"loss {loss.item():.3f}")
        # Frees the step's results before the next forward pass.
        del prediction, loss
    print(f"peak by PyTorch's own count: {torch.cuda.max_memory_allocated()} bytes")


def main():
    try:
        import torch
    except ImportError:
        print("train.py: needs PyTorch: python3 -m pip install torch", file=sys.stderr)
        return 1
    if not torch.cuda.is_available():
        print("train.py: PyTorch finds no CUDA device; samples/train.c needs none", file=sys.stderr)
        return 1
    train(torch, torch.device("cuda"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
