# SPDX-License-Identifier: MIT
"""`make check-cases`: runs each case in a dry run and judges the first lines of the commands that the case names.
CASES="leak-ctx-output" tries only this case, KEEP=FOLDER keeps the traces and the first lines, WRITE=1 writes the
table.

A case is right if each of its commands says all that is expected, wrong if one of them says what is not true of the
program, and right in part otherwise. A case that is wrong fails. So does a case whose program died, unless it ended by its own
exit status and ran out of memory: then its first lines are judged.

A gain that the advice promises is measured: the program runs again with the option that takes this advice (`takes` names
the row of remedies.def), and with each setting of the environment that the first lines advise."""
import collections
import concurrent.futures
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import tomllib

from support.outcome import Outcome
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, load_json, run_command

FOLDER = ROOT / "tests/cases"
PYTHON = BUILD / "pytorch/wheel/python"
# Each grade stands for all checks of a case; the worst one counts.
RIGHT, IN_PART, WRONG = "right", "in part", "wrong"
GRADES = (RIGHT, IN_PART, WRONG)
UNITS = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}
SIZE = re.compile(r"([\d,]+(?:\.\d+)?) (B|KiB|MiB|GiB|TiB)\b")
# A promise is kept if the gain is within this share of it.
TOLERANCE = 0.1
# A setting that the first lines advise, and the reserved bytes that it promises.
SETTING = re.compile(r"\b(PYTORCH\w*_ALLOC_CONF)=([a-z_]+:\w+(?:,[a-z_]+:[\w.]+)*)")
RESERVED = re.compile(rf"{SETTING.pattern}: {SIZE.pattern} reserved at most")
HEADING = "# Score of `make check-cases`, written by WRITE=1"
# {finding: pattern of a first sentence that claims it}; the first that matches counts.
FINDINGS = {
    "no leak": r"No leak\b",
    "leak": r"Leak: |Never freed: ",
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


def size_of(number, unit):
    return round(float(number.replace(",", "")) * UNITS[unit])


def has_size(expected, tolerance, text):
    sizes = [size_of(number, unit) for number, unit in SIZE.findall(text)]
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
    completed = run_command(command, trace)
    return " ".join(completed.stdout.split("\n\n")[0].split()) or completed.stderr.strip()


def build(source, folder):
    """Compiles a program in C as the samples are compiled."""
    program = folder / source.stem
    subprocess.run(["gcc", "-g", "-O1", "-I", ROOT / "include", "-I", ROOT, source, "-o", program, "-L", BUILD / "simulator",
                    "-l:libcudart.so.12", f"-Wl,-rpath,{BUILD / 'simulator'}"], check=True, timeout=TIMEOUT_S)  # fmt: skip
    return [program]


def record(case, source, trace, options, **environment):
    """Returns the program's end: its exit status, and the last line of what it wrote."""
    folder = trace.parent
    program = build(source, folder) if source.suffix == ".c" else [PYTHON, source]
    completed = subprocess.run(
        [BUILD / "gpumemtrace", "run", f"--dry-run={case['card']}", "-o", trace, "--", *program, *options], cwd=folder,
        env=clean_environment(PYTHONPYCACHEPREFIX=BUILD / "pytorch/bytecode", **environment), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=TIMEOUT_S, check=False,
    )  # fmt: skip
    if not trace.exists():
        raise RuntimeError(f"{source.name} recorded nothing: {completed.stderr[-600:]}")
    lines = [line for line in completed.stderr.splitlines() if not line.startswith("gpumemtrace:")]
    return completed.returncode, lines[-1] if lines else ""


def death_of(status, last_line):
    """Returns how the program died, in words. A shell adds 128 to the number of a signal."""
    by = signal.Signals(status - 128).name if status - 128 in set(signal.Signals) else f"exit status {status}"
    return f"the program died: {by}{': ' if last_line else ''}{last_line[:200]}"


def has_died(case, status, last_line):
    may_fail = "out of memory" in last_line or any(expected["what"] == "out of memory" for expected in case["first"])
    return status >= 128 or (status and not may_fail)


def pool_of(trace):
    return load_json("report", trace)["devices"][0]["pools"][0]


def judge_gain(advice, promised, gained, end):
    """Judges a promise of bytes. If none was made (None), the program must end well."""
    if promised is None:
        return [(WRONG, f"advises {advice}, with which {death_of(*end)}")] if end[0] else []
    if abs(gained - promised) > TOLERANCE * promised:
        return [(WRONG, f"promises {promised:,} B less by {advice}, which gains {gained:,} B")]
    return []


def judge_option(case, source, trace):
    """Judges the advice that the option takes. The gain is that of the live bytes of the pool. It is not measured if the
    run had not yet reached its peak, or if the advice is about memory that an allocator or an exception keeps."""
    row = next((row for row in load_json("report", trace)["remedies"] if row["remedy"] == case["takes"]), None)
    if not row:
        return [(IN_PART, f"does not advise {case['takes']}")]
    taken = trace.with_name(f"{source.stem}-taken.db")
    end = record(case, source, taken, case["arguments"] + case["option"])
    is_measured = not row["before_peak"] and case["takes"] not in ("caught", "empty_cache")
    gained = row["need_bytes"] - pool_of(taken)["peak_live_bytes"]
    return judge_gain(case["takes"], row["gain_bytes"] if is_measured else None, gained, end)


def judge_setting(case, source, trace, name, value, said):
    """Judges a setting of the environment. A program that died must end well with it."""
    taken = trace.with_name(f"{source.stem}-set.db")
    end = record(case, source, taken, case["arguments"], **{name: value})
    before, after = (pool_of(one)["peak_reserved_bytes"] for one in (trace, taken))
    promise = RESERVED.search(said)
    promised = promise and before - size_of(*promise.groups()[-2:])
    return judge_gain(value, promised, before - after, end)


def judge_promises(case, source, trace, said):
    faults = judge_option(case, source, trace) if "takes" in case else []
    for name, value in sorted(set(SETTING.findall(said))):
        faults += judge_setting(case, source, trace, name, value, said)
    return faults


def commands_of(expected):
    return expected["command"] if isinstance(expected["command"], list) else [expected["command"]]


def try_one(path, folder):
    """Returns (grade, reasons) of a case, with its first lines in folder."""
    case = tomllib.loads(path.read_text())
    source = next(one for one in (path.with_suffix(".py"), path.with_suffix(".c")) if one.exists())
    trace = folder / f"{source.stem}.db"
    end = record(case, source, trace, case["arguments"])
    if has_died(case, *end):
        return WRONG, [death_of(*end)]
    reasons, grades, said = [], [RIGHT], []
    with (folder / f"{path.stem}.txt").open("w") as out:
        for expected in case["first"]:
            for command in commands_of(expected):
                text = first_lines(command, trace)
                faults = judge(expected, source, text)
                grades += [grade for grade, _ in faults]
                reasons += [f"{command} {reason}" for _, reason in faults]
                out.write(f"{command}: {text}\n")
                said.append(text)
    for grade, reason in judge_promises(case, source, trace, " ".join(said)):
        grades.append(grade)
        reasons.append(reason)
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
