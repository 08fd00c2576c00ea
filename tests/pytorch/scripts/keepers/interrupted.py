# SPDX-License-Identifier: MIT
"""Gets five signals while walks run. The handler raises an exception, which must end the program's own call and not the walk.
Another thread sends each signal, so that it may take it, too. Prints how often the handler ran and the program caught."""
import ctypes
import os
import signal
import threading
import time

import torch

counts = {"asked": 0, "raised": 0, "caught": 0}
kept = torch.zeros(1000, device="cuda")


def raises(_number, _frame):
    counts["raised"] += 1
    raise TimeoutError


def send():
    while not counts["asked"]:
        time.sleep(0.01)
    for number in range(5):
        os.kill(os.getpid(), signal.SIGALRM)
        while counts["caught"] <= number:
            time.sleep(0.01)


signal.signal(signal.SIGALRM, raises)
sender = threading.Thread(target=send, daemon=True)
sender.start()
while True:
    try:
        if counts["caught"] == 5:
            break
        counts["asked"] += 1
        ctypes.CDLL(None).gpumemtrace_holders()
    except TimeoutError:
        counts["caught"] += 1
sender.join()
print(counts["raised"], counts["caught"])
