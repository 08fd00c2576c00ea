# SPDX-License-Identifier: MIT
"""`make check-models`: compares every family with transformers or torchvision, tensor by tensor, in the order of the class.

Exits 1 if a tensor differs. SEED=N and ROUNDS=N make other random configs. MODELS="bert" tries only titles that begin
with bert."""
import json
import os
import pathlib
import subprocess
import sys

from models.configs import all_configs
from support.outcome import Outcome
from support.run import BUILD, ROOT

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 5


def truth_of(configs):
    """Returns the library's result for each config: a list of tensors, or the error's text if the library refuses the config."""
    python = pathlib.Path(os.environ.get("MODELS_PYTHON", BUILD / "pytorch/wheel/python"))
    packages = pathlib.Path(os.environ.get("MODELS_PACKAGES", BUILD / "transformers"))
    environment = {**os.environ, "PYTHONPATH": str(packages), "LD_LIBRARY_PATH": str(BUILD / "simulator")}
    lines = "".join(json.dumps(config) + "\n" for config in configs)
    completed = subprocess.run([python, HERE / "truth.py"], input=lines, env=environment, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in completed.stdout.splitlines()]


def estimated(config, name):
    """Returns (tensors in the form of truth.py, number of parameters) as `gpumemtrace estimate` gives them, or (error's
    text, None). If the model has a name, the command gets this name."""
    completed = subprocess.run([BUILD / "gpumemtrace", "estimate", name or "-", "--json", "--tensors"],
                               input=json.dumps(config), text=True, capture_output=True, check=False, cwd=HERE)
    if completed.returncode:
        return completed.stderr.strip(), None
    result = json.loads(completed.stdout)
    rows = [[row["category"], row["name"], [int(size) for size in (row["shape"] or "").split(" x ") if size], row["bytes"] // max(row["elements"], 1)]
            for row in result["tensors"]]
    return rows, result["parameters"]["count"]


def differences(ours, theirs):
    """Yields a line per difference. Element sizes are compared only for buffers, because the type of parameters depends
    on the run."""
    def keyed(rows):
        return {(kind, name): (shape, size if kind == "buffers" else None) for kind, name, shape, size in rows}

    ours, theirs = keyed(ours), keyed(theirs)
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield f"{key[0]} {key[1]}: ours {ours.get(key)}, the library {theirs.get(key)}"
    if ours.keys() == theirs.keys():
        yield from misplaced(list(ours), list(theirs))


def misplaced(ours, theirs):
    """Yields a line for the first parameter and for the first buffer that is out of order. PyTorch allocates in this
    order."""
    for kind in ("parameters", "buffers"):
        pairs = zip((name for of, name in ours if of == kind), (name for of, name in theirs if of == kind), strict=True)
        yield from [f"{kind}: ours has {name}, where the library has {other}" for name, other in pairs if name != other][:1]


def main():
    configs = all_configs(int(os.environ.get("SEED") or 1), int(os.environ.get("ROUNDS") or 3))
    wanted = tuple(os.environ.get("MODELS", "").split())
    tried = [row for row in configs if not wanted or row[0].replace(" ", "_").startswith(wanted)]
    outcome, tensors = Outcome(), 0
    for (title, config, name, count), theirs in zip(tried, truth_of([config for _, config, _, _ in tried]), strict=True):
        title = title.replace(" ", "_")
        if isinstance(theirs, str):
            outcome.failed(title, f"the library refuses it: {theirs[:200]}\n    {json.dumps(config)}")
            continue
        ours, parameters = estimated(config, name)
        lines = [ours] if isinstance(ours, str) else list(differences(ours, theirs))
        if count and parameters != count:
            lines.append(f"{parameters} parameters, published are {count}")
        tensors += len(theirs)
        if lines:
            shown = "".join(f"\n    {line}" for line in lines[:SHOWN])
            outcome.failed(title, f"{len(lines)} differences\n    {json.dumps(config)}{shown}")
        else:
            outcome.passed()
    print(f"check-models: {len(tried)} configs, {tensors} tensors")
    return outcome.finish()


if __name__ == "__main__":
    sys.exit(main())
