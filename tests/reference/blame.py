# SPDX-License-Identifier: MIT
"""Finds the line to blame for live blocks, from the frames of each block: labels of rows, groups, the call tree. Random
traces have no native frames, so test_blame.py tests those."""

import collections
import fnmatch
import functools

from reference.events import role_rules, table_rows

KINDS = ("line", "function", "file", "op", "module", "stack")
RULES = list(role_rules())
WRAPPERS = [row[0] for row in table_rows("wrappers.def", "WRAPPER")]
NO_STACK = "(no stack was taken)"


@functools.lru_cache(maxsize=100000)
def role(frame):
    """Returns the role of a Python frame, which its file decides, or None for a label."""
    kind, _, file, _ = frame
    matches = [name for name, where, pattern in RULES if where == "file" and fnmatch.fnmatchcase(file or "", pattern)]
    return None if kind != "python" else matches[0] if matches else "program"


def text_of(frame):
    kind, function, file, line = frame
    return f"{file.rsplit('/', 1)[-1]}:{line} {function}" if kind == "python" else function


def path_of(frames):
    """Returns the program's own frames, innermost first."""
    return tuple(frame for frame in frames if role(frame) == "program")


class Labels:
    """The labels of a set of stacks. A stack is (its frames, the frames of its forward operator)."""

    def __init__(self, stacks):
        ways = {path_of(frames) or path_of(forward) for frames, forward in stacks}
        self.sharing = collections.Counter(frame for way in ways for frame in set(way))
        self.callers = collections.defaultdict(set)
        for way in ways:
            for inner, outer in zip(way, way[1:]):
                self.callers[inner].add(outer[1])

    def is_helped(self, between):
        return any(len(self.callers[frame]) > 1 for frame in between)

    def label_frame(self, frames):
        """Returns the frame that labels the stack, or None if there is none."""
        path = path_of(frames)
        if not path:
            labels = [frame for frame in frames if frame[0] == "label"]
            framework = [frame for frame in frames if role(frame) == "framework"]
            return (labels or framework[-1:] or list(frames)[-1:] or [None])[0]
        allowed = [i for i, frame in enumerate(path) if not any(fnmatch.fnmatchcase(frame[1], w) for w in WRAPPERS)]
        allowed = allowed or list(range(len(path)))
        fewest = min(self.sharing[path[i]] for i in allowed)
        best, *others = [i for i in allowed if self.sharing[path[i]] == fewest]
        for i in others:
            if self.is_helped(path[best:i]):
                best = i
        return path[best]

    def called(self, frames):
        label_frame = self.label_frame(frames)
        if not path_of(frames):
            return None
        inner = list(frames)[: list(frames).index(label_frame)]
        own = [frame for frame in inner if role(frame) == "program"]
        framework = [frame for frame in inner if role(frame) == "framework"]
        if not own and any(role(frame) == "compiled" for frame in inner):
            return "compiled code"
        return (own[-1:] or framework[:1] or [(None, None)])[0][1]


def label(labels, frames, forward):
    if not path_of(frames) and path_of(forward):
        return f"backward of {text_of(labels.label_frame(forward))}"
    label_frame = labels.label_frame(frames)
    return text_of(label_frame) if label_frame else None


def called(labels, frames, forward):
    return labels.called(forward if not path_of(frames) and path_of(forward) else frames)


def headed(rows):
    """Returns the rows of sites with each row's label. Drops the key "path", which serves only to distinguish phases
    with the same text."""
    rows = [{key: value for key, value in row.items() if key != "path"} for row in rows]
    stacks = [(row["frames"], row.pop("forward")) for row in rows]
    labels = Labels(stacks)
    return [{**row, "site": label(labels, *both), "called": called(labels, *both)} for row, both in zip(rows, stacks)]


def alone(books, site):
    """Returns the label and the frames of a site that is the only one in its set."""
    both = books.site_frames(site)
    labels = Labels([both])
    return {"site": label(labels, *both), "called": called(labels, *both), "frames": both[0]}


# --- groups ---


def names(labels, both, by):
    """Returns (the group to which the block itself belongs, all groups through which the block's stack goes)."""
    frames, own = both[0], label(labels, *both) or NO_STACK
    path = path_of(frames)
    if by == "line":
        return own, {own, *map(text_of, path)}
    if by == "function":
        name = {frame: f"{frame[1]} ({frame[2].rsplit('/', 1)[-1]})" for frame in path}
    elif by == "file":
        name = {frame: frame[2] for frame in path}
    elif by == "op":
        return "(no operator)", {"(no operator)"}
    else:
        ran = [frame[1][: -len(".forward")] for frame in frames if frame[0] == "python" and frame[1].endswith(".forward")]
        ran = [module for module in ran if module]
        return (ran or ["(no module)"])[0], set(ran or ["(no module)"])
    if path:
        own = name[labels.label_frame(frames)]
    elif path_of(both[1]):
        label_frame = labels.label_frame(both[1])
        own = label_frame[2] if by == "file" else f"backward of {label_frame[1]} ({label_frame[2].rsplit('/', 1)[-1]})"
    return own, {own, *name.values()}


def stacks_of(figures, blocks):
    """Returns {block: (its frames, the frames of its forward operator)}."""
    frames = figures.books.stack_frames
    return {block: (frames(block.stack), frames(figures.forward.get(block.begin))) for block in blocks}


def groups(figures, account, blocks, by):
    stacks, rows = stacks_of(figures, blocks), {}
    labels = Labels(stacks.values())
    for block in blocks:
        both = stacks[block]
        if by == "stack":
            key = ((block.stack, figures.forward.get(block.begin)), label(labels, *both) or NO_STACK)
            through = {key}
        else:
            key, through = names(labels, both, by)
        for name in through:
            row = rows.setdefault(name, [0, 0, 0, 0])
            row[2] += block.size
            row[3] += 1
            if name == key:
                row[0] += block.size
                row[1] += 1
    columns = ("own_bytes", "own_count", "inclusive_bytes", "inclusive_count")
    for name, row in rows.items():
        named = {"name": name[1], **stack_of(figures, labels, *name[0])} if by == "stack" else {"name": name}
        yield {**figures.layer(account), **named, **dict(zip(columns, row))}


def stack_of(figures, labels, stack, forward):
    both = (figures.books.stack_frames(stack), figures.books.stack_frames(forward))
    return {"site": label(labels, *both), "called": called(labels, *both), "frames": both[0]}


# --- the tree ---


def tree(figures, account, blocks):
    stacks, nodes = stacks_of(figures, blocks), {}
    labels = Labels(stacks.values())
    for block in blocks:
        way = path_of(stacks[block][0])[::-1] or (label(labels, *stacks[block]) or NO_STACK,)
        for depth in range(1, len(way) + 1):
            node = nodes.setdefault(way[:depth], [0, 0, 0, 0])
            own = depth == len(way)
            for i, more in enumerate((block.size, 1, own * block.size, own)):
                node[i] += more
    return list(rows_below(figures, account, nodes, ()))


def name_of(node):
    return node[-1] if isinstance(node[-1], str) else text_of(node[-1])


def file_of(node):
    return "" if isinstance(node[-1], str) else node[-1][2]


def rows_below(figures, account, nodes, above):
    inside = [node for node in nodes if node[:-1] == above]
    for node in sorted(inside, key=lambda node: (-nodes[node][0], name_of(node), file_of(node))):
        columns = ("inclusive_bytes", "inclusive_count", "own_bytes", "own_count")
        row = {**figures.layer(account), "depth": len(above), "name": name_of(node)}
        yield {**row, **dict(zip(columns, nodes[node]))}
        yield from rows_below(figures, account, nodes, node)


# --- the highest moments ---


def are_separate(live, i, j):
    """True if the live bytes between moments i and j fell by more than a quarter of the lower one."""
    lower = min(live[i], live[j])
    return min(live[min(i, j) : max(i, j) + 1]) < lower - lower // 4


def local_peaks(figures, account):
    """Returns the highest moments, the highest first. If two are equally high, the earlier one comes first. Each is
    separate from all moments before it in the list."""
    live, chosen = figures.live(account), []
    for i in sorted((i for i, bytes_ in enumerate(live) if bytes_), key=lambda i: (-live[i], i)):
        if len(chosen) < 10 and all(are_separate(live, i, other) for other in chosen):
            chosen.append(i)
    return [
        {**figures.layer(account), **figures.stamp(i), "live_bytes": live[i], "phase": reached_in(figures, account, i)} for i in chosen
    ]


def reached_in(figures, account, index):
    """Returns the phase of the block that was born at this event."""
    span = [block.span for when, block, birth, _ in figures.books.changes if when == index and birth and block.account == account][-1]
    return span.path.text if span else None


def most_at(figures, account, index):
    """Returns (the most bytes that one site held, the sites that held that number of bytes). Stacks without a line are
    distinguished by phase and category."""
    rows = figures.sites(account, index)
    sums = collections.Counter()
    for row in rows:
        sums[(row["site"], row["called"]) if row["site"] else (None, row["phase"], row["category"])] += row["bytes"]
    most = max(sums.values(), default=0)
    return most, {key[0] for key, bytes_ in sums.items() if bytes_ == most}


def local_peaks_page(figures):
    """Returns the highest moments without the site that held most, because the command may name any of several sites
    with equal bytes."""
    rows = [[row for account in figures.layers(device) for row in local_peaks(figures, account)] for device in figures.devices]
    return {"devices": [{"device": device, "high_moments": own} for device, own in zip(figures.devices, rows)]}


def check_sites_of_local_peaks(printed, figures):
    for device, got in zip(figures.devices, printed["devices"]):
        for row in got["high_moments"]:
            same = {"layer": row["layer"], "pool": row["pool"]}
            account = next(account for account in figures.layers(device) if figures.layer(account) == same)
            index = next(event.index for event in figures.books.events if event.seq == row["seq"])
            most, names = most_at(figures, account, index)
            if row["site_bytes"] != most or row["site"] not in names:
                yield f"peak --moments: {row}, expected {most} of {names}"


# --- groups and trees of a moment ---


def groups_page(figures, by, at):
    devices = []
    for device in figures.devices:
        row = {"device": device, "groups": [], "tree": []}
        for account in figures.layers(device):
            index = figures.moment(at, account)
            blocks = figures.live_blocks(account, index) if index is not None else []
            row["groups"] += groups(figures, account, blocks, by)
            row["tree"] += tree(figures, account, blocks)
        devices.append(row)
    return {"devices": devices}


def check_order_of_trees(printed, wanted):
    """Yields a message for each layer whose rows of the tree differ. The order of the rows counts, because a row
    belongs to the row above it."""
    for got, expected in zip(printed["devices"], wanted["devices"]):
        for layer in {(row["layer"], row["pool"]) for row in expected["tree"]}:
            rows = [[row for row in rows if (row["layer"], row["pool"]) == layer] for rows in (got["tree"], expected["tree"])]
            if rows[0] != rows[1]:
                yield f"peak --tree: printed {rows[0]!r:.900}, expected {rows[1]!r:.900}"
