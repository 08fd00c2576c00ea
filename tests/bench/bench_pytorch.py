# SPDX-License-Identifier: MIT
"""make bench-pytorch: measures the cost of recording a PyTorch program, and for comparison the cost of PyTorch's own
recorder of allocations, in a dry run of each installed build. Then measures the memory and disk space of many tensor
events.

A cost is CPU time, the lowest of many short parts, because a shared machine only adds time. The variants take turns in
rounds. Only the ratios within one run are meaningful, and none of them is a test. At the end, measures one walk of
holders, beside the loop over Python's objects that people write by hand. """
import argparse
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

from bench import measurements
from bench.bench import BUILD, LIBRARY, PROGRAMS, ROOT, environment

COSTS = pathlib.Path(__file__).resolve().parent / "torch_costs.py"
WALKS = COSTS.with_name("walk_costs.py")
TENSORS, OBJECTS = 100_000, 1_000_000
WORK = {"loop0": "torch.empty, depth 0", "loop20": "torch.empty, depth 20", "gpt": "GPT training"}
RECORDERS = ("PyTorch, python", "ours, python", "PyTorch, all", "ours, all")
VARIANTS = ("plain", *RECORDERS, "values")  # "values": a dry run that computes small values, without the recorder
MIB = 1 << 20
# Caches the bytecode, because compiling PyTorch's modules would take longer than all measurements.
BYTECODE = {"PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": str(BUILD / "pytorch/bytecode")}


def dry_run_environment(folder, stacks, recorded, values="none"):
    """Returns the environment of a dry run, with or without the recorder in LD_PRELOAD."""
    kept = environment(folder, False, GPUMEMTRACE_STACKS=stacks, **BYTECODE)
    command = [BUILD / "gpumemtrace", "run", "--dry-run=16GiB", f"--values={values}", "--", "env", "-0"]
    output = subprocess.run(command, env=kept, capture_output=True, check=True).stdout.decode()
    found = dict(line.split("=", 1) for line in output.split("\0") if "=" in line)
    if not recorded:
        preloads = found["LD_PRELOAD"].split(":")
        found["LD_PRELOAD"] = ":".join(path for path in preloads if path != str(LIBRARY))
    return found


def run_costs(python, folder, variant, events=0):
    recorder, _, stacks = variant.partition(", ")
    history = stacks if recorder == "PyTorch" else "none"
    found = dry_run_environment(folder, stacks or "all", recorder == "ours", "small" if variant == "values" else "none")
    found["PYTHONPATH"] = str(ROOT / "tests/pytorch/scripts")  # the folder of gpt.py
    command = [str(python), str(COSTS), history, str(events)]
    return subprocess.run(command, env=found, cwd=folder, capture_output=True, text=True, check=True).stdout


def costs_of(python, folder, variant):
    """Returns {work: (ns of the program's threads, ns of the recorder's thread)} for one allocation and its free."""
    costs = {}
    for name, *numbers in map(str.split, run_costs(python, folder, variant).splitlines()):
        costs[name] = tuple(map(float, numbers))
    for trace in pathlib.Path(folder).glob("*.db*"):
        trace.unlink()
    return costs


def lowest(python, folder, rounds):
    """Returns {variant: {work: (ns of the program's threads, ns of the recorder's thread)}}, the lowest of all rounds."""
    found = {}
    for _ in range(rounds):
        for variant in VARIANTS:
            costs = costs_of(python, folder, variant)
            known = found.setdefault(variant, costs)
            known.update({work: tuple(map(min, zip(costs[work], known[work]))) for work in costs})
    return found


def print_costs(python, folder, rounds):
    found = lowest(python, folder, rounds)
    for work, title in WORK.items():
        plain = found["plain"][work][0]
        added = {variant: found[variant][work][0] - plain for variant in RECORDERS}
        print(f"  {title}: plain {plain:.0f} ns an allocation and its free; added:")
        for variant, cost in added.items():
            recorder, stacks = variant.split(", ")
            row = f"    {variant:<16}{cost:>7.0f} ns{100 * cost / plain:>7.1f} %"
            if recorder == "ours":
                row += f"   {cost / added[f'PyTorch, {stacks}']:.2f} of PyTorch's"
                row += f"; {found[variant][work][1]:.0f} ns on a thread of ours"
            print(row)
        values = found["values"][work][0] - plain
        print(f"    --values=small  {values:>7.0f} ns{100 * values / plain:>7.1f} %   of a dry run, whoever records it")
    print(flush=True)


def resident(output):
    return [int(number) for number in re.findall(r"(\d+)$", output, re.MULTILINE)]


def print_growth(title, plain, recorded, trace, events):
    """Prints the resident memory that the recorder adds, at each moment."""
    added = [ours - base for ours, base in zip(recorded, plain)]
    size = trace.stat().st_size
    print(f"  {title}: {events:,} events, {size / events:.1f} bytes each on disk")
    print(f"    resident over plain, MiB: at most {max(added) / MIB:.1f}; over time "
          + " ".join(f"{value / MIB:.0f}" for value in added))
    trace.unlink()


def trace_in(folder):
    return max(pathlib.Path(folder).glob("*.db"), key=lambda path: path.stat().st_size)


def print_pool_events(folder, events):
    command = [PROGRAMS / "pool_events", str(events)]
    outputs = [subprocess.run(command, env=environment(folder, preload), cwd=folder, capture_output=True,
                              text=True, check=True).stdout for preload in (False, True)]
    plain, recorded = map(resident, outputs)
    print_growth("a pool in C, as fast as it can", plain, recorded, trace_in(folder), events)


def print_torch_events(python, folder, events):
    plain = resident(run_costs(python, folder, "plain", events))
    recorded = resident(run_costs(python, folder, "ours, all", events))
    print_growth("torch.empty in a loop", plain, recorded, trace_in(folder), events)


def print_walk(python, folder):
    command = [BUILD / "gpumemtrace", "run", "--dry-run=16GiB", "--holders", "-o", "walk.db", "--", python, WALKS,
               str(TENSORS), str(OBJECTS)]  # fmt: skip
    output = subprocess.run(command, env=environment(folder, False, **BYTECODE), cwd=folder, capture_output=True, text=True,
                            check=True).stdout
    walked, looped, added, rest = map(float, output.split())
    with sqlite3.connect(pathlib.Path(folder) / "walk.db") as database:
        stopped, objects = database.execute("SELECT stopped, objects_count FROM walk WHERE reason = 'asked' ORDER BY objects_count").fetchone()
    print(f"  {TENSORS:,} tensors and {OBJECTS:,} lists: {walked:.0f} ms, {walked / looped:.1f} of a loop over gc.get_objects()\n"
          f"    {objects:,} objects met{f', then stopped at its limit of {stopped}' if stopped else ''}; {added:.0f} MiB more resident\n"
          f"    {rest:.0f} ms if only a cycle keeps them")


def pythons():
    for name in ("debian", "wheel"):
        python = BUILD / "pytorch" / name / "python"
        if python.exists():
            yield name, python
        else:
            print(f"PyTorch's build '{name}' is not there: make pytorch\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--events", type=int, default=20_000_000)
    options = parser.parse_args()
    found = list(pythons())
    with measurements.section("bench-pytorch"), tempfile.TemporaryDirectory(
            prefix="gpumemtrace-bench.", dir=os.environ.get("TMPDIR")) as folder:
        for name, python in found if options.rounds else []:
            print(f"PyTorch, {name}: CPU time over the same without a recorder\n", flush=True)
            print_costs(python, folder, options.rounds)
        if options.events:
            print("Many events: memory and disk\n", flush=True)
            print_pool_events(folder, options.events)
            for name, python in found[:1]:
                print_torch_events(python, folder, options.events)
        print("\nOne walk of holders\n", flush=True)
        for _, python in found[-1:]:
            print_walk(python, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
