# SPDX-License-Identifier: MIT
"""Gets ten signals while walks run. The handler raises an exception, which must end the program's own call and not the walk.
Another thread sends each signal, so that it may take it, too; the walk waits for it where it looks for a library, and
expects an OSError. Prints how often the handler ran and the program caught."""
import ctypes
import os
import signal
import sys
import threading
import time

import torch

counts = {"raised": 0, "caught": 0}
reached = threading.Semaphore(0)
kept = torch.zeros(1000, device="cuda", requires_grad=True) ** 2  # a walk looks for the library that has tensors saved


def raises(_number, _frame):
    counts["raised"] += 1
    raise TimeoutError


def watch(event, arguments):
    if event == "ctypes.dlopen" and arguments[0] or arguments[:1] == ("/proc/self/mem",):
        reached.release()


def send():
    for number in range(10):
        while reached.acquire(blocking=False):
            pass
        reached.acquire()
        os.kill(os.getpid(), signal.SIGALRM)
        while counts["caught"] <= number:
            time.sleep(0.01)


sys.addaudithook(watch)
signal.signal(signal.SIGALRM, raises)
sender = threading.Thread(target=send, daemon=True)
sender.start()
while True:
    try:
        if counts["caught"] == 10:
            break
        ctypes.CDLL(None).gpumemtrace_holders()
    except TimeoutError:
        counts["caught"] += 1
sender.join()
print(counts["raised"], counts["caught"])
