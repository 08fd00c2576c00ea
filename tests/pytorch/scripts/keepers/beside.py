# SPDX-License-Identifier: MIT
"""Walks over 500,000 lists, while another thread allocates, fills and empties a dict, and forks. Walks at least five times,
and until the thread has forked during a walk. Prints the number of walks, how many tensors the thread allocated, and
whether its children collect garbage and ask for walks as usual."""
import ctypes
import gc
import os
import sys
import threading

import torch

many = [[] for _ in range(500_000)]
table = {number: [] for number in range(1000)}
table["kept"] = torch.empty(50_000, device="cuda")
ended = threading.Event()
counts = {"allocated": 0, "forks": 0, "walking": 0, "good": 0}
switch_s = sys.getswitchinterval()


def is_walking(thread_id):
    return sys._current_frames()[thread_id].f_code.co_filename.startswith("<gpumemtrace")


def fork(walking):
    child = os.fork()
    if not child:
        is_good = gc.isenabled() and sys.getswitchinterval() == switch_s
        ctypes.CDLL(None).gpumemtrace_holders()
        os._exit(0 if is_good else 1)
    counts["forks"] += 1
    counts["walking"] += walking
    counts["good"] += os.waitpid(child, 0)[1] == 0


def disturb(thread_id):
    number = 0
    while not ended.is_set():
        number += 1
        table[f"new {number}"] = torch.empty(1000, device="cuda")
        table.pop(f"new {number - 500}", None)
        counts["allocated"] += 1
        walking = is_walking(thread_id)
        if counts["forks"] < 3 and walking or not counts["forks"]:
            fork(walking)


thread = threading.Thread(target=disturb, args=(threading.get_ident(),))
thread.start()
walks = 0
while walks < 5 or (walks < 100 and not counts["walking"]):
    ctypes.CDLL(None).gpumemtrace_holders()
    walks += 1
ended.set()
thread.join()
print(walks, counts["allocated"], counts["forks"], counts["walking"] > 0, counts["good"])
