# SPDX-License-Identifier: MIT
"""Finds the rounds of a program that marks no steps, slowly: from the list of all allocations. The definitions are in
analyzer/analysis/steps/site_period.h."""
import collections

FEWEST_ROUNDS, FEWEST_RISES, POOL_BIRTHS, FEWEST_CALLS, SPAN = 3, 8, 3, 4, 3
OWN = ("itself", "")


def path_of(frames):
    """Returns the frames of a stack, outermost first, with one frame for a function that calls itself from one line.
    Native frames count only in a stack that has no others."""
    frames = list(reversed(frames))
    kept = [frame for frame in frames if frame[0] != "native"] or frames
    path = [frame for n, frame in enumerate(kept) if not n or frame != kept[n - 1]]
    return (*path, OWN) if path else ()


def words_of(frame):
    return frame[1].split(".") if frame[0] == "python" else []


def is_forward(frame):
    return words_of(frame)[-1:] == ["forward"]


def is_near(entries, count):
    return abs(entries - count) <= 1


class Rounds:
    """The changes of an account, [(event, site, size, is_birth)], and its sites, {site: frames, innermost first}.
    begins: whether each birth begins a round; parts: the sites of rounds."""

    def __init__(self, changes, frames, is_pool):
        self.changes, self.is_pool = changes, is_pool
        self.births = [(site, size) for _, site, size, is_birth in changes if is_birth]
        self.paths = {site: path_of(frames[site]) for site, _ in self.births}
        self.counts = collections.Counter(site for site, _ in self.births)
        self.most, self.turns = self.lives()
        worth = {site: count if self.is_worth(site) else 0 for site, count in self.counts.items()}
        if not any(worth.values()):
            worth = {site: count if self.only_rises(site) else 0 for site, count in self.counts.items()}
        self.weights, self.sizes, self.entries, self.children = collections.Counter(), collections.Counter(), collections.Counter(), {}
        for site, weight in worth.items():
            for node in self.nodes(site):
                self.weights[node] += weight
                self.sizes[node] += self.counts[site]
                if node:
                    self.children.setdefault(node[:-1], {})[node] = None
        self.spans, counted = {}, [number for number, (site, _) in enumerate(self.births) if worth[site]]
        self.whole = counted[-1] - counted[0] if counted else 0
        before = {}
        for number, (site, _) in enumerate(self.births):
            for node in self.nodes(site):
                self.spans[node] = (self.spans.get(node, (number,))[0], number)
            now = dict.fromkeys(self.nodes(site))
            self.entries.update(node for node in now if node not in before)
            before = now
        self.node = self.begin = self.drops = None
        self.is_last_whole, self.site = False, None
        self.find()
        if self.begin:
            self.take_rounds()
        else:
            self.take_drops()

    def nodes(self, site):
        return [self.paths[site][:depth] for depth in range(len(self.paths[site]) + 1)]

    def lives(self):
        """Returns, for each site, the most blocks live at once, and how often a birth follows the end of another."""
        live, most, turns, freed = collections.Counter(), collections.Counter(), collections.Counter(), set()
        for _, site, _, is_birth in self.changes:
            live[site] += 1 if is_birth else -1
            if is_birth:
                most[site] = max(most[site], live[site])
                turns[site] += site in freed
                freed.discard(site)
            else:
                freed.add(site)
        return most, turns

    def is_of_forward(self, site):
        return any(map(is_forward, self.paths[site]))

    def is_of_init(self, site):
        return any("__init__" in words_of(frame) for frame in self.paths[site])

    def is_worth(self, site):
        count = self.counts[site]
        return count > 1 and not self.is_of_init(site) and (self.is_of_forward(site) or self.most[site] < count)

    def only_rises(self, site):
        sizes = [size for of, size in self.births if of == site]
        rises = sum(0 < a < b for a, b in zip(sizes, sizes[1:]))
        return not self.is_of_init(site) and sizes == sorted(sizes) and rises >= FEWEST_RISES and rises * 2 >= len(sizes)

    # the node that has rounds

    def is_of_rounds(self, child, count):
        first, last = self.spans[child]
        return is_near(self.entries[child], count) and (last - first) * SPAN >= self.whole

    def rounds_at(self, node):
        """Returns the first child that each round enters once, and how often it is entered."""
        children = [child for child in self.children.get(node, {}) if self.is_of_rounds(child, self.entries[child])]
        counts = {self.entries[child] for child in children if self.entries[child] >= FEWEST_ROUNDS}
        near = {count: sum(is_near(self.entries[child], count) for child in children) for count in counts}
        near = {count: many for count, many in near.items() if many >= 2}
        if not near or not self.weights[()] or self.weights[node] * 2 < self.weights[()]:
            return None, 0
        count = min(near, key=lambda count: (-near[count], count))
        if self.is_pool and self.sizes[node] < POOL_BIRTHS * count:
            return None, 0
        if not all(self.has_place(node, child) for child in children if is_near(self.entries[child], count)):
            return None, 0
        begin = next(child for child in children if is_near(self.entries[child], count))
        return begin, self.entries[begin]

    def neighbours(self, node, child, is_after):
        """Counts the children of the node that come directly before the child, or after it; None: other lines."""
        at = [self.paths[site][: len(node) + 1] for site, _ in self.births]
        at = [path if path[:-1] == node and path else None for path in at]
        pairs = [(b, a) if is_after else (a, b) for a, b in zip(at, at[1:]) if a != b]
        return collections.Counter(a for a, b in pairs if b == child)

    def has_place(self, node, child):
        most = max(max(self.neighbours(node, child, is_after).values(), default=0) for is_after in (False, True))
        return 4 * (most + 1) >= 3 * self.entries[child]

    def calls_model(self, node):
        return any(is_forward(frame) for path in self.paths.values() if path[: len(node)] == node for frame in path[max(len(node) - 1, 0) :])

    def is_better(self, node, count):
        if not self.begin:
            return True
        of_forward = any(is_forward(child[-1]) for child in self.children[node])
        return count > self.entries[self.begin] + 1 and self.calls_model(self.node) and (
            not of_forward or all(map(self.calls_model, self.children[self.node])))  # fmt: skip

    def find(self):
        node = ()
        while True:
            begin, count = self.rounds_at(node)
            if begin and self.is_better(node, count):
                self.node, self.begin = node, begin
            if node not in self.children:
                return
            node = max(self.children[node], key=lambda child: self.weights[child])
            if not self.weights[node] or is_forward(node[-1]):
                return

    # what begins and ends a round

    def is_below(self, site, node):
        return self.paths[site][: len(node)] == node

    def take_rounds(self):
        self.site = next(site for site in self.paths if self.is_below(site, self.begin))
        children = [child for child in self.children[self.node] if self.is_of_rounds(child, self.entries[self.begin])]
        before = self.neighbours(self.node, self.begin, False)
        usual = max(children, key=lambda child: before[child])
        last = next(path for site, _ in reversed(self.births) if (path := self.paths[site][: len(self.node) + 1]) in children)
        self.is_last_whole = before[usual] > 0 and last == usual

    def take_drops(self):
        chosen = [site for site in self.paths if self.is_of_forward(site)]
        chosen = chosen or list(self.paths)
        fewest = min((self.counts[site] for site in chosen if self.counts[site] >= FEWEST_ROUNDS), default=0)
        fit = [site for site in chosen if FEWEST_ROUNDS <= self.turns[site] <= fewest // FEWEST_CALLS]
        self.drops = self.site = max(fit, key=lambda site: self.turns[site], default=None)

    def ends(self, backwards):
        """Returns (the events before which a round ends, the event after which the last round ends, or None).
        backwards: the number of the backward in which the block of an event was made."""
        backward, ends, after, begun, is_beginning, dropped, frees, frees_at_end = None, [], None, 0, False, False, 0, 0
        left = sum(self.is_below(site, self.node) for site, _ in self.births) if self.begin else 0
        open_ = self.is_last_whole
        for number, (event, site, _, is_birth) in enumerate(self.changes):
            if is_birth:
                begins = dropped or bool(self.begin and self.is_below(site, self.begin) and not is_beginning)
                if begins:
                    frees_at_end, begun, before, backward = frees, begun + 1, backward, backwards.get(event)
                if (begins and (begun > 1 or dropped) and (backward is None or backward != before)) or (open_ and not left):
                    ends.append(event)
                    open_ = open_ and left > 0
                is_beginning = bool(self.begin and self.is_below(site, self.begin))
                left -= bool(self.begin and self.is_below(site, self.node))
                dropped, frees = False, 0
            else:
                frees, dropped = frees + 1, dropped or (self.drops is not None and site[0] == self.drops[0])
            is_last_change = number + 1 == len(self.changes) or self.changes[number + 1][0] != event
            if open_ and not left and frees >= frees_at_end and is_last_change:
                open_, after = False, event
        return ends, after
