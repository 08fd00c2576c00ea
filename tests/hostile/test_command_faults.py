# SPDX-License-Identifier: MIT
"""Each malloc, file call and SQLite call of the command fails in turn: alone, or with all calls after it. The command
must give the same answer as without the fault, or no answer. The next command must give the right answer for the
trace."""
import json
import shutil

import pytest

from hostile.conftest import ALL
from support.foreign_files import make_foreign_files
from support.endings import difference, end_of, fault_complaint
from support.run import BUILD, PRELOAD_FIRST, ROOT, clean_environment
from support.weights import safetensors

pytestmark = pytest.mark.skipif(
    bool(PRELOAD_FIRST), reason="a sanitizer brings its own malloc, which no other can stand before"
)
# Number of tests that share the calls of one command, because one test for all calls would take minutes.
SHARES = 4 if ALL else 1
WHOLE = "report trace.db --json"  # all calls of this line are tried; most calls of the other lines are the same
SHORT = ("estimate model.json", "estimate blocks.json")  # few calls, so all of them are tried in each run
ESTIMATE = "estimate"  # opens no trace, so it may make no call of a group
BLOCKS = """{"schema": "gpumemtrace.model/1", "input": [8], "layers": [
    {"name": "h", "repeat": 3, "layers": [{"type": "Linear", "out": 8}]}, {"type": "Linear", "out": 4}]}"""
READING = """
    report trace.db | report trace.db --json | peak trace.db --at=end --format=csv | timeline trace.db --by=category --json
    frag trace.db --segments --json | phases trace.db | leaks trace.db | oom trace.db | info trace.db
    check trace.db --max-peak=1MiB --format=junit | compare trace.db model.json | estimate model.json --json | estimate gpt2 --kv-cache=64 --json
    estimate weights --json | estimate weights/model.safetensors.index.json --tensors --json | estimate m.gguf --tensors --json
    report trace.db trace.db --json | export trace.db --to=collapsed | export trace.db --to=pprof -o a.pb.gz
    estimate blocks.json --json --gpus=2 --parallel=fsdp2 | estimate model.json --json --gpus=2 --parallel=ddp
    export trace.db --to=torch-snapshot -o a.pickle | export trace.db --to=perfetto -o a.pftrace | export trace.db --to=massif | export trace.db --to=csv
    import good.pickle -o imported.db | import good.csv -o imported.db | import good.txt -o imported.db
    import good.sqlite -o imported.db
""".replace("\n", "|").split("|")[1:-1]


LLAMA = {"model_type": "llama", "hidden_size": 8, "intermediate_size": 12, "num_hidden_layers": 1, "num_attention_heads": 2, "vocab_size": 10}


def put_weights(folder):
    """Writes a model folder with weights in two parts, and a GGUF file."""
    there = folder / "weights"
    there.mkdir()
    (there / "config.json").write_text(json.dumps(LLAMA))
    shutil.copy(ROOT / "tests/fuzz/corpus/weights/gguf", folder / "m.gguf")
    parts = {"1.safetensors": {"norm.weight": ("F32", [8], 32)}, "2.safetensors": {"embed_tokens.weight": ("BF16", [10, 8], 160), "other": ("I8", [3], 3)}}
    for name, tensors in parts.items():
        (there / name).write_bytes(safetensors(tensors))
    index = {"weight_map": {name: part for part, tensors in parts.items() for name in tensors}}
    (there / "model.safetensors.index.json").write_text(json.dumps(index))


class Faults:
    """Runs one command line repeatedly with a different failing call, until no call is left."""

    def __init__(self, folder, line, group, mode):
        self.folder, self.arguments, self.group, self.mode = folder, line.split(), group, mode
        self.program = BUILD / ("tests/faulty" if group == "sqlite" else "") / "gpumemtrace"
        self.count = folder / "failures"

    def run(self, nth):
        """Runs the command with call `nth` failing; with 0, no call fails. Returns (how the command ended, number of
        failed calls)."""
        self.count.write_bytes(bytes(8))
        environment = clean_environment(
            LD_PRELOAD=BUILD / "tests/preload_faults.so",
            FAULTS=f"{self.group} {nth} {self.mode} {self.count}",
        )
        ending = end_of([self.program, *self.arguments], env=environment, cwd=self.folder)
        return ending, int.from_bytes(self.count.read_bytes(), "little")

    def each(self, first, step):
        """Yields (number of the failing call, how the command ended)."""
        nth, failed = first, 1
        while failed:
            ending, failed = self.run(nth)
            if failed:
                yield nth, ending
            nth += step


def of_groups(*groups):
    return pytest.mark.parametrize("group, share", [
        pytest.param(group, share, id=f"{group}-{share}" if share else group) for group in groups for share in range(SHARES)
    ])  # fmt: skip


def sampled(effort, chance, group, share, step):
    """Returns (first call, distance between calls) for this share. The distance is large unless all calls are tried."""
    step = effort({"memory": 499, "files": 29, "sqlite": 199}[group], step)
    return chance.randrange(1, step + 1) + share * step, step * SHARES


def take_imported(folder):
    """Returns the CSV and the report of the imported trace and removes the trace. Returns None if there is no trace."""
    trace = folder / "imported.db"
    if not trace.exists():
        return None
    said = end_of([BUILD / "gpumemtrace", "export", "--to=csv", trace], env=clean_environment())
    shown = end_of([BUILD / "gpumemtrace", "report", "--json", trace], env=clean_environment())
    trace.unlink()
    return said.stdout, shown.stdout


def import_complaint(folder, ending, group, expected):
    """Returns a complaint if the imported trace is incomplete, or if other files remain beside it; returns "" if all is
    well. Files may remain if the failing call is a file call, because then they cannot be removed."""
    left = sorted(path.name for path in folder.glob("imported.db.*"))
    for name in left:
        (folder / name).unlink()
    if left and group != "files":
        return f"left {left}"
    found = take_imported(folder)
    if found is None:
        return "" if ending.status == 2 or "imported.db" not in ending.stdout else "no trace"
    return "" if found == expected else f"another trace: {difference(expected[0] + expected[1], found[0] + found[1])}"


@pytest.mark.parametrize("mode", ["one", "rest"])
@of_groups("memory", "files", "sqlite")
@pytest.mark.parametrize("line", [line.strip() for line in READING])
def test_a_command_answers_rightly_or_not_at_all(made_trace, tmp_path, effort, chance, line, group, share, mode):
    shutil.copy(made_trace, tmp_path / "trace.db")
    shutil.copy(ROOT / "samples/linear-example.json", tmp_path / "model.json")
    (tmp_path / "blocks.json").write_text(BLOCKS)
    make_foreign_files(tmp_path)
    put_weights(tmp_path)
    faults = Faults(tmp_path, line, group, mode)
    unharmed, _ = faults.run(0)
    assert unharmed.status in (0, 1), unharmed.stderr
    imported = take_imported(tmp_path)
    wrong, tried = [], 0
    step = 1 if line == WHOLE and mode == "one" else 7
    for nth, ending in faults.each(*((1 + share, SHARES) if line.startswith(SHORT) else sampled(effort, chance, group, share, step))):
        tried += 1
        complaint = fault_complaint(ending, unharmed) or import_complaint(tmp_path, ending, group, imported)
        if complaint:
            wrong.append(f"call {nth}: {complaint}")
    assert tried or not ALL or line.startswith(ESTIMATE)
    assert not wrong, f"{len(wrong)} of {tried}:\n" + "\n".join(wrong[:10])


def answers(folder):
    """Returns how the next command ends, which shows whether data in the trace was lost or changed."""
    return end_of([BUILD / "gpumemtrace", *WHOLE.split()], env=clean_environment(), cwd=folder)


def try_on_copies(copy_of, original, line, group, share, mode, effort, chance):
    """Yields a line for each failing call with a wrong result. Each run gets a new copy, because the command writes into the
    folder."""
    there = copy_of(original)
    expected = answers(there)
    unharmed, _ = Faults(copy_of(original), line, group, mode).run(0)
    assert (expected.status, unharmed.status) == (0, 0), expected.stderr + unharmed.stderr
    nth, step = sampled(effort, chance, group, share, (5 if group == "memory" else 1) if mode == "one" else 17)
    while True:
        ending, failed = Faults(copy_of(original), line, group, mode).run(nth)
        if not failed:
            return
        complaint = fault_complaint(ending, unharmed)
        if complaint:
            yield f"call {nth}: {complaint}"
        later = answers(there)
        if (later.status, later.stdout) != (0, expected.stdout):
            yield f"call {nth}: later exit {later.status}, {later.stderr}{difference(expected.stdout, later.stdout)}"
        nth += step


@pytest.mark.parametrize("mode", ["one", "rest"])
@of_groups("memory", "files", "sqlite")
def test_a_killed_trace_survives_whatever_fails_while_it_is_folded(killed_plain, copy_of, effort, chance, group, share, mode):
    wrong = list(try_on_copies(copy_of, killed_plain, WHOLE, group, share, mode, effort, chance))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize("mode", ["one", "rest"])
@of_groups("memory", "files", "sqlite")
def test_a_trace_survives_whatever_fails_while_names_are_written(made_trace, copy_of, effort, chance, group, share, mode):
    wrong = list(try_on_copies(copy_of, made_trace.parent, "resolve trace.db --json", group, share, mode, effort, chance))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])


def run_complaint(ending, unharmed):
    """Returns "" if the program ran and ended as usual, or never started. If not, returns a complaint."""
    lines = ending.stderr.splitlines()
    if ending.late or any(not line.startswith("gpumemtrace: ") for line in lines):
        return f"took too long, or said {ending.stderr}"
    if (ending.status, ending.stdout) == (unharmed.status, unharmed.stdout):
        return ""
    if ending.status in (2, 126, 127) and not ending.stdout and len(lines) == 1:
        return ""
    return f"exit {ending.status}, {difference(unharmed.stdout, ending.stdout)}, {ending.stderr}"


@pytest.mark.parametrize("mode", ["one", "rest"])
@of_groups("memory", "files")
def test_a_program_is_run_as_it_is_or_not_at_all(tmp_path, effort, chance, group, share, mode):
    line = f"run --no-resolve --dry-run -o {tmp_path / 'trace.db'} -- {BUILD / 'tests/few_descriptors'}"
    faults = Faults(tmp_path, line, group, mode)
    unharmed, _ = faults.run(0)
    assert unharmed.status == 5, unharmed.stderr
    wrong = []
    for nth, ending in faults.each(*sampled(effort, chance, group, share, 7)):
        for trace in tmp_path.glob("trace*.db*"):  # if the program dies, `run` reads every trace with such a name
            trace.unlink()
        complaint = run_complaint(ending, unharmed)
        if complaint:
            wrong.append(f"call {nth}: {complaint}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])
