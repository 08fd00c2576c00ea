# SPDX-License-Identifier: MIT
"""Computes `peak --by` and `peak --tree` for traces of any program: native and inlined frames, operators, modules,
libraries. It applies the rules of blame.h and groups.h to the tables of the trace and the blocks of Figures. blame.py
is the short form, for traces that have only Python frames."""

import collections
import fnmatch
import functools
import pathlib
import sqlite3

from reference.events import meant, role_rules, table_rows

KINDS = ("line", "function", "file", "op", "module", "stack")
RULES = list(role_rules())
WRAPPERS = [row[0] for row in table_rows("wrappers.def", "WRAPPER")]
LABELS = meant(((text, meaning) for meaning, text in table_rows("thread_labels.def", "LABEL")), "NATIVE")
HEADERS = (".h", ".hpp", ".hh", ".hxx", ".cuh", ".inl", ".ipp", ".tcc")
NO_STACK, SIGNAL = "(no stack was taken)", "(signal handler)"
FUNCTION_MOST, FILE_MOST = 127, 180

# The place of a frame is its text, together with the program's file or the library (module) that contains the frame.
Frame = collections.namedtuple("Frame", "kind function file line module is_named")


def base(path):
    return path.rsplit("/", 1)[-1]


def matches(text, pattern):
    return text is not None and fnmatch.fnmatchcase(text, pattern)


@functools.cache
def role(frame):
    is_python = frame.kind == "python"
    for name, where, pattern in RULES if frame.kind != "label" else ():
        text = {
            "file": frame.file if is_python else None,
            "source": None if is_python else frame.file,
            "function": frame.function if frame.is_named and not is_python else None,
            "module": frame.module if "/" in pattern or not frame.module else base(frame.module),
        }[where]
        if matches(text, pattern):
            return name
    return None if frame.kind == "label" else "program"


def shortened(function):
    data = function.encode()
    if len(data) <= FUNCTION_MOST:
        return function
    return data[: FUNCTION_MOST - 3].decode(errors="ignore") + "…"


@functools.cache
def text_of(frame):
    function = shortened(frame.function)
    if frame.file and frame.line:
        return f"{base(frame.file)[:FILE_MOST]}:{frame.line} {function}"
    if frame.file:
        return f"{base(frame.file)[:FILE_MOST]} {function}"
    if frame.is_named and frame.module:
        return f"{function} ({base(frame.module)[:FILE_MOST]})"
    return function


class Stacks:
    """The frames of each stack, innermost first. Native frames have the names that `run` wrote into the trace."""

    def __init__(self, path):
        query = sqlite3.connect(f"file:{path}?mode=ro", uri=True).execute
        self.strings = dict(query("SELECT string_id, text FROM string"))
        self.frames = {row[0]: row[1:] for row in query("SELECT frame_id, parent_id, kind, address FROM frame")}
        self.locations = {
            row[0]: row[1:] for row in query("SELECT location_id, function_id, file_id, line FROM location")
        }
        self.symbols = collections.defaultdict(list)
        for address, *row in query("SELECT address, function_id, file_id, line FROM symbol ORDER BY address, level"):
            self.symbols[address].append(row)
        self.modules = list(query("SELECT start_address, end_address, load_address, path FROM module"))
        self.known = {}

    def of(self, stack):
        if stack not in self.known:
            self.known[stack] = self.walk(stack)
        return self.known[stack]

    def raw(self, stack):
        while stack in self.frames:
            stack, kind, address = self.frames[stack]
            yield kind, address

    def walk(self, stack):
        found, raw, after_signal = [], list(self.raw(stack)), False
        may_label = all(kind == 0 for kind, _ in raw)
        for kind, address in raw:
            if kind == 1:
                function, file, line = self.locations[address]
                found.append(Frame("python", self.strings[function], self.strings.get(file) or None, line, None, True))
            elif kind == 2:
                found.append(Frame("label", self.strings[address], None, 0, None, True))
            else:
                frames = self.native(address + after_signal)
                after_signal = frames[0].function == SIGNAL
                for frame in frames:
                    found.append(frame)
                    labels = [text for text, pattern in LABELS if frame.is_named and matches(frame.function, pattern)]
                    if may_label and labels:
                        found.append(Frame("label", labels[0], None, 0, None, True))
                        may_label = False
        return found

    def native(self, address):
        inside = [row for row in self.modules if row[0] <= address - 1 < row[1]]
        module = inside[-1] if inside else None
        path, rows = module and module[3], self.symbols.get(address, [])
        if not rows:
            offset = address - module[2] if module else address
            return [Frame("native", f"{base(path) if path else '[anonymous]'}+0x{offset:x}", None, 0, path, False)]
        kinds = ["inlined"] * (len(rows) - 1) + ["native"]
        return [
            Frame(kind, self.strings[function], self.strings.get(file) or None, line, path, True)
            for kind, (function, file, line) in zip(kinds, rows)
        ]


@functools.cache
def place(frame):
    """Returns the frame's place. Frames with the same text in the same file have the same place."""
    return text_of(frame), frame.file or frame.module or ""


def way_of(frames):
    """Returns the program's own frames, innermost first. Frames without a name are returned only if no frame has a name."""
    own = [frame for frame in frames if role(frame) == "program"]
    named = [frame for frame in own if frame.is_named]
    if not named and any(frame.kind == "label" for frame in frames):
        return []
    return named or own


@functools.cache
def is_wrapper(frame):
    return any(matches(frame.function, pattern) for pattern in WRAPPERS)


def is_header(frame):
    return bool(frame.file) and pathlib.PurePath(frame.file).suffix in HEADERS


class Labels:
    """Finds the frame that labels each stack of a set. A stack is (its frames, the frames of its forward operator)."""

    def __init__(self, stacks):
        ways = {tuple(map(place, way)): way for way in (way_of(a) or way_of(b) for a, b in stacks)}
        self.sharing, self.callers = collections.Counter(), collections.defaultdict(set)
        for places, way in ways.items():
            self.sharing.update(set(places))
            for inner, outer in zip(way, way[1:]):
                self.callers[place(inner)].add(outer.function)

    def label_frame(self, way):
        allowed = [frame for frame in way if not is_wrapper(frame)] or way
        fewest = min(self.sharing[place(frame)] for frame in allowed)
        equals = [i for i, frame in enumerate(way) if frame in allowed and self.sharing[place(frame)] == fewest]
        best = equals[0]
        for i in equals[1:]:
            is_helped = any(len(self.callers[place(frame)]) > 1 for frame in way[best:i])
            if is_helped or (is_header(way[best]) and not is_header(way[i])):
                best = i
        return way[best]

    def called(self, frames, label_frame):
        inner = frames[: frames.index(label_frame)]
        own = [frame for frame in inner if role(frame) == "program" and frame.is_named]
        framework = [frame for frame in inner if role(frame) == "framework" and frame.is_named]
        python = [frame for frame in framework if frame.kind == "python"]
        return (own[-1:] or python[:1] or framework[-1:] or [None])[0]

    def blame(self, frames, forward):
        """Returns (label, the frame of the program that gives the label, the frame that this one called, whether the
        label comes from a forward operator)."""
        way, of_forward = way_of(frames), way_of(forward)
        if way:
            label_frame = self.label_frame(way)
            return text_of(label_frame), label_frame, self.called(frames, label_frame), False
        node = node_of(frames)
        if of_forward:
            label_frame = self.label_frame(of_forward)
            return f"{node or 'backward'} of {text_of(label_frame)}", label_frame, self.called(forward, label_frame), True
        return self.without_program(frames, node)

    def without_program(self, frames, node):
        labels = [frame for frame in frames if frame.kind == "label"]
        inside = [frame for frame in frames if role(frame._replace(is_named=False)) == "program"]
        framework = [frame for frame in frames if role(frame) in ("framework", "cuda")]
        if not frames:
            return NO_STACK, None, None, False
        if not labels and not framework and inside:  # this is a template of the CUDA runtime
            return text_of(inside[0]), inside[0], self.called(frames, inside[0]), False
        frame = (labels[:1] or framework[-1:] or frames[-1:])[0]
        if node:
            return node + (f", {frame.function}" if labels else ""), None, None, False
        return text_of(frame), None, None, False


def node_of(frames):
    """Returns the node's name, such as "MmBackward0" for the outermost torch::autograd::generated::MmBackward0::apply."""
    names = [f.function for f in frames if f.is_named and matches(f.function, "torch::autograd::*::apply")]
    if not names:
        return None
    name, depth = names[-1][: -len("::apply")], 0
    for at in range(len(name) - 1, -1, -1):
        depth += (name[at] == ">") - (name[at] == "<")
        if not depth and name[at] == ":":
            return name[at + 1 :]
    return name


# --- groups ---


def function_of(frame):
    where = frame.file or frame.module
    return f"{frame.function} ({base(where)})" if where else frame.function


def file_of(frame):
    return frame.file or frame.module or frame.function


def operators(frames):
    called = [f.function for f in frames if f.kind != "python" and matches(f.function, "at::_ops::*::call")]
    return [name[len("at::_ops::") : -len("::call")] for name in called]


def modules(frames):
    ran = [f.function for f in frames if f.kind == "python" and f.function.endswith(".forward")]
    return [name[: -len(".forward")] for name in ran if name != ".forward"]


def library(frames):
    if any(frame.kind in ("python", "label") for frame in frames):
        return None
    asked = [frame for frame in frames if frame.module and role(frame) not in ("cuda", "own")]
    return base(asked[0].module) if asked else None


def names(labels, both, by):
    """Returns (the group to which the block itself belongs, all groups through which the block's stack goes)."""
    frames, (label, label_frame, _, is_forwards) = both[0], labels.blame(*both)
    if by == "op":
        ran = operators(frames)
        own = (None if way_of(frames) else node_of(frames)) or (ran or ["(no operator)"])[-1]
        return own, {own, *ran}
    if by == "module":
        ran = modules(frames)
        own = (ran or [library(frames) or "(no module)"])[0]
        return own, {own, *ran}
    name = {"line": text_of, "function": function_of, "file": file_of}[by]
    own = label if by == "line" or not label_frame else name(label_frame)
    if by == "function" and is_forwards:
        own = f"backward of {own}"
    return own, {own, *map(name, way_of(frames))}


class SiteTables:
    """The tables of one layer at one moment, computed from the live blocks."""

    def __init__(self, figures, stacks, account, at):
        index = figures.moment(at, account)
        self.blocks = figures.live_blocks(account, index) if index is not None else []
        self.both = {
            block: (stacks.of(block.stack), stacks.of(figures.forward.get(block.begin))) for block in self.blocks
        }
        self.numbers = {block: (block.stack, figures.forward.get(block.begin)) for block in self.blocks}
        self.labels = Labels(self.both.values())
        self.layer = figures.layer(account)

    def groups(self, by):
        rows = {}
        for block in self.blocks:
            own, through = (self.numbers[block],) * 2 if by == "stack" else names(self.labels, self.both[block], by)
            for name in {own} if by == "stack" else through:
                row = rows.setdefault(name, [0, 0, 0, 0, self.both[block]])
                row[2] += block.size
                row[3] += 1
                if name == own:
                    row[0] += block.size
                    row[1] += 1
        for name, (*figures, both) in rows.items():
            row = dict(zip(("own_bytes", "own_count", "inclusive_bytes", "inclusive_count"), figures))
            yield {**self.layer, **(self.by_stack(both) if by == "stack" else {"name": name}), **row}

    def by_stack(self, both):
        label, _, called, _ = self.labels.blame(*both)
        site = None if label == NO_STACK else label
        frames = [(f.kind, f.function, f.file, f.line or None, role(f), f.module) for f in both[0]]
        return {"name": label, "site": site, "called": called and called.function, "frames": frames}

    def tree(self):
        nodes = {}
        for block in self.blocks:
            way = tuple(place(frame) for frame in way_of(self.both[block][0])[::-1])
            way = way or ((self.labels.blame(*self.both[block])[0], None),)
            for depth in range(1, len(way) + 1):
                node = nodes.setdefault(way[:depth], [0, 0, 0, 0])
                own = depth == len(way)
                for i, more in enumerate((block.size, 1, own * block.size, own)):
                    node[i] += more
        return list(self.below(nodes, ()))

    def below(self, nodes, above):
        inside = [node for node in nodes if node[:-1] == above]
        for node in sorted(inside, key=lambda node: (-nodes[node][0], node[-1][0], node[-1][1] or "")):
            row = {**self.layer, "depth": len(above), "name": node[-1][0]}
            yield {**row, **dict(zip(("inclusive_bytes", "inclusive_count", "own_bytes", "own_count"), nodes[node]))}
            yield from self.below(nodes, node)


# --- beside what is printed ---


def plain(row):
    """Returns a printed row in the form of the reference."""
    frames = [
        tuple(frame[key] for key in ("kind", "function", "file", "line", "role", "module"))
        for frame in row.get("frames", [])
    ]
    return {**row, **({"frames": frames} if "frames" in row else {})}


def as_rows(rows, keys):
    return sorted(repr([(key, row.get(key, "nothing")) for key in keys]) for row in rows)


def check(trace, figures, ask, at, kinds=KINDS):
    """Yields a line for each row of a group or of the tree that differs."""
    stacks = Stacks(trace)
    layers = {(number, account): SiteTables(figures, stacks, account, at)
              for number, device in enumerate(figures.devices) for account in figures.layers(device)}  # fmt: skip
    for by in kinds:
        page = ask("peak", f"--by={by}", "--tree", f"--at={at}", trace)
        for (number, _), tables in layers.items():
            printed = page["devices"][number]
            mine = [row for row in printed["groups"] if tables.layer.items() <= row.items()]
            wanted = list(tables.groups(by))
            got = [plain(row) for row in mine]
            keys = list(wanted[0]) if wanted else ["name"]
            yield from missing(as_rows(got, keys), as_rows(wanted, keys), f"--by={by} --at={at}")
            if any(a["own_bytes"] < b["own_bytes"] for a, b in zip(mine, mine[1:])):
                yield f"--by={by} --at={at}: a larger row after a smaller one"
            tree = [row for row in printed["tree"] if tables.layer.items() <= row.items()]
            if tree != tables.tree():
                yield f"--tree --at={at}: printed {tree!r:.900}, expected {tables.tree()!r:.900}"


def missing(printed, wanted, where):
    left = list(printed)
    for row in wanted:
        if row in left:
            left.remove(row)
        else:
            yield f"{where}: not printed: {row:.700}"
    yield from (f"{where}: not expected: {row:.700}" for row in left)
