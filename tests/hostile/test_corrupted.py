# SPDX-License-Identifier: MIT
"""Every command reads randomly changed traces. It must answer or refuse in time, with at most one line of error."""
import os
import pathlib
import resource
import shutil

import pytest

from hostile import corruption
from support.foreign_files import write_foreign_file
from support.endings import complaint, end_of, json_complaint
from support.run import BUILD, PRELOAD_FIRST, ROOT, clean_environment

SANITIZED = BUILD / "asan" / "gpumemtrace"
LINES = """
    report trace.db | report trace.db --json | report good.db trace.db --json | peak trace.db --at=end --native=full
    timeline trace.db --format=csv | frag trace.db --segments --json | phases trace.db --json | leaks trace.db | oom trace.db
    info trace.db | info trace.db --json | check trace.db --max-peak=1 --format=junit | compare trace.db model.json --json
    resolve trace.db | ledger trace.db --json | steps trace.db | fit trace.db --json | diff good.db trace.db --json
    diff trace.db good.db | report trace.db --format=html -o page.html | frag trace.db --what-if=no-cache | peak trace.db --tree
    export trace.db --to=collapsed --native=full | export trace.db --to=speedscope --at=end -o a.json | export trace.db --to=pprof -o a.pb.gz
    export trace.db --to=massif --device=0 | export trace.db --to=perfetto -o a.pftrace | export trace.db --to=torch-snapshot -o a.pickle
    export trace.db --to=csv | export trace.db --to=tsv --layer=pool
""".replace("\n", "|").split("|")[1:-1]
MEMORY_BYTES = 2 << 30


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


def command():
    """Returns the program to test and the arguments that limit its memory. The address sanitizer needs unlimited address
    space, so that build gets a limit on resident memory instead."""
    if os.environ.get("GPUMEMTRACE_HOSTILE") == "all" and SANITIZED.exists():
        return SANITIZED, dict(env=sanitizer_environment())
    if PRELOAD_FIRST:
        return BUILD / "gpumemtrace", dict(env=sanitizer_environment())
    return BUILD / "gpumemtrace", dict(env=clean_environment(), preexec_fn=limit_memory)


def sanitizer_environment():
    options = f"detect_leaks=0:allocator_may_return_null=1:hard_rss_limit_mb={MEMORY_BYTES >> 20}"
    return clean_environment(ASAN_OPTIONS=options, UBSAN_OPTIONS="print_stacktrace=1")


def wrong_endings(folder, chance):
    """Runs the commands in random order and yields a line for each one that ends wrongly."""
    program, how = command()
    lines = [line.split() for line in LINES]
    chance.shuffle(lines)
    for line in lines:
        ending = end_of([program, *line], cwd=folder, **how)
        wrong = (json_complaint if "--json" in line else complaint)(ending)
        if wrong:
            yield f"{' '.join(line)}: {wrong}"


def kept(folder, number):
    """Copies a folder that made a command fail to GPUMEMTRACE_HOSTILE_KEEP, if set. Returns `number`, the copy's name."""
    place = pathlib.Path(os.environ.get("GPUMEMTRACE_HOSTILE_KEEP", ""))
    if place.name:
        shutil.copytree(folder, place / number, dirs_exist_ok=True, symlinks=True)
    return number


def try_some(count, ways, copy, chance, good):
    """Changes `count` copies, runs the commands on each, and returns a list of lines about wrong endings."""
    wrong = []
    for number in range(count):
        folder = copy()
        shutil.copy(good, folder / "good.db")
        shutil.copy(ROOT / "samples/linear-example.json", folder / "model.json")
        way = ways[number % len(ways)]
        done = way(folder, chance)
        before = folder.with_name("before")
        shutil.rmtree(before, ignore_errors=True)
        shutil.copytree(folder, before, symlinks=True)
        for said in wrong_endings(folder, chance):
            wrong.append(f"{kept(before, f'{way.__name__}-{number}')} ({done}): {said}")
    return wrong


@pytest.mark.parametrize("part", range(8))
def test_a_changed_trace_is_answered_or_refused(made_trace, copy_of, effort, chance, part):
    count = effort(2, 25)
    ways = corruption.OF_A_TRACE[part:] + corruption.OF_A_TRACE[:part]
    wrong = try_some(count, ways, lambda: copy_of(made_trace.parent), chance, made_trace)
    assert not wrong, f"{len(wrong)} of {count * len(LINES)}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("value", [0, -(2**63), 2**62, 2**63 - 1])
def test_a_column_at_its_end_is_answered_or_refused(made_trace, copy_of, effort, chance, value):
    ways = corruption.columns_at_an_end(made_trace, value)
    ways = chance.sample(ways, effort(2, len(ways)))
    wrong = try_some(len(ways), ways, lambda: copy_of(made_trace.parent), chance, made_trace)
    assert not wrong, f"{len(wrong)} of {len(ways) * len(LINES)}:\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("part", range(4))
def test_what_a_killed_process_left_is_answered_or_refused(killed_folder, made_trace, copy_of, effort, chance, part):
    count = effort(3, 25)
    ways = corruption.OF_A_KILLED_TRACE[part:] + corruption.OF_A_KILLED_TRACE[:part]
    wrong = try_some(count, ways, lambda: copy_of(killed_folder), chance, made_trace)
    assert not wrong, f"{len(wrong)} of {count * len(LINES)}:\n" + "\n".join(wrong[:20])


def imported(folder):
    """Imports the changed file and returns how the command ended."""
    program, how = command()
    (path,) = folder.glob("foreign.*")
    return end_of([program, "import", "-o", "trace.db", path.name], cwd=folder, **how)


@pytest.mark.parametrize("suffix, way", corruption.OF_FOREIGN_FILES)
def test_a_changed_file_of_another_tool_is_imported_or_refused(made_trace, tmp_path, effort, chance, suffix, way):
    wrong = []
    for number in range(effort(6, 200)):
        folder = tmp_path / str(number)
        folder.mkdir()
        shutil.copy(made_trace, folder / "good.db")
        shutil.copy(ROOT / "samples/linear-example.json", folder / "model.json")
        write_foreign_file(folder, suffix)
        done = way(folder, chance)
        ending = imported(folder)
        said = [complaint(ending)] if complaint(ending) else []
        left = sorted(path.name for path in folder.glob("trace.db*"))
        if left != (["trace.db"] if ending.status == 0 else []):
            said.append(f"exit {ending.status} left {left}")
        if ending.status == 0 and number % effort(6, 10) == 0:
            said += wrong_endings(folder, chance)
        wrong += [f"{kept(folder, f'{way.__name__}-{number}')} ({done}): {line}" for line in said]
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:20])
