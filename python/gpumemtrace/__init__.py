# SPDX-License-Identifier: MIT
"""Starts the command gpumemtrace that pip installed. bin/, lib/ and share/ beside this file are the
folders that `make install` writes below a prefix."""

import os
import signal
import sys


def command():
    """Returns the path of the command."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gpumemtrace")


def library():
    """Returns the path of the recorder, for LD_PRELOAD."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libgpumemtrace.so")


def holders():
    """Lets the recorder store which Python variables keep GPU memory alive now. Does nothing if this process is not recorded
    with --holders or in a dry run."""
    import ctypes

    walk = getattr(ctypes.PyDLL(None), "gpumemtrace_holders", None)
    if walk:
        walk()


def main():
    """Replaces this process by the command. Before that, restores the signals that Python ignores, because the command
    and its child processes need those signals."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(command(), ["gpumemtrace", *sys.argv[1:]])
