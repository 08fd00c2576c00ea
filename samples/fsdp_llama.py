# SPDX-License-Identifier: MIT
"""Pre-trains Llama 3.1 8B with FSDP 2 in plain PyTorch: how much memory does each GPU need?

The design is the one that torchtitan publishes, so that the result of a dry run can be compared with the
peaks that torchtitan measured on H100s of 96 GB (its benchmarks of December 2024, tables 1 and 3): FSDP
on each block and the root, bf16 parameters with fp32 masters, fp32 gradient reduction, selective activation
checkpointing, foreach AdamW, two sequences of 8192 tokens a GPU. Needs PyTorch 2.6 or newer.

8 GPUs:      build/gpumemtrace run --dry-run=8x95GiB -o llama.%r.db -- \\
                 python3 -m torch.distributed.run --nproc-per-node=8 samples/fsdp_llama.py
1 of 128:    build/gpumemtrace run --dry-run=95GiB --rank=0/128 -o llama.%r.db -- python3 samples/fsdp_llama.py
Real GPUs:   the first command without --dry-run=8x95GiB
Then:        build/gpumemtrace report llama.0.db

`run --rank=K/N` makes the script rank K of N; the other ranks are only simulated. --compile compiles each block. A dry
run does not know the values of large tensors: its loss means nothing. """
import argparse
import os
import time

import torch
import torch.nn.functional as F
from torch import distributed, nn
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts


class Attention(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.head_size = size.hidden // size.heads
        self.query = nn.Linear(size.hidden, size.heads * self.head_size, bias=False)
        self.key = nn.Linear(size.hidden, size.kv_heads * self.head_size, bias=False)
        self.value = nn.Linear(size.hidden, size.kv_heads * self.head_size, bias=False)
        self.output = nn.Linear(size.heads * self.head_size, size.hidden, bias=False)

    def forward(self, x, rotations):
        # Assigning to the same name frees the old tensor. The bytes that the allocator reserves depend on the moment of
        # this free.
        heads = (-1, self.head_size)
        query, key, value = (linear(x).unflatten(-1, heads) for linear in (self.query, self.key, self.value))
        query, key = rotate(query, rotations), rotate(key, rotations)
        shared_by = query.shape[2] // key.shape[2]
        key, value = repeat_heads(key, shared_by), repeat_heads(value, shared_by)
        query, key, value = (tensor.transpose(1, 2) for tensor in (query, key, value))
        mixed = F.scaled_dot_product_attention(query, key, value, is_causal=True)
        return self.output(mixed.transpose(1, 2).flatten(2))


def rotate(x, rotations):
    """Applies the rotary position embedding, in fp32. Adjacent values are the two parts of a complex number."""
    pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)))
    return torch.view_as_real(pairs * rotations).flatten(-2).type_as(x)


def repeat_heads(x, times):
    return x.unsqueeze(3).expand(-1, -1, -1, times, -1).flatten(2, 3)


class FeedForward(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate = nn.Linear(size.hidden, size.ffn, bias=False)
        self.up = nn.Linear(size.hidden, size.ffn, bias=False)
        self.down = nn.Linear(size.ffn, size.hidden, bias=False)

    def forward(self, x):
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.attention_norm = nn.RMSNorm(size.hidden, eps=1e-5)
        self.attention = Attention(size)
        self.feed_forward_norm = nn.RMSNorm(size.hidden, eps=1e-5)
        self.feed_forward = FeedForward(size)

    def compute(self, x, rotations):
        x = x + self.attention(self.attention_norm(x), rotations)
        return x + self.feed_forward(self.feed_forward_norm(x))

    def forward(self, x, rotations):
        return checkpoint(self.compute, x, rotations, use_reentrant=False, preserve_rng_state=False,
                          context_fn=selective_checkpointing)


def selective_checkpointing():
    """Keeps the result of attention and every second matrix product. Backward computes all other results again."""
    aten = torch.ops.aten
    kept = {aten._scaled_dot_product_efficient_attention.default, aten._scaled_dot_product_flash_attention.default,
            aten._scaled_dot_product_cudnn_attention.default, torch.ops._c10d_functional.reduce_scatter_tensor.default}
    products = {False: 0, True: 0}  # counts in forward (False), and when backward computes again (True)

    def policy(context, operator, *_arguments, **_named):
        keep = operator in kept
        if operator == aten.mm.default:
            products[context.is_recompute] += 1
            keep = products[context.is_recompute] % 2 == 1
        return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

    return create_selective_checkpoint_contexts(policy)


class Llama(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.size = size
        self.embedding = nn.Embedding(size.vocabulary, size.hidden)
        self.blocks = nn.ModuleList(Block(size) for _ in range(size.layers))
        self.norm = nn.RMSNorm(size.hidden, eps=1e-5)
        self.head = nn.Linear(size.hidden, size.vocabulary, bias=False)
        self.register_buffer("rotations", self.compute_rotations("meta"))

    def compute_rotations(self, device):
        """Returns a complex number for each position and pair. The shape is: sequence, 1, head size / 2."""
        head_size = self.size.hidden // self.size.heads
        frequencies = 500000.0 ** (-torch.arange(0, head_size, 2, device=device) / head_size)
        angles = torch.outer(torch.arange(self.size.sequence, device=device), frequencies)
        return torch.polar(torch.ones_like(angles), angles).unsqueeze(1)

    @torch.no_grad()
    def initialize(self):
        for parameter in self.parameters():
            nn.init.ones_(parameter) if parameter.dim() == 1 else nn.init.trunc_normal_(parameter, std=0.02)
        self.rotations.copy_(self.compute_rotations(self.rotations.device))

    def forward(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x, self.rotations)
        return self.head(self.norm(x))


def shard(model, compiled):
    precision = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    for number, block in enumerate(model.blocks):
        if compiled:
            block = model.blocks[number] = torch.compile(block, fullgraph=True)
        # Backward begins with the last block, so its parameters stay.
        fully_shard(block, mp_policy=precision, reshard_after_forward=number < len(model.blocks) - 1)
    fully_shard(model, mp_policy=precision, reshard_after_forward=True)


def train(size, rank):
    with torch.device("meta"):
        model = Llama(size)
    shard(model, size.compile)
    model.to_empty(device="cuda")
    model.initialize()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, betas=(0.9, 0.95), weight_decay=0.1, foreach=True)
    for step in range(1, size.steps + 1):
        began = time.monotonic()
        tokens, labels = torch.randint(size.vocabulary, (2, size.batch, size.sequence)).cuda()
        optimizer.zero_grad()
        logits = model(tokens)
        loss = F.cross_entropy(logits.flatten(0, 1).float(), labels.flatten())
        del logits  # without this, the logits would live until the end of backward
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0, foreach=True)
        optimizer.step()
        if rank == 0:
            print_peaks(step, loss.item(), time.monotonic() - began)
    if rank == 0:
        print(f"peak by PyTorch's own count: {torch.cuda.max_memory_allocated()} bytes allocated,"
              f" {torch.cuda.max_memory_reserved()} reserved")


def print_peaks(step, loss, seconds):
    stats = torch.cuda.memory_stats()
    reserved, allocated = (stats[f"{kind}_bytes.all.peak"] / 2**30 for kind in ("reserved", "allocated"))
    print(f"step {step}: loss {loss:.3f}, highest reserved {reserved:.2f} GiB, allocated {allocated:.2f} GiB,"
          f" {stats['num_alloc_retries']} retries, {seconds:.1f} s", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--compile", action="store_true", help="compile each block")
    sizes = {"layers": 32, "hidden": 4096, "heads": 32, "kv-heads": 8, "ffn": 14336, "vocabulary": 128256,
             "batch": 2, "sequence": 8192, "steps": 4}
    for name, default in sizes.items():
        parser.add_argument(f"--{name}", type=int, default=default, metavar="N", help=f"default {default}")
    return parser.parse_args()


def main():
    size = parse_arguments()
    torch.cuda.set_device(int(os.environ.get("LOCAL_RANK", 0)))
    distributed.init_process_group("nccl")
    train(size, distributed.get_rank())
    distributed.destroy_process_group()


if __name__ == "__main__":
    main()
