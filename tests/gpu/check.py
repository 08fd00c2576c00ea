# SPDX-License-Identifier: MIT
"""make check-gpu: runs the matrix on a real driver with NVIDIA's own runtimes, shared and static, and compares recordings of
the machine's real programs with the programs' own counters.

Prints one table and writes it to tests/gpu/results/<card>-<driver>.txt. Exits 77 with a message if there is no GPU.
`--simulated` uses the simulator, so that this file can be tested without a GPU; `-o FILE` writes the table to FILE.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from gpu import counters, machine, training
from support import matrix
from support.run import BUILD, LIBRARY, ROOT, TIMEOUT_S

HERE = pathlib.Path(__file__).resolve().parent
GRANULE = 2 << 20  # an allocation may take up to this many bytes more than requested
STATIC = matrix.Way("static", "matrix_static", "both", "static", "linked to NVIDIA's static runtime")


def base_environment(simulated):
    """Returns the caller's environment without LD_PRELOAD and gpumemtrace's settings; with the simulator if `simulated`."""
    kept = {key: value for key, value in os.environ.items()
            if not key.startswith("GPUMEMTRACE_") and key != "LD_PRELOAD"}
    if simulated:
        folders = [str(BUILD / "simulator"), kept.get("LD_LIBRARY_PATH", "")]
        kept["LD_LIBRARY_PATH"] = ":".join(folder for folder in folders if folder)
        kept["GPUMEMTRACE_SIM"] = "h100"
    return kept


class Machine:
    """The driver, its card, and the installed runtimes of NVIDIA."""

    def __init__(self, environment, facts):
        self.facts = facts
        self.runtimes = {}
        for number in ("13", "12"):
            path = machine.find(f"libcudart.so.{number}", environment)
            if path:
                self.runtimes[number] = path
        folders = [environment.get("LD_LIBRARY_PATH", "")]
        folders += [os.path.dirname(path) for path in self.runtimes.values()]
        self.any = next(iter(self.runtimes), None)
        self.environment = {
            **environment,
            "LD_LIBRARY_PATH": ":".join(folder for folder in folders if folder),
            "MATRIX_RUNTIME": f"libcudart.so.{self.any or 13}",
        }
        self.recorded = {**self.environment, "LD_PRELOAD": str(LIBRARY)}

    def lacks(self, way):
        """Returns the reason why this way cannot run here; None if it can."""
        needed = {"none": [], "any": [self.any or "12 or 13"], "12_13": ["12", "13"]}
        missing = [number for number in needed.get(way.runtimes, [way.runtimes])
                   if number not in self.runtimes]
        return f"no libcudart.so.{missing[0]}" if missing else None


# --- the matrix -----------------------------------------------------------------------------------


def build_static(here, folder):
    """Builds a program with NVIDIA's static runtime. Returns (path, None), or (None, reason) if that fails."""
    library = machine.find("libcudart_static.a", here.environment)
    if not library:
        return None, "no libcudart_static.a"
    sources = [str(path) for path in sorted(matrix.SOURCES.glob("*.c")) if path.name != "bare.c"]
    program = os.path.join(folder, "matrix_static")
    completed = subprocess.run(
        [os.environ.get("CC", "gcc"), "-std=c11", "-D_GNU_SOURCE", "-O0",
         f"-I{ROOT}/include", f"-I{ROOT}", *sources, "-o", program,
         "-Wl,--whole-archive", library, "-Wl,--no-whole-archive",
         "-Wl,--no-as-needed", here.facts["path"], "-pthread", "-ldl", "-lrt", "-lm"],
        capture_output=True, text=True, timeout=TIMEOUT_S,
    )
    if completed.returncode != 0:
        return None, f"gcc: {completed.stderr.strip().splitlines()[-1]}"
    if here.facts["simulated"]:
        return None, "NVIDIA's static runtime runs only on NVIDIA's driver"
    return program, None


class Cells:
    """The result of each cell of the matrix: "+" right, "-" not done here, "!" wrong."""

    def __init__(self):
        self.marks, self.reasons, self.problems = {}, [], []

    def put(self, way, family, mark):
        self.marks[way.name, family.api, family.name] = mark

    def skip(self, way, reason):
        self.reasons.append((f"{way.name}: every family", reason))
        for family in matrix.families_of(way):
            self.put(way, family, "-")

    def count(self, mark):
        return sum(value == mark for value in self.marks.values())


def names_of(way, entry, simulated):
    if way is STATIC and entry["mark"].startswith("runtime"):
        return "driver"
    return "exact" if simulated else "base"


def judge(cells, way, family, result, simulated):
    mark = "+"
    for entry in result.runs_of(family):
        wrong = matrix.differences(result, entry, names_of(way, entry, simulated))
        if wrong:
            cells.problems += [f"{way.name}, {entry['mark']}: {line}" for line in wrong]
            mark = "!"
        elif entry["reason"]:
            cells.reasons.append((f"{way.name}: {entry['mark']}", entry["reason"]))
            mark = "-" if mark == "+" else mark
    cells.put(way, family, mark if result.runs_of(family) else "!")


def check_way(cells, here, way, folder, program):
    try:
        result = matrix.run(way, here.recorded, folder, program, "linked" if way is STATIC else None)
    except (matrix.Failed, subprocess.SubprocessError, ValueError) as error:
        cells.problems.append(str(error))
        for family in matrix.families_of(way):
            cells.put(way, family, "!")
        return
    for family in matrix.families_of(way):
        judge(cells, way, family, result, here.facts["simulated"])
    cells.problems += [f"{way.name}, the report: {line}" for line in matrix.sums(result)]


def check_matrix(here, folder):
    cells = Cells()
    for way in matrix.WAYS:
        reason = here.lacks(way)
        if reason:
            cells.skip(way, reason)
        else:
            check_way(cells, here, way, folder, way.executable(here.any))
    program, reason = build_static(here, folder)
    if program:
        check_way(cells, here, STATIC, folder, program)
    else:
        cells.skip(STATIC, reason)
    return cells


# --- real programs --------------------------------------------------------------------------------


def run_program(here, python, name, trace):
    """Returns the JSON that counters.py printed for the program, or {"reason": text}."""
    environment = {**here.recorded, "GPUMEMTRACE_OUTPUT": str(trace), "GPUMEMTRACE_QUIET": "1"}
    completed = subprocess.run(
        [python, str(HERE / "counters.py"), name], env=environment, text=True,
        capture_output=True, timeout=TIMEOUT_S,
    )
    if completed.returncode != 0:
        last = (completed.stderr.strip().splitlines() or ["no output"])[-1]
        return {"reason": f"it ended with {completed.returncode}: {last}"}
    return json.loads(completed.stdout.splitlines()[-1])


def check_program(here, name, folder):
    """Runs the program with the first Python that has it. Returns (program's count, driver's, ours, verdict) or
    (reason,)."""
    trace = pathlib.Path(folder) / f"{name}.db"
    for python in dict.fromkeys([sys.executable, shutil.which("python3") or sys.executable]):
        told = run_program(here, python, name, trace)
        if "reason" not in told:
            break
    if "reason" in told:
        return (told["reason"],)
    ours = matrix.live_change(matrix.read_rows(trace))
    near = abs(told["driver_bytes"] - ours) <= told["blocks"] * GRANULE
    right = ours == told["own_bytes"] and near
    return told["own_bytes"], told["driver_bytes"], ours, "right" if right else "WRONG"


# --- the table ------------------------------------------------------------------------------------


def table(here, cells, programs, trained):
    facts = here.facts
    lines = [
        f"card: {facts['name']}",
        f"driver: {here.driver_version}, CUDA {facts['version'] // 1000}.{facts['version'] % 1000 // 10}",
        f"runtimes: {', '.join(here.runtimes.values()) or 'none'}",
        "", "ways:",
    ]
    ways = matrix.WAYS + [STATIC]
    lines += [f"  {number:>2}  {way.name:<18}{way.text}" for number, way in enumerate(ways, 1)]
    lines += ["", f"{'family':<32}" + "".join(f"{number:>3}" for number in range(1, len(ways) + 1))]
    for family in matrix.FAMILIES:
        marks = (cells.marks.get((way.name, family.api, family.name), " ") for way in ways)
        lines.append(f"{family.api + ' ' + family.name:<32}" + "".join(f"{m:>3}" for m in marks))
    lines += ["", "+ each event once, and as booked   - not done here, for a reason below   ! wrong", "",
              f"{'program':<20}{'its own count':>16}{'cuMemGetInfo':>16}{'recorded':>16}"]
    for name, row in programs.items():
        numbers = "".join(f"{value:>16,}" for value in row[:-1])
        lines.append(f"{name:<20}" + (f"{numbers}  {row[-1]}" if numbers else f"  {row[0]}"))
    lines += [""] + training.table(trained) if trained else []
    problems = cells.problems + [f"{name}, {line}" for name, result in trained.items() for line in result.get("faults", [])]
    return lines + explained("not done here", grouped(cells.reasons)) + explained("wrong", problems)


def grouped(reasons):
    """Returns one line for each pair of reason and family, with the ways to which the reason applies."""
    seen = {}
    for where, reason in reasons:
        way, _, family = where.partition(": ")
        seen.setdefault((re.sub(r" \d+ ", " ", family), reason), []).append(way)
    return [f"{family}: {reason} ({', '.join(dict.fromkeys(ways))})"
            for (family, reason), ways in seen.items()]


def explained(heading, lines):
    return ["", f"{heading}:"] + [f"  {line}" for line in lines] if lines else []


def file_name(here):
    words = f"{here.facts['name']}-{here.driver_version}"
    return re.sub(r"[^A-Za-z0-9.]+", "-", words).strip("-").lower() + ".txt"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--simulated", action="store_true")
    parser.add_argument("-o", metavar="FILE", type=pathlib.Path)
    parser.add_argument("--keep", metavar="FOLDER", type=pathlib.Path, help="keep the traces there")
    options = parser.parse_args()
    environment = base_environment(options.simulated)
    facts = machine.ask(environment)
    if not facts.get("reason") and facts["simulated"] != options.simulated:
        facts = {"reason": "the driver found is the simulator; --simulated says that it may be"}
    if facts.get("reason"):
        print(f"check-gpu: skipped: {facts['reason']}")
        return 77
    here = Machine(environment, facts)
    here.driver_version = "simulated" if options.simulated else machine.kernel_driver()
    with tempfile.TemporaryDirectory(prefix="gpumemtrace-gpu.") as temporary:
        folder = options.keep or pathlib.Path(temporary)
        folder.mkdir(exist_ok=True)
        cells = check_matrix(here, folder)
        names = ["ctypes"] if options.simulated else counters.PROGRAMS
        programs = {name: check_program(here, name, folder) for name in names}
        trained = {} if options.simulated else training.check_all(environment, facts["name"], folder)
    lines = table(here, cells, programs, trained)
    print("\n".join(lines))
    path = options.o or (None if options.simulated else HERE / "results" / file_name(here))
    if path:
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    verdicts = [row[-1] if len(row) > 1 else "" for row in programs.values()] + training.verdicts(trained)
    wrong = cells.count("!") + verdicts.count("WRONG")
    skipped = cells.count("-") + verdicts.count("")
    passed = cells.count("+") + verdicts.count("right")
    print(f"{passed} passed, {wrong} failed, {skipped} skipped")
    return 1 if wrong or cells.problems else 0


if __name__ == "__main__":
    sys.exit(main())
