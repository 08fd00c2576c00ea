# SPDX-License-Identifier: MIT
"""make bench: measures the costs of recording and of reading in one run.

Figures are CPU time. On a shared machine only ratios within one run are meaningful, and no figure is a
test.
"""
import os
import pathlib
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile

from bench import instructions, measurements
from bench.writer_costs import print_writer

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
BUILD = (ROOT / os.environ.get("O", "build")).resolve()
LIBRARY = BUILD / "libgpumemtrace.so"
PROGRAMS = BUILD / "tests"
DEPTHS = (10, 28, 58)
BATCHES = 2000
ROUNDS = 7
ROWS = 16
APIS = ("cudaMalloc", "cudaMallocAsync", "cudaMallocHost", "cuMemAlloc", "cuMemCreate")
LOOKUPS = ROOT / "tests/data/cudart_lookups.txt"


def environment(folder, preload, **settings):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GPUMEMTRACE_")}
    kept["LD_LIBRARY_PATH"] = str(BUILD / "simulator")
    kept["GPUMEMTRACE_OUTPUT"] = str(pathlib.Path(folder) / "bench.%p.db")
    kept["GPUMEMTRACE_QUIET"] = "1"
    if preload:
        kept["LD_PRELOAD"] = str(LIBRARY)
    return {**kept, **settings}


def run(command, folder, preload=False, **settings):
    return subprocess.run(
        [str(word) for word in command],
        env=environment(folder, preload, **settings),
        cwd=folder,
        capture_output=True,
        text=True,
        check=True,
    ).stdout


def call_costs(folder, kind, depth, preload=False, wrapper=(), threads=1):
    """Returns (alloc ns, free ns) of one run."""
    output = run([*wrapper, PROGRAMS / "bench_calls", kind, depth, BATCHES, threads], folder, preload)
    match = re.search(r"alloc (\d+) free (\d+)", output)
    return int(match.group(1)), int(match.group(2))


def added_costs(folder, depth, heaptrack):
    """Returns the (alloc ns, free ns) that the recorder and heaptrack add. All variants take turns, because the speed
    of a shared machine changes each second. The lowest costs count, because other programs only add time."""
    variants = {
        "plain cuda": {"kind": "cudaMalloc"},
        "ours": {"kind": "cudaMalloc", "preload": True},
        "plain malloc": {"kind": "malloc"},
        "heaptrack": {"kind": "malloc", "wrapper": [heaptrack, "-o", f"{folder}/heap"]},
    }
    if not heaptrack:
        del variants["plain malloc"], variants["heaptrack"]
    lowest = {}
    for _ in range(ROUNDS):
        for name, variant in variants.items():
            costs = call_costs(folder, depth=depth, **variant)
            lowest[name] = tuple(map(min, zip(costs, lowest.get(name, costs))))
    ours = [a - b for a, b in zip(lowest["ours"], lowest["plain cuda"])]
    if not heaptrack:
        return ours, None
    return ours, [a - b for a, b in zip(lowest["heaptrack"], lowest["plain malloc"])]


def print_call_costs(folder):
    heaptrack = shutil.which("heaptrack")
    print("One call, CPU ns of the calling thread over the same call without a profiler:\n")
    print(f"  {'frames':>6}  {'gpumemtrace':>16}  {'heaptrack':>16}  {'ratio':>13}")
    print(f"  {'':>6}  {'alloc':>8}{'free':>8}  {'malloc':>8}{'free':>8}  {'alloc':>6}{'free':>7}")
    for depth in DEPTHS:
        ours, theirs = added_costs(folder, depth, heaptrack)
        row = f"  {depth:>6}  {ours[0]:>8}{ours[1]:>8}"
        if theirs:
            ratios = [a / b if b > 0 else float("nan") for a, b in zip(ours, theirs)]
            row += f"  {theirs[0]:>8}{theirs[1]:>8}  {ratios[0]:>6.2f}{ratios[1]:>7.2f}"
        else:
            row += "  (no heaptrack here)"
        print(row)
    print()


def print_floor(folder):
    command = [PROGRAMS / "bench_calls", "cudaMalloc", DEPTHS[0]]
    rows = instructions.of_one_pair(command, 20, folder, environment(folder, True), LIBRARY.name)
    words = run([PROGRAMS / "bench_instructions"], folder).split()
    cost = dict(zip(words[::2], map(float, words[1::2])))
    print("What is left of it. Two instructions are waited for, in an allocation and in a free, ns each:")
    print(f"a locked increment {cost['increment'] - cost['none']:.1f}, the time-stamp counter"
          f" {cost['counter'] - cost['none']:.1f}, one behind the other {cost['both'] - cost['none']:.1f}.\n")
    if rows is None:
        print("  (no valgrind here: instructions were not counted)\n")
        return
    print(f"The library's instructions for cudaMalloc and its free, {sum(row[1] for row in rows)} in all;"
          " both go through\ntwo hooks, the runtime's and inside of it the driver's:\n")
    print(f"  {'':<28}{'calls':>6}{'instructions':>14}")
    for name, count, calls in rows[:ROWS]:
        print(f"  {name:<28}{calls:>6}{count:>14}")
    rest = rows[ROWS:]
    print(f"  {f'{len(rest)} others':<28}{sum(row[2] for row in rest):>6}{sum(row[1] for row in rest):>14}\n")


def print_apis(folder):
    print("The same by API and number of threads, under 10 frames: without, and what we add:\n")
    print(f"  {'':<18}{'threads':>7}  {'alloc':>8}{'added':>8}  {'free':>8}{'added':>8}")
    for kind in APIS:
        for threads in (1, 2, 4):
            lowest = {}
            for _ in range(3):
                for preload in (False, True):
                    costs = call_costs(folder, kind, 10, preload, threads=threads)
                    lowest[preload] = tuple(map(min, zip(costs, lowest.get(preload, costs))))
            alloc, free = lowest[False]
            added = [a - b for a, b in zip(lowest[True], lowest[False])]
            print(f"  {kind:<18}{threads:>7}  {alloc:>8}{added[0]:>8}  {free:>8}{added[1]:>8}")
    print()


def print_lookups(folder):
    def microseconds(preload):
        return int(run([PROGRAMS / "bench_lookups", LOOKUPS], folder, preload).split()[-1])

    turns = [(microseconds(False), microseconds(True)) for _ in range(ROUNDS)]
    without, with_us = (min(column) for column in zip(*turns))
    print(f"The lookups of a runtime's start, CPU us in all: without {without}, with {with_us}\n")


def stack_costs(folder, stacks, threads):
    """Returns {word of its output: CPU ns} of one run of a Python program that allocates 30 Python frames deep."""
    command = [sys.executable, ROOT / "tests/python/programs/bench_stacks.py",
               PROGRAMS / "stack_probe.so", 30, threads, BATCHES]
    output = run(command, folder, preload=True, GPUMEMTRACE_STACKS=stacks)
    return {word: int(value) for word, value in re.findall(r"(\w+) (-?\d+)", output)}


def print_stacks(folder):
    kinds = ("none", "python", "native", "all")
    lowest = {}
    for _ in range(ROUNDS):
        for threads in (1, 4):
            for kind in kinds:
                costs = stack_costs(folder, kind, threads)
                known = lowest.setdefault((kind, threads), costs)
                known.update({word: min(known[word], cost) for word, cost in costs.items()})
    one = lowest["all", 1]
    print(f"The stack of an allocation in Python, 30 Python and {one['native']} native frames deep, CPU ns over")
    print("the same without stacks, from the same place again and again:\n")
    print(f"  {'threads':>7}{'python':>9}{'native':>9}{'all':>9}")
    for threads in (1, 4):
        base = lowest["none", threads]["alloc"]
        added = [lowest[kind, threads]["alloc"] - base for kind in kinds[1:]]
        print(f"  {threads:>7}" + "".join(f"{cost:>9}" for cost in added))
    print(f"\n  beside it: libunwind alone {one['unwind']}, a Python loop over f_back {one['loop']}\n")


def children_cpu_ms(command, folder, preload):
    """Returns the CPU milliseconds of one run."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([str(word) for word in command], env=environment(folder, preload), cwd=folder,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def start_up(command, folder):
    """Returns the median CPU ms (without the recorder, with it) of alternating runs."""
    turns = [(children_cpu_ms(command, folder, False), children_cpu_ms(command, folder, True))
             for _ in range(31)]
    return tuple(statistics.median(column) for column in zip(*turns))


def print_start_up(folder):
    print("A whole program, CPU ms, median of 31 runs:\n")
    print(f"  {'':<28}{'without':>9}{'with':>9}{'added':>9}")
    for name, command in (
        ("without CUDA (true)", ["/bin/true"]),
        ("with CUDA (4 calls)", [PROGRAMS / "process_end", "return"]),
    ):
        without, with_us = start_up(command, folder)
        print(f"  {name:<28}{without:>9.2f}{with_us:>9.2f}{with_us - without:>9.2f}")
    print()


def print_exceptions(folder):
    def throw_ns(preload):
        output = run([PROGRAMS / "exceptions", 20000], folder, preload)
        return int(re.search(r"ns (\d+)", output).group(1))

    turns = [(throw_ns(False), throw_ns(True)) for _ in range(ROUNDS)]
    without, with_us = (min(column) for column in zip(*turns))
    print(f"A C++ exception over 20 frames, CPU ns: without {without}, with {with_us},"
          f" ratio {with_us / without:.2f}\n")


def print_analyzer(folder):
    run([PROGRAMS / "random_allocations", "runtime", 4, 2_000_000, 0], folder, preload=True)
    trace = max(pathlib.Path(folder).glob("bench.*.db"), key=lambda path: path.stat().st_size)
    scans, reads = [], []
    for _ in range(3):
        output = run([PROGRAMS / "bench_scan", trace], folder)
        rows, seconds = re.match(r"rows (\d+) seconds ([\d.]+)", output).groups()
        scans.append(float(seconds))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        run([BUILD / "gpumemtrace", "report", trace, "--json"], folder)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        reads.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    scan, read, rows = statistics.median(scans), statistics.median(reads), int(rows)
    print(f"Reading {rows:,} events ({trace.stat().st_size / rows:.0f} bytes each on disk):")
    print(f"  SQLite scan {rows / scan / 1e6:.2f} M/s, report --json {rows / read / 1e6:.2f} M/s,"
          f" ratio {read / scan:.2f}")


def print_estimates(folder):
    """Prints the costs of estimates. The goal is 50 ms of CPU for a model of 70B without --gpu, because a person waits
    for the estimate."""
    print("The estimate of a model, CPU ms, median of 31 runs (llama-3-70b: 80 blocks, some 1,300 layers; to be below 50):\n")
    for words in ("resnet50", "llama-3-8b", "llama-3-70b", "llama-3-70b --what-if", "llama-3-70b --inference --gpu=b200"):
        command = [BUILD / "gpumemtrace", "estimate", *words.split()]
        cost = statistics.median(children_cpu_ms(command, folder, False) for _ in range(31))
        print(f"  estimate {words:<36}{cost:>9.1f}")
    print()


def main():
    with tempfile.TemporaryDirectory(prefix="gpumemtrace-bench.") as folder, measurements.section("bench"):
        print_call_costs(folder)
        print_floor(folder)
        print_apis(folder)
        print_lookups(folder)
        print_stacks(folder)
        print_start_up(folder)
        print_exceptions(folder)
        print_writer(PROGRAMS / "pool_events", environment(folder, True), folder,
                     [(4_000_000, frames, "1GiB") for frames in (0, 28)])
        print_analyzer(folder)
        print_estimates(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
