# SPDX-License-Identifier: MIT
"""A recorded program that follows a test's instructions, and the lines that `live` prints about it."""
import re
import subprocess

from support.run import BUILD, LIBRARY, TIMEOUT_S, clean_environment, simulator_environment

COMMAND = BUILD / "gpumemtrace"


class Watched:
    """The recorded program. watched.do("take 0 12") returns when the program has made the allocation; the event may
    still be in the ring."""

    def __init__(self, folder, name="trace.db"):
        self.trace = folder / name
        self.process = subprocess.Popen(
            [BUILD / "tests/on_demand"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd=folder, env=simulator_environment("1GiB", LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=self.trace),
        )  # fmt: skip
        self.pid = self.process.pid

    def do(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            assert self.process.stdout.readline() == "done\n"

    def end(self):
        self.process.stdin.close()
        assert self.process.wait(TIMEOUT_S) == 0

    def kill(self):
        self.process.kill()
        self.process.wait(TIMEOUT_S)

    def close(self):
        if self.process.poll() is None:
            self.kill()
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            stream.close()


class Lines:
    """The output of `live` in a pipe."""

    def __init__(self, *arguments, cwd=None):
        self.process = subprocess.Popen(
            [COMMAND, "live", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, cwd=cwd, env=clean_environment(),
        )  # fmt: skip
        self.seen = []

    def until(self, pattern):
        """Returns the next line that matches."""
        for line in self.process.stdout:
            self.seen.append(line)
            if re.search(pattern, line):
                return line
        raise AssertionError(f"no line with {pattern} in:\n{''.join(self.seen)}{self.process.stderr.read()}")

    def end(self):
        """Waits for the end of `live` and returns its last line."""
        rest, complaint = self.process.communicate(timeout=TIMEOUT_S)
        assert (self.process.returncode, complaint) == (0, "")
        return (self.seen + rest.splitlines(keepends=True))[-1]

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.communicate()
