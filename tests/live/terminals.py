# SPDX-License-Identifier: MIT
"""Terminals that `live` runs in: tmux, whose screen a test can read, and a bare pty."""
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import time

from live.watched import COMMAND
from support.run import TIMEOUT_S, clean_environment, wait_for


def children_of(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as children:
        return [int(child) for child in children.read().split()]


def is_running(pid):
    """Returns True if the process exists and is not a zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as stat:
            return stat.read().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False


def guard_of(terminal):
    """Returns the id of the guard, a process that waits for the end of `live`."""
    (guard,) = children_of(terminal.process.pid)
    return guard


def live_in(screen):
    """Returns the process id of `live`, which is a child of the shell on the screen."""
    (pid,) = children_of(screen.shell())
    return pid


class Tmux:
    """A shell in a terminal of the given size, on its own tmux server."""

    def __init__(self, folder, columns=80, rows=24, locale="C.UTF-8"):
        self.socket = folder / "tmux"
        environment = clean_environment(LC_ALL=locale, TERM="xterm-256color")
        environment.pop("TMUX", None)
        self._tmux("-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", rows, "-c", folder, "env", "PS1=ready$ ", "sh",
                   env=environment)  # fmt: skip
        wait_for(self.text, lambda text: "ready$" in text, "the shell")

    def _tmux(self, *arguments, env=None):
        return subprocess.run(["tmux", "-u", "-S", self.socket, *map(str, arguments)], env=env, check=True,
                              capture_output=True, text=True, timeout=TIMEOUT_S).stdout  # fmt: skip

    def type(self, text):
        self._tmux("send-keys", "-l", text)

    def enter(self, line):
        self.type(line)
        self._tmux("send-keys", "Enter")

    def key(self, name):
        self._tmux("send-keys", name)

    def shell(self):
        """Returns the shell's process id."""
        return int(self._tmux("list-panes", "-F", "#{pane_pid}"))

    def live(self, *arguments):
        self.enter(" ".join(map(str, (COMMAND, "live", *arguments))))

    def text(self):
        return self._tmux("capture-pane", "-p")

    def until(self, *words):
        return wait_for(self.text, lambda text: all(word in text for word in words), words)

    def resize(self, columns, rows):
        self._tmux("resize-window", "-x", columns, "-y", rows)

    def close(self):
        self._tmux("kill-server")


class Pty:
    """`live` on a terminal without a shell. A test can compare the terminal's settings."""

    def __init__(self, *arguments, size=(24, 80), term="xterm"):
        self.ours, self.theirs = pty.openpty()
        fcntl.ioctl(self.theirs, termios.TIOCSWINSZ, struct.pack("HHHH", *size, 0, 0))
        self.before = termios.tcgetattr(self.theirs)
        self.process = subprocess.Popen(
            [COMMAND, "live", *map(str, arguments)], stdin=self.theirs, stdout=self.theirs, stderr=subprocess.PIPE,
            env=clean_environment(TERM=term, LC_ALL="C.UTF-8"), start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )  # fmt: skip
        self.shown = b""

    def until(self, *words):
        """Waits until the output holds the words. Returns all output as bytes."""
        latest = time.monotonic() + TIMEOUT_S
        while not all(word.encode() in self.shown for word in words):
            assert time.monotonic() < latest and select.select([self.ours], [], [], TIMEOUT_S)[0], self.shown
            self.shown += os.read(self.ours, 65536)
        return self.shown

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def end(self, after=()):
        """Waits for the end of `live` and of the processes in `after`. Returns the exit status of `live` and the terminal's
        settings."""
        while self.process.poll() is None or any(map(is_running, after)):
            if select.select([self.ours], [], [], 0.05)[0]:
                self.shown += os.read(self.ours, 65536)
        while select.select([self.ours], [], [], 0)[0]:
            self.shown += os.read(self.ours, 65536)
        return self.process.returncode, termios.tcgetattr(self.theirs)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stderr.close()
        os.close(self.ours)
        os.close(self.theirs)
