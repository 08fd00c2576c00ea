# SPDX-License-Identifier: MIT
"""Reads the tables of a trace, as TRACE-FORMAT.md describes them, and finds the phase that a stack tells."""

import collections
import fnmatch
import pathlib
import re
import sqlite3

ROOT = pathlib.Path(__file__).resolve().parents[2]

Event = collections.namedtuple(
    "Event",
    "index seq time thread hook kind memory address size object stream result stack call nested device",
)

VARIABLES = ("framework", "allocator_setting", "job_variable")


def documented(heading):
    """Returns the rows of the table below this heading of TRACE-FORMAT.md."""
    section = (ROOT / "include/gpumemtrace/TRACE-FORMAT.md").read_text().split(f"## {heading}\n")[1].split("\n## ")[0]
    return [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in section.splitlines()
        if re.match(r"\| \d", line)
    ]


class Tables:
    def __init__(self, path):
        query = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute
        kinds = {int(row[0]): row[1] for row in documented("Kinds of events")}
        memories = {int(row[0]): row[1] for row in documented("Kinds of memory")}
        self.account_kind = {row[1]: row[3] for row in documented("Kinds of memory")}
        self.strings = dict(query("SELECT string_id, text FROM string"))
        self.hooks = dict(query("SELECT hook_id, name FROM hook"))
        self.threads = dict(query("SELECT thread_id, name FROM thread"))
        self.cards = {row[0]: row[1:] for row in query("SELECT device, total_bytes, context_bytes FROM device")}
        self.frames = {row[0]: row[1:] for row in query("SELECT frame_id, parent_id, kind, address FROM frame")}
        self.locations = {
            row[0]: row[1:] for row in query("SELECT location_id, function_id, file_id, line FROM location")
        }
        self.card_names = {row[0]: row[1:] for row in query("SELECT device, uuid, name FROM device")}
        self.coverage = list(query("SELECT name, count FROM coverage"))
        self.variables = {table: list(query(f"SELECT * FROM {table}")) for table in VARIABLES}
        self.row_counts = {table: next(query(f"SELECT COUNT(*) FROM {table}"))[0] for table in ("module",)}
        self.meta = dict(query("SELECT key, value FROM meta"))
        self.walks = list(query("SELECT walk_id, event_number, reason, stopped FROM walk ORDER BY event_number, walk_id"))
        self.holders = list(query("SELECT walk_id, address, size_bytes, kind, chain_id, items_count, location_id FROM holder "
                                  "ORDER BY rowid"))  # fmt: skip
        self.durations = dict(query("SELECT seq, duration_ns FROM call_duration"))
        self.events = [
            Event(i, *row[:4], kinds[row[4]], memories[row[5]], *row[6:])
            for i, row in enumerate(query(
                "SELECT seq, time_ns, thread_id, hook_id, kind, memory, address, size_bytes, object, stream, result, "
                "stack_id, call_id, nested, device FROM event ORDER BY seq"))
        ]  # fmt: skip

    def stack_frames(self, stack):
        """Returns the frames of the stack, innermost first: [(kind, function, file, line)]."""
        found = []
        while stack in self.frames:
            stack, kind, address = self.frames[stack]
            if kind == 1:
                function, file, line = self.locations[address]
                found.append(("python", self.strings[function], self.strings[file], line))
            elif kind == 2:
                found.append(("label", self.strings[address], None, None))
        return found

    def site_frames(self, site):
        """Returns (the frames of the site's stack, those of the stack of its forward operator)."""
        return tuple(self.stack_frames(stack) for stack in site)


# --- phases that stacks tell, by the rows of inferred_phases.def ---


def table_rows(name, macro):
    (path,) = (ROOT / "analyzer").rglob(name)
    text = path.read_text()
    for line in re.findall(rf"^{macro}\((.*)\)$", text, flags=re.M):
        yield [cell.strip().strip('"') for cell in line.split(",")]


NAMES = [(kind, *row) for kind in ("PYTHON", "NATIVE") for row in table_rows("frames.def", kind)]


def meant(rows, kind):
    """Returns (first cell, pattern) for each name of PyTorch with the meaning that a row's second cell gives."""
    return [(said, pattern) for said, meaning in rows for of, name, pattern in NAMES if (of, name) == (kind, meaning)]


def role_rules():
    """Returns the rules of frame_roles.def, in their order, with PyTorch's names."""
    for role, *cells in table_rows("frame_roles.def", "(?:RULE|MEANT)"):
        if len(cells) == 2:
            yield role, *cells
            continue
        yield from ((role, "file", pattern.removesuffix(":*")) for _, pattern in meant([(role, *cells)], "PYTHON"))
        yield from ((role, "function", pattern) for _, pattern in meant([(role, *cells)], "NATIVE"))


FIRST, INNER, LAST = (meant(table_rows("inferred_phases.def", macro), "PYTHON") for macro in ("FIRST", "INNER", "LAST"))
MODULE_CALL = meant([("forward", "module_call")], "PYTHON")
AFTER = dict(table_rows("inferred_phases.def", "AFTER"))
((RECORDED,),) = table_rows("inferred_phases.def", "RECORDED")


def subject(frame):
    kind, function, file, _ = frame
    return f"{file if kind == 'python' else ''}:{function}"


def say(rows, frames):
    for frame in frames:
        for phase, pattern in rows:
            if fnmatch.fnmatchcase(subject(frame), pattern):
                return phase
    return None


def knows_frameworks(tables):
    if not hasattr(tables, "knows_frameworks"):
        every = [tables.stack_frames(number)[:1] for number in tables.frames]
        tables.knows_frameworks = any(say(FIRST + INNER, frames) for frames in every)
    return tables.knows_frameworks


def is_of_backward(tables, stack):
    return bool(say(FIRST, tables.stack_frames(stack)))


def runs_model(tables, stack):
    """Says whether an INNER row gives the phase of the stack, and it is not data."""
    return say(INNER, tables.stack_frames(stack)) not in (None, "data")


class Beside:
    """The allocations of threads beside the one that runs the model."""

    def __init__(self):
        self.leading_thread = self.index = None

    def note(self, tables, event, is_recorded):
        """Says whether the allocation is one of them."""
        if is_of_backward(tables, event.stack):
            return False
        if is_recorded or runs_model(tables, event.stack):
            self.leading_thread = event.thread
        is_beside = self.leading_thread not in (None, event.thread)
        self.index = event.index if is_beside else self.index
        return is_beside

    def span(self, event, inferred):
        return None if event.index == self.index else inferred


def inferred_phase(tables, stack, now, is_recorded):
    frames = tables.stack_frames(stack)
    if not frames or not knows_frameworks(tables):
        return now
    said = say(FIRST, frames) or say(INNER, frames) or (now != "forward" and say(LAST, frames))
    if said:
        return said
    if not any(frame[0] == "python" for frame in frames):
        return now
    return RECORDED if is_recorded else AFTER.get(now, now)


def module_call_of(tables, stack):
    """Returns (the Python frames outside the outermost call of a module, or None if there is none; True if the program
    allocated memory itself, outside the framework)."""
    frames = tables.stack_frames(stack) if knows_frameworks(tables) else []
    python = [frame for frame in frames if frame[0] == "python"]
    calls = [number for number, frame in enumerate(python) if say(MODULE_CALL, [frame])]
    if calls:
        return tuple(python[calls[-1] + 1 :]), False
    return None, bool(python) and not say(FIRST, frames) and not say(INNER, frames)


class Forwards:
    """Forwards that follow each other without another phase between them."""

    def __init__(self):
        self.began = collections.Counter()  # forwards, by the call of a module that began them
        self.known = set()  # calls of modules
        self.begin()

    def begin(self):
        self.calls = []  # of this forward
        self.has_own = self.is_recorded = False

    def follow(self, tables, stack, begins, recorded):
        """Handles an allocation of a forward. Returns True if a forward begins: after another phase (`begins`), or, after
        a forward that autograd did not record, at a call of a module that began a forward before or ran in this one, or
        that is new at the line of the call that began this forward and another, if the program allocated memory itself
        since the last call."""
        if tables.meta.get("tells_autograd") != 1:
            return begins
        call, is_own = module_call_of(tables, stack)
        if self.has_own and not self.is_recorded and call is not None:
            repeats = self.calls and self.began[self.calls[0]] > 1 and self.calls[0][:1] == call[:1]
            begins = begins or call in self.began or call in self.calls or (repeats and call not in self.known)
        if begins:
            self.begin()
        self.is_recorded = self.is_recorded or recorded
        if call is None:
            self.has_own = self.has_own or is_own
            return begins
        if not self.calls:
            self.began[call] += 1
        self.calls.append(call)
        self.known.add(call)
        self.has_own = False
        return begins


def caller_of(tables, stack):
    """Returns (rank, the Python frames outside the outermost frame of that rank). The rank is 2 for a backward or the
    step of an optimizer, 1 for another function of an optimizer, and 0 for all other functions."""
    frames = [frame for frame in tables.stack_frames(stack) if frame[0] == "python"] if knows_frameworks(tables) else []
    found = (0, ())
    for number, frame in reversed(list(enumerate(frames))):
        rank = 0
        if say(FIRST, [frame]) == "backward":
            rank = 2
        elif say(INNER, [frame]) == "optimizer":
            rank = 1 + frame[1].endswith("step")
        if rank > found[0]:
            found = (rank, tuple(frames[number + 1 :]))
    return found
