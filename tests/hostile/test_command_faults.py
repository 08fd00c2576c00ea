# SPDX-License-Identifier: MIT
"""Each malloc, file call and SQLite call of the command fails, in turn: alone, or with all that follow. The answer is
the one without the fault, or there is none; and the trace gives the right answer to the next command."""
import shutil

import pytest

from hostile.conftest import ALL
from support.endings import difference, end_of, fault_complaint
from support.run import BUILD, PRELOAD_FIRST, ROOT, clean_environment

pytestmark = pytest.mark.skipif(
    bool(PRELOAD_FIRST), reason="a sanitizer brings its own malloc, which no other can stand before"
)
GROUPS = ("memory", "files", "sqlite")
WHOLE = "report trace.db --json"  # the line whose calls are all tried; most calls of the others are the same
READING = """
    report trace.db | report trace.db --json | peak trace.db --at=end --format=csv | timeline trace.db --by=category --json
    frag trace.db --segments --json | phases trace.db | leaks trace.db | oom trace.db | info trace.db
    check trace.db --max-peak=1MiB --format=junit | compare trace.db model.json | estimate model.json --json
    report trace.db trace.db --json
""".replace("\n", "|").split("|")[1:-1]


class Faults:
    """Runs one command line again and again with another failing call, until there is none left to fail."""

    def __init__(self, folder, line, group, mode):
        self.folder, self.arguments, self.group, self.mode = folder, line.split(), group, mode
        self.program = BUILD / ("tests/faulty" if group == "sqlite" else "") / "gpumemtrace"
        self.count = folder / "failures"

    def run(self, nth):
        """(how it ended, how many calls failed); 0: without faults."""
        self.count.write_bytes(bytes(8))
        environment = clean_environment(
            LD_PRELOAD=BUILD / "tests/preload_faults.so",
            FAULTS=f"{self.group} {nth} {self.mode} {self.count}",
        )
        ending = end_of([self.program, *self.arguments], env=environment, cwd=self.folder)
        return ending, int.from_bytes(self.count.read_bytes(), "little")

    def each(self, first, step):
        """(number, how it ended) of each failing call."""
        nth, failed = first, 1
        while failed:
            ending, failed = self.run(nth)
            if failed:
                yield nth, ending
            nth += step


def sampled(effort, chance, group, step):
    """Where to begin and how far to step: as asked, or far in a small part."""
    step = effort({"memory": 499, "files": 29, "sqlite": 199}[group], step)
    return chance.randrange(1, step + 1), step


@pytest.mark.parametrize("mode", ["one", "rest"])
@pytest.mark.parametrize("group", GROUPS)
@pytest.mark.parametrize("line", [line.strip() for line in READING])
def test_a_command_answers_rightly_or_not_at_all(made_trace, tmp_path, effort, chance, line, group, mode):
    shutil.copy(made_trace, tmp_path / "trace.db")
    shutil.copy(ROOT / "samples/linear-example.json", tmp_path / "model.json")
    faults = Faults(tmp_path, line, group, mode)
    unharmed, _ = faults.run(0)
    assert unharmed.status in (0, 1), unharmed.stderr
    wrong, tried = [], 0
    for nth, ending in faults.each(*sampled(effort, chance, group, 1 if line == WHOLE and mode == "one" else 7)):
        tried += 1
        complaint = fault_complaint(ending, unharmed)
        if complaint:
            wrong.append(f"call {nth}: {complaint}")
    assert tried or not ALL or line.startswith("estimate")
    assert not wrong, f"{len(wrong)} of {tried}:\n" + "\n".join(wrong[:10])


def answers(folder):
    """What the next command says of the trace: nothing may have been lost or changed for good."""
    return end_of([BUILD / "gpumemtrace", *WHOLE.split()], env=clean_environment(), cwd=folder)


def try_on_copies(copy_of, original, line, group, mode, effort, chance):
    """As above, each time on a new copy, because the command writes into the folder; what is wrong."""
    there = copy_of(original)
    expected = answers(there)
    unharmed, _ = Faults(copy_of(original), line, group, mode).run(0)
    assert (expected.status, unharmed.status) == (0, 0), expected.stderr + unharmed.stderr
    nth, step = sampled(effort, chance, group, (5 if group == "memory" else 1) if mode == "one" else 17)
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
@pytest.mark.parametrize("group", GROUPS)
def test_a_killed_trace_survives_whatever_fails_while_it_is_folded(killed_plain, copy_of, effort, chance, group, mode):
    wrong = list(try_on_copies(copy_of, killed_plain, WHOLE, group, mode, effort, chance))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])


@pytest.mark.parametrize("mode", ["one", "rest"])
@pytest.mark.parametrize("group", GROUPS)
def test_a_trace_survives_whatever_fails_while_names_are_written(made_trace, copy_of, effort, chance, group, mode):
    wrong = list(try_on_copies(copy_of, made_trace.parent, "resolve trace.db --json", group, mode, effort, chance))
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])


def run_complaint(ending, unharmed):
    """The program ran and ended as it does, or was never started."""
    lines = ending.stderr.splitlines()
    if ending.late or any(not line.startswith("gpumemtrace: ") for line in lines):
        return f"took too long, or said {ending.stderr}"
    if (ending.status, ending.stdout) == (unharmed.status, unharmed.stdout):
        return ""
    if ending.status in (2, 126, 127) and not ending.stdout and len(lines) == 1:
        return ""
    return f"exit {ending.status}, {difference(unharmed.stdout, ending.stdout)}, {ending.stderr}"


@pytest.mark.parametrize("mode", ["one", "rest"])
@pytest.mark.parametrize("group", ["memory", "files"])
def test_a_program_is_run_as_it_is_or_not_at_all(tmp_path, effort, chance, group, mode):
    line = f"run --no-resolve --dry-run -o {tmp_path / 'trace.db'} -- {BUILD / 'tests/few_descriptors'}"
    faults = Faults(tmp_path, line, group, mode)
    unharmed, _ = faults.run(0)
    assert unharmed.status == 5, unharmed.stderr
    wrong = []
    for nth, ending in faults.each(*sampled(effort, chance, group, 7)):
        for trace in tmp_path.glob("trace*.db*"):  # what died looks at every trace of that name
            trace.unlink()
        complaint = run_complaint(ending, unharmed)
        if complaint:
            wrong.append(f"call {nth}: {complaint}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:10])
