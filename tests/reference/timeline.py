# SPDX-License-Identifier: MIT
"""Computes live bytes over time by definition: it sorts every change of every account into cuts of equal width. It must
not know how the analyzer finds a cut while it reads the events."""

import bisect

from reference.step_ends import step_ends


class Timeline:
    """A timeline along `axis` (time, event or step). `start` and `end` are (unit, number) or None. The width of a cut
    is the smallest power of two with which the timeline has at most `samples` cuts. With keeps_lasts, a cut that no
    other cut follows has a second row, of its last state."""

    def __init__(self, figures, samples, axis="time", start=None, end=None, keeps_lasts=False):
        self.figures, self.books = figures, figures.books
        self.clock = []  # times of events, in which a time that is earlier than the one before is raised to that one
        for event in self.books.events[: self.books.count]:
            self.clock.append(max(event.time, self.clock[-1] if self.clock else 0))
        self.axis, self.start, self.end, self.keeps_lasts = axis, start, end, keeps_lasts
        self.step_ends = step_ends(self.books)[1]
        changed = [move[0] for account in figures.all_layers() for move in self.moves(account)]
        shown = [index for index in changed if self.is_inside(index)]
        if start:
            first = min(changed, default=len(self.clock))
            shown = [i for i in range(first, len(self.clock)) if self.is_inside(i)][:1] + shown
        self.begin, self.width = (self.x(min(shown)) if shown else None), 1
        while shown and (self.x(max(shown)) - self.begin) // self.width >= samples:
            self.width *= 2
        self.first = min(shown, default=None)

    def x(self, index, unit=None):
        if (unit or self.axis) == "step":
            return 1 + bisect.bisect_right(self.step_ends, index)
        return self.clock[index] if (unit or self.axis) == "time" else self.books.events[index].seq

    def needs_steps(self):
        return "step" in (self.axis, self.start and self.start[0], self.end and self.end[0])

    def is_inside(self, index):
        return (not self.start or self.x(index, self.start[0]) >= self.start[1]) and (
            not self.end or self.x(index, self.end[0]) <= self.end[1]
        )

    def moves(self, account):
        """Returns [(event, bytes before, bytes after, path)] of each change; a resize is one change."""
        found, live, settled = [], 0, 0
        for index, block, birth, span in self.books.changes:
            if block.account != account:
                continue
            live += block.size if birth else -block.size
            if birth or block.how != "resized":
                found.append((index, settled, live, span.path if span else None))
                settled = live
        return found

    def rows(self, account):
        """Yields (cut, event, event whose state it is, most, least, path) of each cut in which the account changed."""
        moves, cuts = self.moves(account), {}
        earlier = [move for move in moves if self.first is not None and move[0] < self.first]
        if self.start and earlier:  # the first cut shows the bytes that were live at the requested start
            self.enter(cuts, self.first, earlier[-1][2], earlier[-1][3])
        path = None
        for index, before, after, where in moves:
            if self.is_inside(index):
                self.enter(cuts, index, before, path).append((after, index, index, where))
            path = where
        for cut, states in sorted(cuts.items()):
            most = max(state[0] for state in states)
            bytes_, index, after, where = next(state for state in states if state[0] == most)
            yield cut, index, after, bytes_, min(state[0] for state in states), where
            bytes_, index, end, where = states[-1]
            if self.keeps_lasts and cut + 1 not in cuts and end != after:
                yield cut, index, end, bytes_, bytes_, where

    def enter(self, cuts, index, live, path):
        """Returns the states in the event's cut. A new cut begins with the bytes that were live before its first
        change."""
        cut = (self.x(index) - self.begin) // self.width
        return cuts.setdefault(cut, [(live, index, index - 1, path)])

    def page(self, by=None):
        devices = []
        for device in self.figures.devices:
            rows = [row for account in self.figures.layers(device) for row in self.shown(account, by)]
            devices.append({"device": device, "axis": self.axis, "width": self.width, "timeline": rows})
        return {"devices": devices}

    def shown(self, account, by):
        for cut, index, after, most, least, path in self.rows(account):
            row = {
                **self.figures.layer(account),
                "begin": self.begin + cut * self.width,
                "time_ns": self.clock[index],
                "seq": self.books.events[index].seq,
                "step": self.x(index, "step") if self.needs_steps() else None,
                "live_bytes": most,
                "lowest_bytes": least,
                "phase": path.text if path else None,
            }
            if not by:
                yield row
                continue
            for group, bytes_ in self.groups(account, after, by).items():
                yield {**row, by: group.text if by == "phase_of_birth" and group else group, "bytes": bytes_}

    def groups(self, account, index, by):
        sums = {}
        for block in self.figures.live_blocks(account, index):
            path = block.span and block.span.path
            group = path if by == "phase_of_birth" else self.figures.category(block)
            sums[group] = sums.get(group, 0) + block.size
        return {group: bytes_ for group, bytes_ in sums.items() if bytes_}


# --- what is asked ---


def part(books, choose, axis):
    """Returns a counted event, as (unit, number), to be the start or end of a timeline. Often returns None."""
    event = choose.choice(books.events[: books.count] or [None])
    unit = choose.choice(["time", "step" if axis == "step" else "event", None, None])
    if not event or not unit:
        return None
    return unit, {"time": event.time, "event": event.seq, "step": choose.randint(1, 5)}[unit]


def timelines(figures, choose):
    """Yields a few (options, page that must be printed). A part of the trace that has nothing to show is left out,
    because the command refuses it."""
    samples = choose.choice([1, 7, 40, 500])
    axis = choose.choice(["time", "event", "step"] if step_ends(figures.books)[1] else ["time", "event"])
    whole = Timeline(figures, samples, axis)
    options = [f"--samples={samples}", f"--axis={axis}"]
    yield options, whole.page()
    by, key = choose.choice([("phase", "phase_of_birth"), ("category", "category")])
    yield [*options, f"--by={by}"], whole.page(key)
    bounds = {name: part(figures.books, choose, axis) for name in ("from", "to")}
    inner = Timeline(figures, samples, axis, bounds["from"], bounds["to"])
    if inner.first is None:
        return
    for name, bound in bounds.items():
        if bound:
            options.append(f"--{name}={bound[1]}{'ns' if bound[0] == 'time' else ''}")
    yield options, inner.page()
