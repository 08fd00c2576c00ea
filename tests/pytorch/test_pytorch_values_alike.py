# SPDX-License-Identifier: MIT
"""If no shape depends on a value, a script has the same events with and without computed values (GPUMEMTRACE_VALUES=none)."""
import pytest
from test_pytorch_first_lines import RUNS

from support.pytorch_builds import OLDEST
from support.run import run_command

ALLOC, FREE, MAP, UNMAP, POOL_USAGE, DEVICE_MEMORY, EXIT = 1, 2, 3, 4, 9, 10, 15
# These kinds of events are left out: samples of host memory; nodes of autograd, because its threads race; requested
# sizes, because they may belong to host blocks.
HOST_MEMORY, AUTOGRAD_NODE, POOL_ASKED = 23, 24, 32
OF_A_CARD = (ALLOC, FREE, MAP, UNMAP, POOL_USAGE, DEVICE_MEMORY)
HOST_ADDRESSES = 1 << 46
# In these scripts, shapes depend on values by intention: masks select rows, and values end loops.
DEPENDS = ("operators.py", "values.py")
DEPENDS_ON_OLDEST = {"encoder.py": "with label smoothing PyTorch 2.0 selects the losses by a mask"}


def sequences(recording):
    """Returns {device: [(kind, address, size, memory)]} of the events before the exit. Addresses of host memory are
    None, because they differ between runs. Neighbouring frees are sorted, because their order depends on a race between
    threads. The last frees before the exit are left out, because after a failed backward pass the race decides which
    frees come before the exit."""
    assert run_command("info", recording.trace).returncode == 0  # `info` folds the ring of a killed process
    found, frees = {}, {}
    for device, kind, address, *row in recording.rows(
        "SELECT device, kind, address, size_bytes, memory FROM event"
        f" WHERE kind NOT IN ({HOST_MEMORY}, {AUTOGRAD_NODE}, {POOL_ASKED})"
        f" AND seq < coalesce((SELECT min(seq) FROM event WHERE kind = {EXIT}), 1 << 62) ORDER BY seq"
    ):
        event = (kind, address if kind in OF_A_CARD and address < HOST_ADDRESSES else None, *row)
        events, waiting = found.setdefault(device, []), frees.setdefault(device, [])
        if kind == FREE:
            waiting.append(event)
        else:
            events += sorted(waiting, key=str) + [event]
            waiting.clear()
    return found


ALIKE = [run for run in RUNS if run[0] not in DEPENDS]


@pytest.mark.parametrize("name, arguments, settings", ALIKE, ids=[" ".join([name, *words]) for name, words, _ in ALIKE])
def test_a_script_allocates_what_it_allocates_without_values(torch_build, dry_run, name, arguments, settings):
    if torch_build.name == OLDEST and name in DEPENDS_ON_OLDEST:
        pytest.skip(f"a shape depends on a value: {DEPENDS_ON_OLDEST[name]}")
    assert sequences(dry_run(name, *arguments, **settings)) == sequences(
        dry_run(name, *arguments, **settings, GPUMEMTRACE_VALUES="none")
    )
