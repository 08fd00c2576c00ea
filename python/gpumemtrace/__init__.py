# SPDX-License-Identifier: MIT
"""The command gpumemtrace, where pip installed it: bin/, lib/ and share/ beside this file are what `make install` puts
below a prefix. This file must not know what the command does."""

import os
import signal
import sys


def command():
    """The path of the command."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "gpumemtrace")


def library():
    """The path of the recorder, for LD_PRELOAD."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "lib", "libgpumemtrace.so")


def main():
    """Becomes the command, with these arguments. The interpreter ignores signals that the command and what it starts must get."""
    for name in ("SIGPIPE", "SIGXFSZ"):
        signal.signal(getattr(signal, name), signal.SIG_DFL)
    os.execv(command(), ["gpumemtrace", *sys.argv[1:]])
