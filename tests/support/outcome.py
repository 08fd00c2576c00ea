# SPDX-License-Identifier: MIT
"""Prints the results of a suite without pytest, for make check-all: "FAILED name: reason" or "SKIPPED name: reason" for each
such test, and "N passed, N failed, N skipped" as the last line, as tests/conftest.py does for pytest."""


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
        """Prints the last line. Returns the exit status of the suite: 1 if a test failed, or if there was none."""
        print(", ".join(f"{count} {word}" for word, count in self.counts.items()), flush=True)
        return 1 if self.counts["failed"] or not any(self.counts.values()) else 0

    def _add(self, word, text):
        self.counts[word] += 1
        if text:
            print(text, flush=True)
