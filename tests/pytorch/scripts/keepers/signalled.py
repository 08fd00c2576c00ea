# SPDX-License-Identifier: MIT
"""Keeps three tensors and waits until its input ends. With "own", it has a handler of SIGUSR1, which prints."""
import os
import select
import signal
import sys

import torch

if sys.argv[1:] == ["own"]:
    signal.signal(signal.SIGUSR1, lambda *_: print("own handler", flush=True))
kept = [torch.zeros(1 << 16, device="cuda") for _ in range(3)]
print(os.getpid(), flush=True)
while not select.select([sys.stdin], [], [], 0.01)[0]:  # Python's main thread must run for a walk
    pass
print("ended", len(kept))
