# SPDX-License-Identifier: MIT
"""`make check-estimates`: compares the estimate with a training loop of the same model in a dry run.

CASES="gpt2 bert" runs only the cases whose names begin with gpt2 or bert (write "_" for a space). KEEP=FOLDER keeps the
traces. WRITE=1 writes the table to results.txt. """
import concurrent.futures
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

from estimates.cases import FIXED_ON, GENERATED, RANKS, WRITTEN_AFTERWARDS
from support.outcome import Outcome
from support.run import BUILD, TIMEOUT_S, clean_environment

HERE = pathlib.Path(__file__).resolve().parent
AT_ONCE = 2
MIB = 1 << 20
QUANTIZED_MOST = 0.02  # most by which the loaded bytes of a quantized model differ
MOST = {"allocated": (3, 10), "reserved": (5, None)}  # limits of the median and the worst, in percent; None: no limit
# The recorder cannot tell these categories apart, so the two are compared as one.
TOGETHER = {"buffers": "parameters", "kv_cache": "activations"}


def measure(case, trace):
    """Returns PyTorch's counters, and under "categories" the bytes of each category at the trace's peak."""
    python = pathlib.Path(os.environ.get("MODELS_PYTHON", BUILD / "pytorch/wheel/python"))
    packages = os.environ.get("MODELS_PACKAGES", f"{BUILD}/transformers:{BUILD}/adapters")
    environment = clean_environment(PYTHONPATH=packages, PYTHONPYCACHEPREFIX=BUILD / "pytorch/bytecode", PYTHONDONTWRITEBYTECODE="",
                                    GPUMEMTRACE_QUIET=1)
    replicas, device = case.get("parallel") in ("dp", "dp-other"), int(case.get("parallel") == "dp-other")
    cards = f"{case['gpus']}x80GiB" if replicas else "any"
    program = HERE / ("generate.py" if "kv-cache" in case else "train.py")
    completed = subprocess.run([BUILD / "gpumemtrace", "run", "-o", trace, f"--dry-run={cards}", "--", python, program, json.dumps(case)],
                               env=environment, capture_output=True, text=True, timeout=TIMEOUT_S, check=False)
    if not completed.stdout:
        raise RuntimeError(f"{completed.returncode}: {(completed.stderr.strip().splitlines() or ['it said nothing'])[-1]}")
    peak = json.loads(subprocess.run([BUILD / "gpumemtrace", "peak", "--json", trace], stdout=subprocess.PIPE, check=True).stdout)
    rows = [row for row in peak["devices"][device]["categories"] if row["layer"] == "pool"]
    return {**json.loads(completed.stdout.splitlines()[-1]), "categories": {row["category"]: row["bytes"] for row in rows}}


def options(case):
    yield f"--batch={case['batch']}"
    if "optimizer" in case:
        yield f"--optimizer={case['optimizer']}"
    yield f"--dtype={case.get('dtype', 'float32')}"
    for name in ("amp", "accumulation", "checkpointing", "attention", "lora", "lora-on", "lora-dropout", "lora-dtype", "quantize", "logits", "trains", "gpus", "parallel", "param_dtype",
                 "reduce_dtype", "reshard", "kv-cache", "torch"):
        if name in case:
            yield f"--{name.replace('_', '-')}={case[name]}"
    sizes = [f"{name}={case[name]}" for name in ("sequence", "decoder_sequence", "image_size") if name in case]
    if sizes:
        yield f"--set={','.join(sizes)}"


def estimate(case):
    completed = subprocess.run([BUILD / "gpumemtrace", "estimate", case.get("torchvision", "-"), "--json", *options(case)],
                               input=json.dumps(case.get("config")), text=True, capture_output=True, check=False)
    if completed.returncode:
        raise RuntimeError(f"the estimate ended with {completed.returncode}: {completed.stderr.strip()}")
    return json.loads(completed.stdout)


def percent(estimated, measured):
    return 100 * (estimated / measured - 1)


def run(case, trace):
    """Returns a dict with "case", "measured" and "estimated", or a text that says why the case failed."""
    try:
        return {"case": case, "estimated": estimate(case), "measured": measure(case, trace)}
    except (RuntimeError, subprocess.TimeoutExpired) as problem:
        return str(problem)


def by_category(row):
    """Returns {category: estimate minus measurement, in percent of the measured peak}."""
    totals = {}
    for sign, categories in ((1, row["estimated"]["categories"]), (-1, row["measured"]["categories"])):
        for category, count in categories.items():
            category = TOGETHER.get(category, category)
            totals[category] = totals.get(category, 0) + sign * (count or 0)
    return {category: 100 * total / row["measured"]["allocated"] for category, total in totals.items()}


def estimated(row, key):
    """Returns the estimated peak. The reserved bytes include segments that a growing cache leaves behind."""
    grown = (row["estimated"].get("kv_cache") or {}).get("grown_reserved_bytes") or 0
    return max(row["estimated"]["peak"][key + "_bytes"], grown if key == "reserved" else 0)


def differences(row):
    return {key: percent(estimated(row, key), row["measured"][key]) for key in MOST}


def is_same_model(row):
    """Returns whether the loaded bytes and the number of parameters are equal. bitsandbytes packs parameters, and keeps the
    unused ends of the blocks in which it quantizes."""
    ours, theirs = row["estimated"], row["measured"]
    if "quantize" in row["case"]:
        return abs(ours["load"]["allocated_bytes"] / theirs["loaded"] - 1) < QUANTIZED_MOST
    return ours["load"]["allocated_bytes"] == theirs["loaded"] and ours["parameters"]["count"] == theirs["parameters"]


def line(name, row):
    if isinstance(row, str):
        return f"{name:<28}{row}"
    measured, difference = row["measured"], differences(row)
    cells = "".join(f"{measured[key] / MIB:>11,.1f}{estimated(row, key) / MIB:>11,.1f}{difference[key]:>+7.2f}%" for key in MOST)
    most = max(by_category(row).items(), key=lambda pair: abs(pair[1]))
    return f"{name:<28}{cells}  {f'{most[0]} {most[1]:+.2f}%':<22}{'' if is_same_model(row) else '  the model itself differs'}"


def summary(rows, outcome):
    """Returns a line for each key of MOST, and adds one outcome, which says whether its limits hold."""
    lines = []
    for key, (median_most, worst_most) in MOST.items():
        values = [abs(differences(row)[key]) for row in rows]
        median, worst = (statistics.median(values), max(values)) if values else (0, 0)
        limit = f" (at most {worst_most})" if worst_most else ""
        lines.append(f"{key}: median {median:.2f} % (at most {median_most}), worst {worst:.2f} %{limit}, {len(values)} models")
        if values and median <= median_most and (worst_most is None or worst <= worst_most):
            outcome.passed()
        else:
            outcome.failed("", lines[-1])
    return lines


def part(title, cases, folder, pool, outcome):
    """Runs and prints one list of cases; returns the printed lines. Each case, and each of allocated and reserved, is one outcome."""
    wanted = tuple(os.environ.get("CASES", "").split())
    chosen = {name: case for name, case in cases.items() if not wanted or name.replace(" ", "_").startswith(wanted)}
    if not chosen:
        return []
    heads = "".join(f"{key + ', MiB':>22}{'':>8}" for key in MOST)
    lines = [title, "", " " * 28 + heads, " " * 28 + f"{'measured':>11}{'estimate':>11}{'':>8}" * len(MOST) + "  differs most"]
    print(*lines, sep="\n", flush=True)
    running = {name: pool.submit(run, case, folder / (name.replace(" ", "_").replace(",", "") + ".db")) for name, case in chosen.items()}
    rows = []
    for name, future in running.items():
        row = future.result()
        lines.append(line(name, row))
        print(lines[-1], flush=True)
        if isinstance(row, str):
            outcome.failed(name.replace(" ", "_"), row)
            continue
        rows.append(row)
        if is_same_model(row):
            outcome.passed()
        else:
            outcome.failed(name.replace(" ", "_"), "the model itself differs")
    said = summary(rows, outcome)
    print(*said, "", sep="\n", flush=True)
    return [*lines, *said, ""]


def main():
    outcome = Outcome()
    with tempfile.TemporaryDirectory() as scratch, concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
        folder = pathlib.Path(os.environ.get("KEEP") or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        parts = [part("Models that the formulas were read off", FIXED_ON, folder, pool, outcome),
                 part("Models that were written afterwards", WRITTEN_AFTERWARDS, folder, pool, outcome),
                 part("The first of several ranks", RANKS, folder, pool, outcome),
                 part("Models that write text; what they reserve depends on every token before", GENERATED, folder, pool, outcome)]
    if os.environ.get("WRITE"):
        (HERE / "results.txt").write_text("\n".join(text for lines in parts for text in lines).rstrip() + "\n")
    return outcome.finish()


if __name__ == "__main__":
    sys.exit(main())
