# SPDX-License-Identifier: MIT
"""make bench-large: measures the costs of recording and reading very long traces. The whole bench takes about an hour and
10 GB in TMPDIR. SIZES="1 10" only reads traces of 1 and 10 million events and records none."""
import os
import sys
import tempfile

from bench import measurements
from bench.bench import PROGRAMS, environment
from bench.reading import print_reading
from bench.writer_costs import print_writer
from support.long_traces import KINDS

RUNS = ((40_000_000, 0, "1GiB"), (40_000_000, 28, "1GiB"), (100_000_000, 0, "4GiB"))


def main():
    sizes = os.environ.get("SIZES")
    with (
        tempfile.TemporaryDirectory(prefix="gpumemtrace-bench.", dir=os.environ.get("TMPDIR")) as folder,
        measurements.section("bench-large"),
    ):
        if not sizes:
            print_writer(PROGRAMS / "pool_events", environment(folder, True), folder, RUNS)
        for kind in KINDS:
            for millions in map(float, (sizes or "1 10 100").split()):
                print_reading(kind, int(millions * 1e6), folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
