# SPDX-License-Identifier: MIT
"""Compares the columns of `report --json --series`, from which pictures are drawn, with a slow reading of the same events."""

import json
from bisect import bisect_right

from reference.steps import found_ends
from reference.timeline import Timeline
from support.run import run_command

POINTS, GROUPS, STACKS, ENDS = 2000, 15, 200, 60
BLOCKS = 5000


def series_of(trace):
    completed = run_command("report", "--json", "--series", trace)
    assert completed.returncode == 0, completed.stderr
    return json.loads(completed.stdout)["series"]


def summed(rows):
    sums = {}
    for key, bytes_ in rows:
        sums[key] = sums.get(key, 0) + bytes_
    return {key: bytes_ for key, bytes_ in sums.items() if bytes_}


class Series:
    def __init__(self, series, figures):
        self.series, self.figures, self.books = series, figures, figures.books
        self.index_of = {event.seq: event.index for event in self.books.events[: self.books.count]}
        self.moments = [self.index_of[seq] for seq in series["snapshots"]["seq"]]
        self.timeline = Timeline(figures, POINTS, "event", keeps_lasts=True)
        self.ends = found_ends(figures)[1]
        self.accounts = [account for device in figures.devices for account in figures.layers(device)]

    def account_of(self, layer):
        return next(
            account for account in self.accounts
            if account[0] == layer["device"] and self.figures.layer(account) == {key: layer[key] for key in ("layer", "pool")}
        )  # fmt: skip

    def frames_of(self, number):
        """Returns the frames in the form of the reference, innermost first."""
        found, node = [], self.series["stacks"][number]["node"]
        while node is not None:
            frame = self.series["frames"][self.series["nodes"]["frame"][node]]
            found.append(tuple(frame[key] for key in ("kind", "function", "file", "line")))
            node = self.series["nodes"]["parent"][node]
        return found

    def stacks_of(self, number):
        """Returns (the stack's id, the id of the stack of its forward operator or 0)."""
        stack = self.series["stacks"][number]
        return stack["stack_id"], stack["forward_stack_id"] or 0

    def stacks_of_block(self, block):
        return block.stack, self.figures.forward.get(block.begin) or 0

    # --- what differs ---

    def check(self):
        yield from self.check_snapshots()
        for layer in self.series["layers"]:
            account = self.account_of(layer)
            name = f"series {account}"
            yield from (f"{name}: {text}" for text in self.check_points(layer, account))
            yield from (f"{name}: {text}" for text in self.check_sites(layer, account))
            yield from (f"{name}: {text}" for text in self.check_maps(layer, account))
        for number, stack in enumerate(self.series["stacks"]):
            if self.frames_of(number) != [tuple(frame) for frame in self.books.stack_frames(stack["stack_id"])]:
                yield f"series: stack {stack['stack_id']} has other frames"

    def check_snapshots(self):
        if self.moments != sorted(set(self.moments)):
            yield "series: snapshots are not in order, each once"
        peaks = {self.figures.peak(account)[1] for account in self.accounts}
        failed = [failure.event.index for failure in self.figures.failures.list]
        ends = {end - 1 for end in self.ends_kept()}
        missing = (peaks | set(failed[:20]) | set(failed[-20:]) | {self.books.count - 1} | ends) - {None, -1, *self.moments}
        if missing:
            yield f"series: no snapshot of events {sorted(missing)}"

    def ends_kept(self):
        every = 1
        while len(self.ends) // every > ENDS:
            every *= 2
        return self.ends[every - 1 :: every]

    def step_of(self, index):
        return 1 + bisect_right(self.ends, index) if self.ends else None

    def check_points(self, layer, account):
        rows = list(self.timeline.rows(account))
        points = layer["points"]
        for key, wanted in (
            ("seq", [self.books.events[index].seq for _, index, *_ in rows]),
            ("time_ns", [self.timeline.clock[index] for _, index, *_ in rows]),
            ("step", [self.step_of(index) for _, index, *_ in rows]),
            ("live_bytes", [most for _, _, _, most, _, _ in rows]),
            ("lowest_bytes", [least for *_, least, _ in rows]),
            ("phase", [path.text if path else None for *_, path in rows]),
        ):
            got = points[key]
            if key == "phase":
                got = [None if number is None else self.series["phases"][number]["phase"] for number in got]
            if got != wanted:
                yield f"points.{key}: {got!r:.200}, expected {wanted!r:.200}"
        for list_, by, name in (("categories", "category", "category"), ("phases_of_birth", "phase_of_birth", "phase")):
            yield from self.check_groups(layer, account, rows, list_, by, name)
        for i, (_, _, after, most, *_) in enumerate(rows):
            if sum(row["bytes"][i] for row in layer["lines"]) != most:
                yield f"lines: point {i} does not sum up"

    def check_groups(self, layer, account, rows, list_, by, name):
        """Yields a message for each point whose groups differ. Several phases may have the same text, and some of those
        may be counted in the row for the rest."""
        for i, (_, _, after, *_) in enumerate(rows):
            groups = self.timeline.groups(account, after, by).items()
            wanted = summed((group.text if by == "phase_of_birth" and group else group, bytes_) for group, bytes_ in groups)
            named = summed((row[name], row["bytes"][i]) for row in layer[list_] if not row.get("is_rest"))
            rest = sum(row["bytes"][i] for row in layer[list_] if row.get("is_rest"))
            too_many = [key for key, bytes_ in named.items() if bytes_ > wanted.get(key, 0)]
            if too_many or sum(named.values()) + rest != sum(wanted.values()) or (not rest and named != wanted):
                yield f"{list_}: point {i}: {named!r:.200} and {rest}, expected {wanted!r:.200}"

    def check_sites(self, layer, account):
        for i, index in enumerate(self.moments):
            wanted = {}
            for block in self.figures.live_blocks(account, index):
                stacks = self.stacks_of_block(block)
                wanted[stacks] = wanted.get(stacks, 0) + block.size
            named = {self.stacks_of(row["stack"]): row["bytes"][i]
                     for row in layer["sites"] if row["stack"] is not None and row["bytes"][i]}  # fmt: skip
            rest = sum(row["bytes"][i] for row in layer["sites"] if row["stack"] is None)
            if any(wanted.get(key) != bytes_ for key, bytes_ in named.items()) or sum(named.values()) + rest != sum(wanted.values()):
                yield f"sites: snapshot {i}: {named!r:.200} and {rest}, expected {wanted!r:.200}"
            if rest and len({row["stack"] for row in layer["sites"]}) <= STACKS and len(wanted) == len(named):
                yield f"sites: snapshot {i}: a rest of {rest} without a stack"

    def check_maps(self, layer, account):
        blocks = layer["blocks"]
        is_pool = account[1] == "pool"  # blocks of the driver's layer have handles, not addresses
        for number, map_ in enumerate(layer["maps"]):
            snapshot = map_["snapshot"]
            live = self.figures.live_blocks(account, self.moments[snapshot])
            got = sorted(
                (blocks["address"][i] if is_pool else 0, blocks["size_bytes"][i], self.stacks_of(blocks["stack"][i]),
                 self.series["categories"][blocks["category"][i]]["category"])
                for i in range(len(blocks["address"]))
                if blocks["first_snapshot"][i] <= snapshot < blocks["end_snapshot"][i]
            )  # fmt: skip
            wanted = sorted((block.address if is_pool else 0, block.size, self.stacks_of_block(block), self.figures.category(block)) for block in live)
            if map_["left_out_count"] or map_["left_out_bytes"] or got != wanted:
                yield f"map {number}: {got!r:.300}, expected {wanted!r:.300}, left out {map_['left_out_count']}"
            segments = sorted((row["address"], row["size_bytes"]) for row in layer["segments"]
                              if row["first_map"] <= number < row["end_map"])  # fmt: skip
            held = sorted((r.address, r.size) for r in self.books.ranges if r.pool_account == account
                          and r.begin <= self.moments[snapshot] and (r.end is None or r.end > self.moments[snapshot]))  # fmt: skip
            if segments != held:
                yield f"map {number}: segments {segments!r:.300}, expected {held!r:.300}"


def check(trace, figures):
    """Returns a line for each difference in the series. Each map must be whole, because traces of tests hold fewer
    blocks than a map draws."""
    return list(Series(series_of(trace), figures).check())
