# SPDX-License-Identifier: MIT
"""A short training loop that writes the allocator's snapshot and its counters. The argument `way` selects the history:
none, all, native (with native frames), cut (only the last events) or oom (the run ends with a failure)."""
import json
import pickle
import sys

import torch

way = sys.argv[1]
NEW = hasattr(torch.cuda.memory, "_dump_snapshot")
MOST = 60 if way == "cut" else 100_000


def begin_history():
    if NEW:
        torch.cuda.memory._record_memory_history(max_entries=MOST, stacks="all" if way == "native" else "python")
    else:
        torch.cuda.memory._record_memory_history(True, trace_alloc_max_entries=MOST, trace_alloc_record_context=True)


def train():
    model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(4)]).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(3):
        model(torch.randn(64, 512, device="cuda")).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
    return model, optimizer


early = torch.empty(300_000, device="cuda")
if way != "none":
    begin_history()
torch.cuda.reset_peak_memory_stats()
kept = train()
if way == "oom":
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass
if NEW:  # older releases record no event when a block that is older than the history is freed
    del early
with open("snapshot.pickle", "wb") as file:
    pickle.dump(torch.cuda.memory._snapshot(), file)
with open("stats.json", "w") as file:
    json.dump({"new": NEW, **torch.cuda.memory_stats()}, file)
