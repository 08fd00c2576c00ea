# SPDX-License-Identifier: MIT
"""Computes growth per step slowly: it keeps the live bytes of every call stack at every end of a step in plain lists
and takes the median of all slopes. The definitions are in analyzer/analysis/steps/growth.h."""

import bisect
import collections
import math
import re
from functools import lru_cache

from reference import blame, holders, rounds

SAMPLES, WARM_UP, FEWEST, FEWEST_PHASES = 64, 1, 3, 8
KINDS = (
    "gpumemtrace_step()", "the phase named step", "the phase named optimizer",
    "the optimizer, as the stacks show it", "the phase named backward", "backward, as the stacks show it",
    "the phase named forward", "a phase that repeats", "an allocation that repeats",
)  # fmt: skip
PHASE, REPEATED = len(KINDS) - 2, len(KINDS) - 1
TOGETHER = -1  # the last kind again; its rounds are those of all accounts
BESIDE = ("managed", "host")
MAY_LEAK = ("device", "pool", *BESIDE)


# --- where steps end ---


def kind_of(path):
    return kind_of_name(path.name, path.source == "inferred")


@lru_cache(maxsize=1000)
def kind_of_name(name, inferred):
    if re.fullmatch(r"(?i:step|iteration|iter|profilerstep)[ _#:-]*[0-9]*", name):
        return 1
    for word, kind in (("optimizer", 2), ("backward", 4)):
        if re.match(rf"(?i:{word})(?![a-z0-9])", name, re.I):
            return kind + inferred
    return 6 if re.match(r"forward(?![a-z0-9])", name, re.I) and not inferred else None


def is_inside_its_kind(span):
    outer = span.parent
    while outer:
        if kind_of(outer.path) == kind_of(span.path):
            return True
        outer = outer.parent
    return False


def ends_by_kind(books):
    """Returns, for each kind, its ends as (event, who). The memory at an end is the memory before that event."""
    ends = [[(end, None) for end in books.steps], *([] for _ in KINDS[1:PHASE])]
    for span in books.spans:
        kind = kind_of(span.path)
        if kind is not None and span.end < books.count and not is_inside_its_kind(span):
            ends[kind].append((span.end, (span.path, span.caller)))
    return [sorted(of_kind, key=lambda end: end[0]) for of_kind in ends]


def kind_that_began(books):
    """Returns the strongest kind with a phase that began, or None. If no phase of these kinds ended a step, the whole
    run is a part of one step."""
    return min((kind for span in books.spans if (kind := kind_of(span.path)) is not None), default=None)


def closes_of_cycles(ends):
    """Returns the ends of one kind that close a cycle of alternating phases, by the rules of phase_cycle.h."""
    closes, seen, closing, others, most, count, follows, same_count = [], {}, None, 0, 0, 0, False, 0
    for number, (end, who) in enumerate(ends):
        if who not in seen:
            if len(seen) == 16:
                continue
            seen[who] = [count, None, 0]
            if number and count > 8:
                continue
            closes, closing, most, others, follows = [], who, max(most, number), 0, number > 0
        elif who == closing:
            same_count += 1
            if follows and not others and same_count <= 2 * most + 2:
                continue
            most, others, follows = max(most, others), 0, follows and others > 0
        else:
            before, gap, same = seen[who]
            same = same + 1 if gap == count - before else 1
            seen[who] = [count, gap := count - before, same]
            others += 1
            if 2 <= gap <= 8 and same >= 2:
                closes, closing, most, others, follows = [], who, gap, 0, True
            elif others > 2 * most + 2:
                closing, most, others, follows = who, 0, 0, False
            else:
                continue
        closes.append(end)
        count, same_count = count + 1, 0
    return closes


def gives_way(optimizers, backwards):
    """True if the optimizer no longer allocates, so that steps end with backward instead."""
    since = most = seen = 0
    for _, is_backward in sorted([*((end, False) for end in optimizers), *((end, True) for end in backwards)]):
        if not is_backward:
            since, most, seen = 0, max(since, most), seen + 1
        elif (since := since + 1) > (most if seen == 1 else 2 * most + 2) and seen:
            return True
    return False


DEEPEST_STEP = 16  # most phases around a step on its thread


def events_of_ticks(books):
    """Returns the events that change a block of an account that may leak. Only these events are ticks, so that notes and
    marks do not change the figures."""
    return sorted({index for index, block, *_ in books.changes if block.account[1] in MAY_LEAK})


def phases_that_repeat(books):
    """Returns (name, events at which it ends) of the phase that repeats once per step, for runs in which nothing else
    tells the steps; None if there is none."""
    found, ticks = {}, events_of_ticks(books)

    def tick(index):
        return bisect.bisect_left(ticks, index)

    for span in books.spans:
        around = sum(1 for other in books.spans if other.thread == span.thread and is_explicit(other) and
                     other.begin < span.begin and other.end > span.end)
        if around < DEEPEST_STEP and is_explicit(span) and "::" not in span.path.name and not span.path.name.lower().startswith("epoch") and span.end < books.count:
            found.setdefault((around, span.path.name), []).append(span)
    told = {}
    for key, spans in found.items():
        ends = sorted(tick(span.end) for span in spans)
        all_, gaps = ends[-1] - ends[0], [b - a for a, b in zip(ends, ends[1:])]
        if len(ends) >= FEWEST_PHASES and all_ * 4 >= len(ticks) and max(gaps) * len(gaps) <= 3 * all_:
            covered = sum(tick(span.end) - tick(span.begin) for span in spans)
            told[key] = (covered, sorted(span.end for span in spans))
    if not told:
        return None
    key = min(told, key=lambda key: (key[0], -told[key][0], told[key][1][0]))
    return key[1], told[key][1]


def is_explicit(span):
    return span.path.source != "inferred"


@lru_cache(maxsize=2)
def step_ends(books):
    """Returns (kind, ends) of the strongest kind that ended a step, or (None, [])."""
    by_kind = ends_by_kind(books)
    kind = next((kind for kind, ends in enumerate(by_kind) if ends), None)
    if kind is None:
        return None, []
    ends = by_kind[kind]
    if kind == 3 and gives_way(*([end for end, _ in by_kind[of]] for of in (3, 5))):
        kind, ends = 5, by_kind[5]
    return kind, [end for end, _ in ends] if kind < 2 else closes_of_cycles(ends)


def rounds_of(figures, account):
    """Returns the rounds of an account."""
    changes = [(index, block.stack, block.size, birth) for index, block, birth, _ in figures.books.changes if block.account == account]
    frames = {stack: figures.books.stack_frames(stack) if stack else [] for _, stack, _, _ in changes}
    return rounds.Rounds(changes, frames, account[1] == "pool")


def rounds_together(figures):
    """Returns the rounds of all accounts of a program without pools, from its first managed or pinned block on."""
    changes = [(index, block, birth) for index, block, birth, _ in figures.books.changes if block.account[1] in MAY_LEAK]
    first = next((index for index, block, birth in changes if birth and block.account[1] in BESIDE), None)
    if first is None or any(block.account[1] == "pool" for _, block, _ in changes):
        return None, [], None, None
    frames = {block.stack: figures.books.stack_frames(block.stack) if block.stack else [] for _, block, _ in changes}
    every = [(index, block.stack, block.size, birth) for index, block, birth in changes]
    since = [(index, block.stack, block.size, birth) for index, block, birth in changes if block.begin >= first]
    found = rounds.Rounds(since, frames, False)
    found.changes, found.is_last_whole = every, False
    found.paths = {block.stack: ("before",) for _, block, _ in changes} | found.paths
    return (None, [], None, None) if found.site is None else (TOGETHER, found.ends()[0], found.site, None)


@lru_cache(maxsize=2)
def found_ends(figures):
    """Returns (kind, ends, stack, last). Without ends of step_ends(), the ends are those of the phase that repeats, or
    those of the rounds that a call stack begins, on the leading account with the highest peak, or else in all accounts
    together. If the last round ends
    after an event instead of before one, that end is the number of the next event, and `last` is this number."""
    kind, ends = step_ends(figures.books)
    if ends or kind_that_began(figures.books) is not None:
        return kind, ends, None, None
    leading = [(figures.peak(account)[0], account) for account in map(figures.leading, figures.devices)]
    beside = [(figures.peak(account)[0], account) for account in list(figures.books.counts) if account[1] in BESIDE]
    if any(peak for peak, _ in leading + beside) and (found := phases_that_repeat(figures.books)):
        return PHASE, found[1], None, None
    found = [(peak, rounds_of(figures, account)) for peak, account in leading if peak]
    found = [(peak, of) for peak, of in found if of.site is not None]
    if not found:
        return rounds_together(figures)
    chosen = max(found, key=lambda pair: pair[0])[1]
    ends, after = chosen.ends()
    return REPEATED, ends + ([] if after is None else [after + 1]), chosen.site, None if after is None else after + 1


# --- the line ---


def windows(values):
    """Returns (length of a window, the least value of each whole window)."""
    width = 1
    while (len(values) - 1) // width >= SAMPLES:
        width *= 2
    return width, [min(values[i * width : (i + 1) * width]) for i in range(len(values) // width)]


def fit(samples, width):
    """Returns (slope, low, high) per end of a step."""
    n = len(samples)
    slopes = sorted((samples[j] - samples[i]) / ((j - i) * width) for i in range(n) for j in range(i + 1, n))
    spread = 1.96 * math.sqrt(n * (n - 1) * (2 * n + 5) / 18)
    beyond = 0 if spread >= len(slopes) else int((len(slopes) - spread) / 2)
    median = (slopes[(len(slopes) - 1) // 2] + slopes[len(slopes) // 2]) / 2
    return median, slopes[beyond], slopes[-1 - beyond]


def verdict(samples, width, is_steady):
    n = len(samples)
    slope, low, high = fit(samples, width)
    third, half = n - 1 - (n + 1) // 3, (n + 1) // 2
    if slope > 0 and (low > 0 or is_steady):
        if (samples[-1] - samples[third]) / ((n - 1 - third) * width) * 4 >= slope:
            return "grows"
    if high <= 0 or max(samples[half:]) <= max(samples[:half]):
        return "flat"
    return "flat" if slope > 0 and fit(samples[third:], width)[2] * 4 < slope else "unknown"


def usual(places):
    """Returns the distance of most places in a rising list, or 0; occurrences.h says how they vote."""
    candidate = votes = 0
    for distance in (b - a for a, b in zip(places, places[1:])):
        candidate = candidate if votes else distance
        votes += 1 if distance == candidate else -1
    return candidate if len(places) > 2 and votes * 4 >= len(places) - 1 else 0


class Sweeps:
    """The ends of steps before which most bytes of a call stack, of at least three ages, were freed between two births
    in the account; sweeps.h says more."""

    def __init__(self, changes, stack, ends, values):
        swept, falls = self.frees(changes, stack, ends), [k for k in range(1, len(values)) if values[k] < values[k - 1]]
        self.ends = [k for k in falls if k in swept]
        self.most = max((swept[k] for k in self.ends), default=0)
        self.gaps = [b - a for a, b in zip(self.ends, self.ends[1:])]
        since = len(values) - self.ends[-1] if self.ends else 0
        self.is_saw = 0 < len(self.ends) >= len(falls) / 2 and since <= 2 * max([self.ends[0] + 1, *self.gaps])
        before = [self.ends[0] + 1 + WARM_UP, *self.gaps[:-1], *(self.gaps[-1:] if since > 1 else [])] if self.ends else []
        longest = max([*before, *self.gaps], default=0)
        enough = len(self.ends) >= (2 if since > 1 else 3)
        self.is_even = enough and longest - min(before) <= 1
        rises = [(k, values[k] - values[k - 1]) for k in range(1, len(values)) if values[k] > values[k - 1]]
        risen, distance = sum(bytes_ for _, bytes_ in rises), usual([k for k, _ in rises])
        self.slope = risen / len(rises) / distance if distance else risen / max(1, len(values) - 1 - len(falls))

    @staticmethod
    def frees(changes, stack, ends):
        """Returns {counted end: bytes of the last sweep before it}."""
        births, moment, live, swept = 0, None, 0, {}
        for index, block, birth, _ in changes:
            births += birth
            if block.stack != stack:
                continue
            now = bisect.bisect_right(ends, index)
            if not birth and block.how != "resized" and now > WARM_UP:
                if moment != births:
                    moment, before, freed, ages = births, live, 0, set()
                freed += block.size
                ages.add(max(bisect.bisect_right(ends, block.begin), now - 63))
                if len(ages) >= 3 and freed * 2 >= before:
                    swept[now - WARM_UP] = freed
            live += block.size if birth else -block.size
        return swept


def last_third(samples):
    n = len(samples)
    return samples[n - 1 - (n + 1) // 3 :]


def whole(number):
    return math.floor(number + 0.5) if number >= 0 else -math.floor(0.5 - number)


def line(samples, width, ends_per_step=1):
    """Returns (slope, low, high) per step."""
    return tuple(value * ends_per_step for value in fit(samples, width))


def printed(slopes):
    keys = ("bytes_per_step", "bytes_per_step_low", "bytes_per_step_high")
    return {key: whole(value) for key, value in zip(keys, slopes)}


# --- an account ---


class Growth:
    def __init__(self, figures, account):
        self.figures, self.books, self.account = figures, figures.books, account
        self.kind, self.ends, self.site, _ = found_ends(figures)
        if self.kind == TOGETHER and account[1] not in BESIDE:
            self.kind, self.ends = None, []
        self.total, self.rows, self.churned, self.slopes, self.enlarged = None, [], [], {}, {}
        self.steps, self.with_what = len(self.ends), KINDS[self.kind] if self.ends else None
        self.phase = phases_that_repeat(self.books)[0] if self.kind == PHASE else None
        self.saws, self.rises, self.intervals, self.total_rises = {}, {}, 0, 0
        if not self.ends and (begun := kind_that_began(self.books)) is not None:
            self.steps, self.with_what = 1, KINDS[begun]
        self.changes = [change for change in self.books.changes if change[1].account == account]
        if self.changes and len(self.ends) >= WARM_UP + FEWEST:
            self.at_ends()

    def row(self, stack, **more):
        return {**self.figures.layer(self.account), **more, "frames": self.books.stack_frames(stack), "stack": stack}

    def headed(self, rows):
        """Returns the rows, each with a label that no other call stack of the account has."""
        stacks = {change[1].stack for change in self.changes}
        labels = blame.Labels([(self.books.stack_frames(stack), []) for stack in stacks])
        names = [(blame.label(labels, row["frames"], []), blame.called(labels, row["frames"], [])) for row in rows]
        plain = [{key: value for key, value in row.items() if key != "stack"} for row in rows]
        return [{**row, "site": site, "called": inner} for row, (site, inner) in zip(plain, names)]

    # steps that ended

    def at_ends(self):
        looked_at = self.ends[WARM_UP:]
        values, counts = collections.defaultdict(list), collections.defaultdict(list)
        live, blocks, total, changes = collections.Counter(), collections.Counter(), [], iter([*self.changes, None])
        change = next(changes)
        for number, end in enumerate(looked_at):
            while change and change[0] < end:
                live[change[1].stack] += change[1].size if change[2] else -change[1].size
                blocks[change[1].stack] += 1 if change[2] else -1
                change = next(changes)
            total.append(sum(live.values()))
            for stack in live:
                for lists, now in ((values, live), (counts, blocks)):
                    lists[stack] = lists[stack] + [0] * (number - len(lists[stack])) + [now[stack]]
        width, samples = windows(total)
        self.total = (self.judge(total, samples, width), line(samples, width))
        self.intervals, self.total_rises = len(total) - 1, sum(a < b for a, b in zip(total, total[1:]))
        for stack, held in values.items():
            self.site_at_ends(stack, held, counts[stack])
        self.find_churn(looked_at)

    def judge(self, values, samples, width):
        steps = list(zip(values, values[1:]))
        steady = all(a <= b for a, b in steps) and sum(a < b for a, b in steps) * 2 >= len(steps)
        return verdict(samples, width, steady)

    def add_site(self, stack, slopes, counts, **more):
        """Adds a row. The stack counts as enlarging its blocks if the number of its blocks stays the same, and above 0,
        in the last third of the windows."""
        late = set(last_third(counts))
        was_resized = any(block.how == "resized" for _, block, _, _ in self.changes if block.stack == stack)
        if len(late) == 1 and 0 not in late and not was_resized:
            self.enlarged[stack] = late.pop()
            slopes = self.by_sizes(stack) or slopes
        self.put(stack, slopes, collapses=0, **more)

    def put(self, stack, slopes, **more):
        self.slopes[stack], self.rises[stack] = slopes, more["rises"]
        kept = holders.kept_by(self.figures, self.account, self.books.count - 1, stack, of_walk=True)
        self.rows.append(self.row(stack, **printed(slopes), **more, enlarged=stack in self.enlarged, known_cache=None, **kept))

    def by_sizes(self, stack):
        """Returns the slopes of enlarged blocks from their sizes, if each step replaces each block once; else None."""
        sizes, count = self.sizes(stack), self.enlarged[stack]
        if sizes != sorted(sizes) or len(sizes) < 3 * count or abs(len(sizes) - count * self.steps) > 2 * count:
            return None
        return ((sizes[-1] - sizes[0]) / (len(sizes) // count - 1) * count,) * 3

    def add_saw(self, stack, values, **more):
        """Adds the row of a series that is swept again and again. Returns False for any other series."""
        sweeps = Sweeps(self.changes, stack, self.ends, values)
        if sweeps.is_saw:
            self.saws[stack] = sweeps
            self.put(stack, (sweeps.slope,) * 3, collapses=len(sweeps.ends), **more)
        return sweeps.is_saw

    def site_at_ends(self, stack, values, counts):
        width, samples = windows(values)
        changes = sum(a != b for a, b in zip(values, values[1:]))
        rises = sum(a < b for a, b in zip(values, values[1:]))
        facts = {"first_bytes": values[0], "last_bytes": values[-1], "steps": len(self.ends), "rises": rises}
        if changes < 2 or (changes > rises and self.add_saw(stack, values, **facts)):
            return
        if values[-1] <= values[0] or self.judge(values, samples, width) != "grows":
            return
        self.add_site(stack, line(samples, width), windows(counts)[1], **facts)

    def find_churn(self, looked_at):
        """Adds the rows of blocks that were allocated after an end and freed before the next end."""
        sums, steps = {}, list(zip(looked_at, looked_at[1:]))
        for block in self.books.blocks:
            if block.account != self.account or block.end is None or block.how == "resized":
                continue
            if any(start <= block.begin and block.end < end for start, end in steps):
                bytes_, count = sums.get(block.stack, (0, 0))
                sums[block.stack] = (bytes_ + block.size, count + 1)
        for stack, (bytes_, count) in sums.items():
            if bytes_:
                self.churned.append(
                    self.row(
                        stack, bytes_per_step=whole(bytes_ / len(steps)), bytes=bytes_, count=count, steps=len(steps)
                    )
                )

    # whether it is a leak

    def floor(self):
        """Returns the bytes per step that would fill the card, or double the peak, in ten million steps."""
        card = self.card()[0]
        return (card or self.figures.peak(self.account)[0]) / 1e7

    def card(self):
        """Returns (bytes, context's bytes) of the card that limits the account; None: there is none, or it is unknown."""
        return (None, None) if self.account[1] in BESIDE else self.books.cards.get(self.account[0], (None, None))

    def visible(self):
        """Returns a hundredth of the peak beside which growth must be visible."""
        driver = (self.account[0], "device", 0)
        peak = self.figures.peak(self.account)[0]
        return max(peak, self.figures.peak(driver)[0] if self.account[1] in BESIDE else 0) // 100

    def pieces(self):
        """Returns the call stacks of the segments that a pool cuts into pieces."""
        alive = self.figures.live_blocks(self.account, self.books.count - 1)
        return {block.stack for block in alive if self.account[1] == "device" and block.is_segment}

    def is_outgrown(self, stack):
        """True if every block of the stack is kept, and each is larger than the one before."""
        own = [(index, block, birth) for index, block, birth, _ in self.changes if block.stack == stack]
        sizes = [block.size for _, block, _ in own]
        rises = [b - a for a, b in zip(sizes, sizes[1:])]
        if not stack or not all(birth for _, _, birth in own) or min(rises, default=0) <= 0:
            return False
        return len(rises) >= (4 if max(rises) // 2 <= min(rises) else 8)

    def sizes(self, stack):
        return [block.size for _, block, birth, _ in self.changes if birth and block.stack == stack]

    def rise_on(self, stack):
        """True if the last run of sizes that do not fall rises often: 4 times alike or 8 times, and oftener than earlier runs."""
        runs, before = [[]], None
        for size in self.sizes(stack):
            if before is not None and size < before:
                runs.append([])
            elif before is not None and size > before:
                runs[-1].append(size - before)
            before = size
        last = runs.pop()
        enough = last and len(last) >= (4 if max(last) // 2 <= min(last) else 8)
        return bool(enough) and all(len(run) < len(last) for run in runs)

    def goes_on(self, stack):
        """True if the stack, which enlarges its blocks, keeps each for two steps, or its sizes fell or rise often."""
        sizes = self.sizes(stack)
        return sizes != sorted(sizes) or self.rise_on(stack) or len(sizes) * 2 <= self.enlarged[stack] * self.steps

    def outgrown(self):
        """True if the largest such stack holds a tenth of the account's highest live bytes."""
        if self.steps or not self.changes:
            return False
        held = collections.Counter()
        for _, block, birth, _ in self.changes:
            held[block.stack] += block.size if birth else 0
        sums = [held[stack] for stack in list(held) if self.is_outgrown(stack)]
        least = max(self.figures.live(self.account)) // 10
        return sum(held for held in sorted(sums)[-2:] if held >= least) > self.visible()

    def leak(self):
        """Returns (verdict, bytes per step that leak, bytes per step of enlarged blocks, growth of the peak from step
        to step). It knows no caches, because no frame in these traces belongs to a known cache."""
        if not self.total:
            return "grows" if self.outgrown() else "cannot tell", None, None, 0
        pieces = self.pieces()
        own = {stack: slopes for stack, slopes in self.slopes.items() if stack not in pieces}
        left_out = sum(slopes[0] for stack, slopes in self.slopes.items() if stack in pieces)
        leaking = {stack for stack in own if stack not in self.enlarged and stack not in self.saws}
        kept, least, most = (sum(own[stack][i] for stack in leaking) for i in range(3))
        enlarged = sum(own[stack][0] for stack in own if stack in self.enlarged)
        often = [stack for stack in self.saws if stack in own and self.rises[stack] >= 3]
        seen = [stack for stack in often if self.saws[stack].most >= self.visible()]
        saw = sum(own[stack][0] for stack in seen if not self.saws[stack].is_even)
        flushed = sum(own[stack][0] for stack in seen if self.saws[stack].is_even)
        rises = max((self.rises[stack] for stack in leaking), default=0)
        whole_verdict, (total, low, high) = self.total
        known = enlarged + saw + flushed
        if not pieces and not leaking and whole_verdict == "grows" and low > known:
            kept, least, most, rises = total - known, low - known, high - known, self.total_rises
        rising, grows = (slope > self.floor() and (high - left_out) * 2 >= slope for slope in (kept, enlarged))
        few = rises < 3 or (self.steps < 10 and rises < self.intervals)
        leaks, enlarges = rising and most - least <= 2 * kept and not few, grows
        grows = grows and any(self.goes_on(stack) for stack in own if stack in self.enlarged)
        told = "no leak" if whole_verdict != "unknown" or high <= self.floor() or flushed else "cannot tell"
        if (rising and not leaks) or (enlarges and not grows):
            told = "cannot tell"
        twice = max((own[stack][0] / self.enlarged[stack] for stack in own if stack in self.enlarged), default=0)
        higher = leaks * kept + grows * (enlarged + twice)
        found = "leak" if leaks else "grows" if grows or (saw > self.floor() and whole_verdict != "flat") else told
        larger = sum(own[stack][0] for stack in leaking if self.sizes(stack) == sorted(self.sizes(stack)) and self.rise_on(stack))
        failed = any(failure.account[0] == self.account[0] for failure in self.figures.failures.list)
        return found, leaks * kept, enlarged, 0 if failed or larger * 2 > kept else higher

    def verdict(self):
        """Returns the verdict's keys, with the place where a step begins and the number of steps until the card is full."""
        card, context = self.card()
        found, kept, enlarged, higher = self.leak()
        used = self.figures.peak(self.account)[0] + (context or 0)
        return {
            "verdict": found,
            "leak_bytes_per_step": whole(kept) if self.total else None,
            "enlarged_bytes_per_step": whole(enlarged) if self.total else None,
            "cache_bytes_per_step": 0 if self.total else None,
            "floor_bytes_per_step": int(self.floor()),
            "step_phase": self.phase,
            "step_site": blame.alone(self.books, self.site)["site"] if self.site is not None else None,
            "steps_until_full": int((card - used) / higher) if card and higher > 0 and used <= card else None,
        }


def growth(figures, layers):
    """Returns what `leaks` says of growth, for the accounts of one device."""
    verdicts, rows = [], []
    for account in layers:
        found = Growth(figures, account)
        nothing = {key: None for key in ("bytes_per_step", "bytes_per_step_low", "bytes_per_step_high")}
        verdicts.append(
            {
                **figures.layer(account),
                "steps": found.steps or None,
                "steps_end_with": found.with_what,
                **(printed(found.total[1]) if found.total else nothing),
                **found.verdict(),
            }
        )
        rows += found.headed(found.rows)
    return {"growth": verdicts, "growing": rows}


def leaks_page(figures):
    """Returns what `leaks` says of growth, with the churn that `report` leaves out."""
    devices = []
    for device in figures.devices:
        layers = figures.leak_accounts(device)
        every = [Growth(figures, account) for account in layers]
        churn = [row for found in every for row in found.headed(found.churned)]
        mine = {key: value for key, value in figures.leaks(device).items() if key != "device"}
        devices.append({"device": device, "leaks": {**mine, "churn": churn}})
    return {"devices": devices}
