# SPDX-License-Identifier: MIT
"""Forks while threads create, run and drop code objects that allocate. Each child does the same.

    python forks.py RUNTIME EXPECTED FORKS

Exits with 0 if every child exits with 0. """
import os
import sys
import threading

from allocating import allocate, write_expected

OVER = threading.Event()
# All threads must have made their first call before a fork, because the simulator cannot fork during a first call.
BEGUN = threading.Barrier(4)


def churn(rounds):
    for number in range(rounds):
        text = "\n" * (number % 97) + f"def made_{number % 7}():\n    allocate()\nmade_{number % 7}()"
        exec(compile(text, "<made>", "exec"), {"allocate": allocate})
        if OVER.is_set():
            return


def begin_and_churn():
    allocate()
    BEGUN.wait()
    churn(10**9)


def child():
    churn(30)
    thread = threading.Thread(target=churn, args=(30,))
    thread.start()
    thread.join()
    os._exit(0)


def main():
    threads = [threading.Thread(target=begin_and_churn) for _ in range(3)]
    for thread in threads:
        thread.start()
    BEGUN.wait()
    codes = []
    for _ in range(int(sys.argv[3])):
        pid = os.fork()
        if pid == 0:
            child()
        codes.append(os.waitpid(pid, 0)[1])
    OVER.set()
    for thread in threads:
        thread.join()
    write_expected()
    sys.exit(any(codes))


main()
