# SPDX-License-Identifier: MIT
"""Counts the instructions of one allocation and its free for each function, with valgrind.

The counts do not depend on the machine's load. For each thread Callgrind writes lines such as

    ob=(2) /path/library.so      the object of the next functions; later lines have only "ob=(2)"
    fn=(17) name                 a function, to which the costs of the next lines belong
    calls=5 0x…                  the next line has the cost of these calls, which is not the function's own
    +3 12                        a place, and the number of instructions executed there
"""
import collections
import pathlib
import re
import shutil
import subprocess

BATCH = 64  # of bench_calls


def counts(path, library):
    """Returns {function: (instructions, calls)} of the library from one of callgrind's files."""
    names, found = {}, collections.defaultdict(lambda: [0, 0])
    current = {"ob": "", "fn": "", "cob": None, "cfn": ""}
    called = False
    for line in path.read_text().splitlines():
        key, _, rest = line.partition("=")
        if key in current:
            number, name = re.match(r"\((\d+)\)(?: (.*))?", rest).groups()
            space = key.lstrip("c")
            if name:
                names[space, number] = name
            current[key] = names[space, number]
        elif key == "calls":
            called = True
            if library in (current["cob"] or current["ob"]):
                found[current["cfn"]][1] += int(rest.split()[0])
            current["cob"] = None
        elif line[:1].isdigit() or line[:1] in "+-*":
            if not called and library in current["ob"]:
                found[current["fn"]][0] += sum(map(int, line.split()[1:2]))
            called = False
    return found


def of_one_pair(command, batches, folder, environment, library):
    """Returns [(function, instructions, calls)] of one allocation and its free, most instructions first. The counts are
    the difference between a run with twice `batches` batches and a run with `batches`. Returns None if valgrind is not
    installed."""
    if not shutil.which("valgrind"):
        return None
    runs = []
    for number in (batches, 2 * batches):
        file = pathlib.Path(folder) / f"counts.{number}"
        subprocess.run(["valgrind", "--tool=callgrind", "--separate-threads=yes",
                        f"--callgrind-out-file={file}", *map(str, command), str(number), "1"],
                       env=environment, cwd=folder, capture_output=True, check=True)
        runs.append(counts(file.with_name(f"{file.name}-01"), library))
    pairs = batches * BATCH
    added = [(name, *((b - a) / pairs for a, b in zip(runs[0].get(name, (0, 0)), both)))
             for name, both in runs[1].items()]
    return sorted(((name, round(cost), round(calls)) for name, cost, calls in added if cost >= 1),
                  key=lambda row: -row[1])
