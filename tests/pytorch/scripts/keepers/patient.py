# SPDX-License-Identifier: MIT
"""Lets a thread run for an hour before another one may take over, and asks for a walk while another one waits."""
import ctypes
import sys
import threading

import torch

kept = [torch.zeros(1 << 20, device="cuda")]
ended = threading.Event()
thread = threading.Thread(target=ended.wait)
thread.start()
sys.setswitchinterval(3600)
ctypes.CDLL(None).gpumemtrace_holders()
ended.set()
thread.join()
print(sys.getswitchinterval())
