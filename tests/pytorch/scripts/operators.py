# SPDX-License-Identifier: MIT
"""Runs operators that query sizes, handles or versions of NVIDIA's libraries, each once. The last printed line is
{"failed": {name: PyTorch's error}}."""
import json

import torch
import torch.nn.functional as F


def randn(*shape, **options):
    return torch.randn(*shape, device="cuda", **options)


def backward_of_embedding():
    weight = randn(1000, 64, requires_grad=True)
    indices = torch.randint(0, 1000, (10000,), device="cuda")
    F.embedding(indices, weight).sum().backward()


def captured_graph():
    graph, x = torch.cuda.CUDAGraph(), torch.zeros(1000, device="cuda")
    with torch.cuda.graph(graph):
        x * 2 + 1
    graph.replay()


def attention():
    F.scaled_dot_product_attention(*(randn(2, 4, 128, 64, dtype=torch.float16) for _ in range(3)))


def linear_algebra():
    """Calls each function of PyTorch that queries the size of its workspace from cuSOLVER."""
    for dtype in (torch.float32, torch.float64, torch.complex64, torch.complex128):
        square = randn(64, 64, dtype=dtype)
        torch.linalg.svd(square)
        torch.linalg.inv(square)
        torch.linalg.cholesky(square)
        torch.linalg.qr(square)
        torch.linalg.eigh(square)
        torch.linalg.ldl_factor(square)
        torch.linalg.lu_factor(square)


OPERATORS = {
    "sort": lambda: randn(5_000_000).sort(),
    "topk": lambda: randn(10000).topk(10),
    "unique": lambda: torch.unique(torch.randint(0, 9, (1000,), device="cuda")),
    "nonzero": lambda: randn(1000).nonzero(),
    "cumsum": lambda: randn(10000).cumsum(0),
    "multinomial": lambda: torch.multinomial(torch.rand(100, device="cuda"), 10, replacement=True),
    "embedding": backward_of_embedding,
    "linear algebra": linear_algebra,
    "fft": lambda: torch.fft.fft(randn(10000)),
    "sparse": lambda: torch.sparse.mm(randn(512, 512).to_sparse(), randn(512, 512)),
    "sparse product": lambda: torch.sparse.mm(randn(64, 64).to_sparse(), randn(64, 64).to_sparse()),
    "bmm": lambda: torch.bmm(randn(8, 64, 64), randn(8, 64, 64)),
    "half": lambda: randn(64, 64, dtype=torch.float16) @ randn(64, 64, dtype=torch.float16),
    "bfloat16": lambda: randn(64, 64, dtype=torch.bfloat16) @ randn(64, 64, dtype=torch.bfloat16),
    "transposed convolution": lambda: F.conv_transpose2d(randn(2, 3, 10, 10), randn(3, 4, 3, 3)),
    "lstm": lambda: torch.nn.LSTM(32, 64, 2).cuda()(randn(10, 4, 32)),
    "attention": attention,
    "pinned": lambda: torch.randn(1000).pin_memory().to("cuda", non_blocking=True),
    "graph": captured_graph,
}


def main():
    failed = {}
    for name, operator in OPERATORS.items():
        try:
            operator()
            torch.cuda.synchronize()
        except RuntimeError as error:
            failed[name] = str(error)
    print(json.dumps({"failed": failed}))


if __name__ == "__main__":
    main()
