# SPDX-License-Identifier: MIT
"""Is killed in the middle of a walk over a million lists: a second thread sees the walk's function run. With "alone", the
program is killed at the same place without a walk."""
import ctypes
import os
import signal
import sys
import threading

import torch

asked = threading.Event()


def kill(when):
    print(when, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)


def watch(thread_id):
    asked.wait()
    while True:
        if sys._current_frames()[thread_id].f_code.co_filename.startswith("<gpumemtrace"):
            kill("killed in a walk")


threading.Thread(target=watch, args=(threading.get_ident(),), daemon=True).start()
kept = [torch.empty(number * 1000 + 1, device="cuda") for number in range(300)]
del kept[::3]
many = [[] for _ in range(1_000_000)]
if sys.argv[1:] == ["alone"]:
    kill("killed without a walk")
asked.set()
while True:
    ctypes.CDLL(None).gpumemtrace_holders()
