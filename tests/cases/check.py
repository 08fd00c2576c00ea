# SPDX-License-Identifier: MIT
"""`make check-cases`: runs each case in a dry run and judges the first lines of the commands that the case names.
CASES="leak-ctx-output" tries only this case, KEEP=FOLDER keeps the traces and the first lines, WRITE=1 writes the
table.

A case is right if each of its commands says all that is expected, wrong if one of them says what is not true of the
program, and right in part otherwise. A case that is wrong fails."""
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import tempfile
import tomllib

from support.outcome import Outcome
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment

FOLDER = ROOT / "tests/cases"
PYTHON = BUILD / "pytorch/wheel/python"
# Each grade stands for all checks of a case; the worst one counts.
RIGHT, IN_PART, WRONG = "right", "in part", "wrong"
GRADES = (RIGHT, IN_PART, WRONG)
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = re.compile(r"([\d,]+(?:\.\d+)?) (B|KiB|MiB|GiB|TiB)\b")
HEADING = "# Score of `make check-cases`, written by WRITE=1"
# {finding: pattern of a first sentence that claims it}; the first that matches counts.
FINDINGS = {
    "no leak": r"No leak\b",
    "leak": r"Leak: ",
    "out of memory": r"Out of memory",
    "reserved": r"(?i).*\breserved\b.*\bidle\b",
    "peak": r"Peak ",
}
# {expected finding: findings that deny it}
DENIED = {
    "leak": {"no leak"},
    "no leak": {"leak"},
    "peak": {"leak", "out of memory"},
    "reserved": {"leak", "out of memory"},
    "out of memory": {"leak", "no leak", "peak", "reserved"},
}


def finding_of(text):
    return next((name for name, pattern in FINDINGS.items() if re.match(pattern, text)), "none of these")


def is_named(program, line, text):
    """Says whether the text names a line of the program that reads `line`."""
    numbers = [number for number, one in enumerate(program.read_text().splitlines(), 1) if one.strip() == line]
    assert numbers, f"{program.name} has no line {line!r}"
    return any(re.search(rf"{re.escape(program.name)}:{number}\b", text) for number in numbers)


def has_size(expected, tolerance, text):
    sizes = [float(number.replace(",", "")) * UNITS[unit] for number, unit in SIZE.findall(text)]
    return any(abs(size - expected) <= tolerance * expected for size in sizes)


def is_said(pattern, text):
    """A word that the pattern begins with must be the beginning of a word: "old" is not said by "hold"."""
    return re.search(rf"(?i)(?:\b|(?=\W))(?:{pattern})", text)


def judge(expected, program, text):
    """Returns [(grade, reason)] for all that the first lines lack or say against the expectation."""
    found = finding_of(text)
    # The program's name tells the case, and the tool repeats it.
    own_words = text.replace(program.name, "")
    faults = []
    # A report opens with the peak if no leak was found.
    if found != expected["what"] and (expected["what"], found) != ("no leak", "peak"):
        grade = WRONG if found in DENIED[expected["what"]] else IN_PART
        faults.append((grade, f"finds {found}, not {expected['what']}"))
    if expected.get("line") and not any(is_named(program, line, text) for line in expected["line"]):
        faults.append((IN_PART, "names no line that matters"))
    if "bytes" in expected and not has_size(expected["bytes"], expected["tolerance"], text):
        faults.append((IN_PART, f"does not say {expected['bytes']:,} B"))
    faults += [(IN_PART, f"says nothing like {says}") for says in expected.get("says", []) if not is_said(says, own_words)]
    faults += [(WRONG, f"says {denied}") for denied in expected.get("not", []) if is_said(denied, own_words)]
    return faults


def first_lines(command, trace):
    """Returns the text of the command up to the first empty line, as one line."""
    completed = subprocess.run([BUILD / "gpumemtrace", command, trace], env=clean_environment(), stdin=subprocess.DEVNULL,
                               capture_output=True, text=True, timeout=TIMEOUT_S, check=False)  # fmt: skip
    return " ".join(completed.stdout.split("\n\n")[0].split()) or completed.stderr.strip()


def build(source, folder):
    """Compiles a program in C as the samples are compiled."""
    program = folder / source.stem
    subprocess.run(["gcc", "-g", "-O1", "-I", ROOT / "include", "-I", ROOT, source, "-o", program, "-L", BUILD / "simulator",
                    "-l:libcudart.so.12", f"-Wl,-rpath,{BUILD / 'simulator'}"], check=True, timeout=TIMEOUT_S)  # fmt: skip
    return [program]


def record(case, source, folder, options):
    trace = folder / f"{source.stem}.db"
    program = build(source, folder) if source.suffix == ".c" else [PYTHON, source]
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", f"--dry-run={case['card']}", "-o", trace, "--", *program, *options], cwd=folder,
        env=clean_environment(PYTHONPYCACHEPREFIX=BUILD / "pytorch/bytecode"), stdin=subprocess.DEVNULL, capture_output=True,
        text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if not trace.exists():
        raise RuntimeError(f"{source.name} recorded nothing: {completed.stderr[-600:]}")
    return trace


def commands_of(expected):
    return expected["command"] if isinstance(expected["command"], list) else [expected["command"]]


def try_one(path, folder):
    """Returns (grade, reasons) of a case, with its first lines in folder."""
    case = tomllib.loads(path.read_text())
    source = next(one for one in (path.with_suffix(".py"), path.with_suffix(".c")) if one.exists())
    trace = record(case, source, folder, case["arguments"])
    reasons, grades = [], [RIGHT]
    with (folder / f"{path.stem}.txt").open("w") as out:
        for expected in case["first"]:
            for command in commands_of(expected):
                text = first_lines(command, trace)
                faults = judge(expected, source, text)
                grades += [grade for grade, _ in faults]
                reasons += [f"{command} {reason}" for _, reason in faults]
                out.write(f"{command}: {text}\n")
    return max(grades, key=GRADES.index), reasons


def score_table(grades):
    """Returns the table of the score by kind, as lines of Markdown."""
    kinds = sorted({path.parent.name for path in grades})
    found = collections.Counter((path.parent.name, grade) for path, grade in grades.items())
    counts = {kind: [found[kind, grade] for grade in GRADES] for kind in kinds}
    rows = [f"| {kind} | {' | '.join(map(str, counts[kind]))} |" for kind in kinds]
    total = [sum(column) for column in zip(*counts.values(), strict=True)]
    return ["| kind | right | in part | wrong |", "|---|---|---|---|", *rows, f"| all | {' | '.join(map(str, total))} |"]


def main():
    outcome = Outcome()
    chosen = os.environ.get("CASES", "").split()
    paths = [path for path in sorted(FOLDER.glob("*/*.toml")) if not chosen or path.stem in chosen]
    grades = {}
    with tempfile.TemporaryDirectory(prefix="cases-") as temporary, concurrent.futures.ThreadPoolExecutor(2) as pool:
        folder = pathlib.Path(os.environ.get("KEEP") or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        running = {path: pool.submit(try_one, path, folder) for path in paths}
        for path, future in running.items():
            grades[path], reasons = future.result()
            print(f"{path.parent.name}/{path.stem}: {grades[path]}", *reasons, sep="\n    ", flush=True)
            if grades[path] == WRONG:
                outcome.failed(path.stem, "; ".join(reasons))
            else:
                outcome.passed()
    table = score_table(grades)
    print(*table, sep="\n")
    if os.environ.get("WRITE"):
        (FOLDER / "score.md").write_text("\n".join([HEADING, "", *table, ""]))
    return outcome.finish()


if __name__ == "__main__":
    raise SystemExit(main())
