# SPDX-License-Identifier: MIT
"""`make check-models`: every family beside transformers or torchvision, tensor by tensor, in the order in which a class makes them.

Exit 1: one differs. SEED=N and ROUNDS=N try others."""
import json
import os
import pathlib
import subprocess
import sys

from models.configs import all_configs
from support.run import BUILD, ROOT

HERE = pathlib.Path(__file__).resolve().parent
SHOWN = 5


def truth_of(configs):
    """What the library says to each config: a list of tensors, or a text where it refuses."""
    python = pathlib.Path(os.environ.get("MODELS_PYTHON", BUILD / "pytorch/wheel/python"))
    packages = pathlib.Path(os.environ.get("MODELS_PACKAGES", BUILD / "transformers"))
    if not python.exists() or not (packages / "transformers").exists():
        sys.exit(f"check-models: no {python} or no transformers in {packages}: run make check-models")
    environment = {**os.environ, "PYTHONPATH": str(packages), "LD_LIBRARY_PATH": str(BUILD / "simulator")}
    lines = "".join(json.dumps(config) + "\n" for config in configs)
    completed = subprocess.run([python, HERE / "truth.py"], input=lines, env=environment, text=True, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in completed.stdout.splitlines()]


def estimated(config, name):
    """The same list as ours; by name, if it has one."""
    completed = subprocess.run([BUILD / "gpumemtrace", "estimate", name or "-", "--json", "--tensors"],
                               input=json.dumps(config), text=True, capture_output=True, check=False, cwd=HERE)
    if completed.returncode:
        return completed.stderr.strip(), None
    result = json.loads(completed.stdout)
    rows = [[row["category"], row["name"], [int(size) for size in (row["shape"] or "").split(" x ") if size], row["bytes"] // max(row["elements"], 1)]
            for row in result["tensors"]]
    return rows, result["parameters"]["count"]


def differences(ours, theirs):
    """Lines; parameters have a type of their own, so only a buffer's element size counts."""
    def keyed(rows):
        return {(kind, name): (shape, size if kind == "buffers" else None) for kind, name, shape, size in rows}

    ours, theirs = keyed(ours), keyed(theirs)
    for key in sorted(ours.keys() | theirs.keys()):
        if ours.get(key) != theirs.get(key):
            yield f"{key[0]} {key[1]}: ours {ours.get(key)}, the library {theirs.get(key)}"
    if ours.keys() == theirs.keys():
        yield from misplaced(list(ours), list(theirs))


def misplaced(ours, theirs):
    """The first parameter, and the first buffer, that stands in another place: PyTorch's allocator is asked in this order."""
    for kind in ("parameters", "buffers"):
        pairs = zip((name for of, name in ours if of == kind), (name for of, name in theirs if of == kind), strict=True)
        yield from [f"{kind}: ours has {name}, where the library has {other}" for name, other in pairs if name != other][:1]


def main():
    tried = list(all_configs(int(os.environ.get("SEED") or 1), int(os.environ.get("ROUNDS") or 3)))
    wrong = tensors = refused = 0
    for (title, config, name, count), theirs in zip(tried, truth_of([config for _, config, _, _ in tried]), strict=True):
        ours, parameters = estimated(config, name)
        if isinstance(theirs, str):
            refused += 1
            print(f"{title}: the library refuses it: {theirs[:200]}\n    {json.dumps(config)}")
            continue
        lines = [ours] if isinstance(ours, str) else list(differences(ours, theirs))
        if count and parameters != count:
            lines.append(f"{parameters} parameters, published are {count}")
        tensors += len(theirs)
        if lines:
            wrong += 1
            print(f"{title}: {len(lines)} differences\n    {json.dumps(config)}")
            print("".join(f"    {line}\n" for line in lines[:SHOWN]), end="")
    print(f"check-models: {len(tried)} configs, {tensors} tensors, {wrong} configs differ, {refused} refused by the library")
    return wrong > 0 or refused > 0


if __name__ == "__main__":
    sys.exit(main())
