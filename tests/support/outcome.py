# SPDX-License-Identifier: MIT
"""Prints the results of a suite that does not use pytest, for make check-all: a line "FAILED name: reason" or "SKIPPED
name: reason" for each failed or skipped test, and "N passed, N failed, N skipped" as the last line. tests/conftest.py
prints the same for pytest."""


class Outcome:
    def __init__(self):
        self.counts = {"passed": 0, "failed": 0, "skipped": 0}

    def passed(self, text=""):
        self._add("passed", text)

    def failed(self, name, reason):
        self._add("failed", f"FAILED {name}: {reason}")

    def skipped(self, name, reason):
        self._add("skipped", f"SKIPPED {name}: {reason}")

    def finish(self):
        """Prints the last line. Returns the exit status of the suite, which is 1 if a test failed or if there was no
        test."""
        print(", ".join(f"{count} {word}" for word, count in self.counts.items()), flush=True)
        return 1 if self.counts["failed"] or not any(self.counts.values()) else 0

    def _add(self, word, text):
        self.counts[word] += 1
        if text:
            print(text, flush=True)
