# SPDX-License-Identifier: MIT
"""make bench-large: what very long recordings cost. It takes up to an hour and 10 GB on disk."""
import os
import sys
import tempfile

from bench.bench import PROGRAMS, environment
from bench.writer_costs import print_writer

RUNS = ((40_000_000, 0, "1GiB"), (40_000_000, 28, "1GiB"), (100_000_000, 0, "4GiB"))


def main():
    with tempfile.TemporaryDirectory(prefix="gpumemtrace-bench.", dir=os.environ.get("TMPDIR")) as folder:
        print_writer(PROGRAMS / "pool_events", environment(folder, True), folder, RUNS)
    return 0


if __name__ == "__main__":
    sys.exit(main())
