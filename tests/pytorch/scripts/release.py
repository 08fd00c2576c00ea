# SPDX-License-Identifier: MIT
"""Trains a small model and prints PyTorch's own figures of its memory; for any release from 1.13 on."""
import json

import torch

said = {"version": torch.__version__, "cuda": torch.version.cuda}
if torch.cuda.is_available():
    torch.manual_seed(0)
    convolutions = torch.nn.Sequential(torch.nn.Conv2d(3, 16, 3, padding=1), torch.nn.BatchNorm2d(16), torch.nn.ReLU())
    layers = torch.nn.Sequential(torch.nn.Linear(1024, 2048), torch.nn.LayerNorm(2048), torch.nn.GELU(), torch.nn.Dropout())
    model = torch.nn.Sequential(convolutions, torch.nn.AdaptiveAvgPool2d(8), torch.nn.Flatten(), layers, torch.nn.Linear(2048, 10))
    model = model.cuda()
    optimizer = torch.optim.AdamW(model.parameters())
    for _ in range(3):
        images = torch.randn(32, 3, 64, 64, device="cuda")
        labels = torch.zeros(32, dtype=torch.long, device="cuda")
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(images), labels).backward()
        optimizer.step()
    segments = torch.cuda.memory_snapshot()
    said["allocated_peak"] = torch.cuda.max_memory_allocated()
    said["reserved_peak"] = torch.cuda.max_memory_reserved()
    said["allocated"] = sum(segment["allocated_size"] for segment in segments)
    said["reserved"] = sum(segment["total_size"] for segment in segments)
print(json.dumps(said))
