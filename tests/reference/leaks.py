# SPDX-License-Identifier: MIT
"""Computes growth per step slowly: it keeps the live bytes of every site at every end of a step in plain lists
and takes the median of all slopes. The definitions are in analyzer/analysis/steps/growth.h."""

import bisect
import collections
import math

from reference import blame, holders
from reference.caches import WARM_UP, Turnover, loses
from reference.step_ends import (AFTERWARDS, BESIDE, KINDS, PHASE, TOGETHER, ends_afterwards, found_ends, is_cut,
                                 kind_that_began, phases_that_repeat, rests_of)  # fmt: skip

SAMPLES, FEWEST = 64, 3

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
            return "grows" if min(samples[third:]) > min(samples[: n - third]) else "unknown"
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
    """The ends of steps before which most bytes of a site, of at least three ages, were freed between two births
    in the account; sweeps.h says more."""

    def __init__(self, changes, site, ends, values):
        swept, falls = self.frees(changes, site, ends), [k for k in range(1, len(values)) if values[k] < values[k - 1]]
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
    def frees(changes, site, ends):
        """Returns {counted end: bytes of the last sweep before it}."""
        births, moment, live, swept = 0, None, 0, {}
        for index, block, birth, _ in changes:
            births += birth
            if block.site != site:
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


def is_of_rests(values, first, last):
    return values[-1] > values[0] and last > first and (last - first) * 2 >= values[-1] - values[0]


# --- an account ---


class Growth:
    def __init__(self, figures, account):
        self.figures, self.books, self.account = figures, figures.books, account
        self.since, self.kind, self.ends, self.site = self.find_ends()
        if self.kind == TOGETHER and account[1] not in BESIDE:
            self.kind, self.ends = None, []
        self.total, self.rows, self.churned, self.slopes, self.enlarged = None, [], [], {}, {}
        self.steps, self.with_what = len(self.ends), KINDS[AFTERWARDS if self.since else self.kind] if self.ends else None
        self.phase = phases_that_repeat(self.books)[0] if self.kind == PHASE else None
        self.saws, self.rises, self.intervals, self.total_rises, self.filled, self.rest_slope = {}, {}, 0, 0, 0, 0
        if not self.ends and (begun := kind_that_began(self.books)) is not None:
            self.steps, self.with_what = 1, KINDS[begun]
        own = [change for change in self.books.changes if change[1].account == account]
        self.changes = [change for change in own if change[1].begin >= self.since]
        self.before = [change for change in own if change[1].begin < self.since]
        whole_ends = self.ends[:-1] if not self.since and is_cut(figures) else self.ends
        if self.changes and len(whole_ends) >= WARM_UP + FEWEST:
            self.at_ends(whole_ends[WARM_UP:])

    def find_ends(self):
        return (0, *found_ends(self.figures)[:3])

    def row(self, site, **more):
        return {**self.figures.layer(self.account), **more, "frames": self.books.stack_frames(site[0]), "site": site}

    def headed(self, rows):
        """Returns the rows with their labels, which depend on all sites of the account."""
        labels = blame.Labels([self.books.site_frames(site) for site in {change[1].site for change in self.changes}])
        frames = [self.books.site_frames(row["site"]) for row in rows]
        names = [(blame.label(labels, *both), blame.called(labels, *both)) for both in frames]
        plain = [{key: value for key, value in row.items() if key != "site"} for row in rows]
        return [{**row, "site": site, "called": inner} for row, (site, inner) in zip(plain, names)]

    # steps that ended

    def at_ends(self, looked_at):
        values, counts = collections.defaultdict(list), collections.defaultdict(list)
        live, blocks, total, changes = collections.Counter(), collections.Counter(), [], iter([*self.changes, None])
        rests = [self.rests_at(end) for end in (looked_at[0], looked_at[-1])]
        change = next(changes)
        for number, end in enumerate(looked_at):
            while change and change[0] < end:
                live[change[1].site] += change[1].size if change[2] else -change[1].size
                blocks[change[1].site] += 1 if change[2] else -1
                change = next(changes)
            before = sum(block.size if birth else -block.size for index, block, birth, _ in self.before if index < end)
            total.append(sum(live.values()) + before)
            for site in live:
                for lists, now in ((values, live), (counts, blocks)):
                    lists[site] = lists[site] + [0] * (number - len(lists[site])) + [now[site]]
        width, samples = windows(total)
        self.total = (self.judge(total, samples, width), line(samples, width))
        self.intervals, self.total_rises = len(total) - 1, sum(a < b for a, b in zip(total, total[1:]))
        first, last = (sum(at.values()) for at in rests)
        self.rest_slope = max(0, last - first) / self.intervals
        if self.total[0] == "grows" and is_of_rests(total, first, last):
            self.total = ("flat", self.total[1])
        for site, held in values.items():
            self.site_at_ends(site, held, counts[site], [at[site] for at in rests])
        self.find_churn(looked_at)

    def rests_at(self, end):
        """Returns the rests (rests.h) of the blocks that are live before an event, by site; None: of earlier blocks."""
        live, rests = collections.Counter(), rests_of(self.books)
        for since, changes in ((True, self.changes), (False, self.before)):
            for index, block, birth, _ in changes:
                if index < end:
                    live[block.site if since else None] += rests.get(block.begin, 0) * (1 if birth else -1)
        return live

    def judge(self, values, samples, width):
        steps = list(zip(values, values[1:]))
        steady = all(a <= b for a, b in steps) and sum(a < b for a, b in steps) * 2 >= len(steps)
        return verdict(samples, width, steady)

    def add_site(self, site, slopes, counts, **more):
        """Adds a row. The site counts as enlarging its blocks if the number of its blocks stays the same, and above 0,
        in the last third of the windows."""
        late = set(last_third(counts))
        was_resized = any(block.how == "resized" for _, block, _, _ in self.changes if block.site == site)
        if len(late) == 1 and 0 not in late and not was_resized:
            self.enlarged[site] = late.pop()
            slopes = self.by_sizes(site) or slopes
        self.put(site, slopes, collapses=0, **more)

    def put(self, site, slopes, **more):
        self.slopes[site], self.rises[site] = slopes, more["rises"]
        kept = holders.kept_by(self.figures, self.account, self.books.count - 1, site[0], of_walk=True)
        self.rows.append(self.row(site, **printed(slopes), **more, enlarged=site in self.enlarged, known_cache=None, **kept))

    def by_sizes(self, site):
        """Returns the slopes of enlarged blocks from their sizes, if each step replaces each block once; else None."""
        sizes, count = self.sizes(site), self.enlarged[site]
        if sizes != sorted(sizes) or len(sizes) < 3 * count or abs(len(sizes) - count * self.steps) > 2 * count:
            return None
        return ((sizes[-1] - sizes[0]) / (len(sizes) // count - 1) * count,) * 3

    def add_saw(self, site, values, **more):
        """Adds the row of a series that is swept again and again. Returns False for any other series."""
        sweeps = Sweeps(self.changes, site, self.ends, values)
        if sweeps.is_saw:
            self.saws[site] = sweeps
            self.put(site, (sweeps.slope,) * 3, collapses=len(sweeps.ends), **more)
        return sweeps.is_saw

    def site_at_ends(self, site, values, counts, rests):
        width, samples = windows(values)
        changes = sum(a != b for a, b in zip(values, values[1:]))
        rises = sum(a < b for a, b in zip(values, values[1:]))
        facts = {"first_bytes": values[0], "last_bytes": values[-1], "steps": len(self.ends), "rises": rises}
        if changes < 2 or (changes > rises and self.add_saw(site, values, **facts)):
            return
        grows = values[-1] > values[0] and self.judge(values, samples, width) == "grows"
        if not grows:
            return
        if Turnover(self.changes, site, self.ends, values, counts).fills():
            self.filled += line(samples, width)[0]
            return
        if not is_of_rests(values, *rests):
            self.add_site(site, line(samples, width), windows(counts)[1], **facts)

    def find_churn(self, looked_at):
        """Adds the rows of blocks that were allocated after an end and freed before the next end."""
        sums, steps = {}, list(zip(looked_at, looked_at[1:]))
        for block in self.books.blocks:
            if block.account != self.account or block.end is None or block.how == "resized":
                continue
            if any(start <= block.begin and block.end < end for start, end in steps):
                bytes_, count = sums.get(block.site, (0, 0))
                sums[block.site] = (bytes_ + block.size, count + 1)
        for site, (bytes_, count) in sums.items():
            if bytes_:
                self.churned.append(
                    self.row(
                        site, bytes_per_step=whole(bytes_ / len(steps)), bytes=bytes_, count=count, steps=len(steps)
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
        """Returns the call stacks that made a segment that a pool cut into pieces, at any time on any device."""
        if self.account[1] != "device":
            return set()
        return {block.stack for block in self.books.blocks if block.is_segment}

    def is_outgrown(self, site):
        """True if every block of the site is kept, and each is larger than the one before."""
        own = [(index, block, birth) for index, block, birth, _ in self.changes if block.site == site]
        sizes = self.sizes(site)
        rises = [b - a for a, b in zip(sizes, sizes[1:])]
        if not any(site) or not all(birth for _, _, birth in own) or min(rises, default=0) <= 0:
            return False
        return len(rises) >= (4 if max(rises) // 2 <= min(rises) else 8)

    def sizes(self, site):
        rests = rests_of(self.books)
        return [block.size - rests.get(block.begin, 0) for _, block, birth, _ in self.changes if birth and block.site == site]

    def rise_on(self, site):
        """True if the last run of sizes that do not fall rises often: 4 times alike or 8 times, and oftener than earlier runs."""
        runs, before = [[]], None
        for size in self.sizes(site):
            if before is not None and size < before:
                runs.append([])
            elif before is not None and size > before:
                runs[-1].append(size - before)
            before = size
        last = runs.pop()
        enough = last and len(last) >= (4 if max(last) // 2 <= min(last) else 8)
        return bool(enough) and all(len(run) < len(last) for run in runs)

    def goes_on(self, site):
        """True if the site, which enlarges its blocks, keeps each for two steps, or its sizes fell or rise often."""
        sizes = self.sizes(site)
        return sizes != sorted(sizes) or self.rise_on(site) or len(sizes) * 2 <= self.enlarged[site] * self.steps

    def outgrown(self):
        """True if the largest such site holds a tenth of the account's highest live bytes."""
        if self.steps or not self.changes:
            return False
        held = collections.Counter()
        for _, block, birth, _ in self.changes:
            held[block.site] += block.size if birth else 0
        sums = [held[site] for site in list(held) if self.is_outgrown(site)]
        least = max(self.figures.live(self.account)) // 10
        return sum(held for held in sorted(sums)[-2:] if held >= least) > self.visible()

    def lost(self):
        """True if a site loses blocks now and then, and what it lost is a tenth of the highest live bytes."""
        if found_ends(self.figures)[1] or self.steps or not self.changes:
            return False
        if self.account[1] not in BESIDE and any(block.account[1] == "pool" for block in self.books.blocks):
            return False
        least, found = max(self.figures.live(self.account)) // 10, 0
        resized = {block.site for _, block, _, _ in self.changes if block.how == "resized"}
        for site in {block.site for _, block, _, _ in self.changes} - resized - {(0, 0)}:
            own = [(block, birth) for _, block, birth, _ in self.changes if block.site == site]
            births, count, held = [], 0, 0
            for block, birth in own:
                births += [count] if birth else []
                count, held = (count + 1, held + block.size) if birth else (count - 1, held - block.size)
            if count >= 8 and held >= least and loses(births, len(own) - len(births)):
                found = max(found, held)
        return found > self.visible()

    def leak(self):
        """Returns (verdict, bytes per step that leak, bytes per step of enlarged blocks, growth of the peak from step
        to step). It knows no caches, because no frame in these traces belongs to a known cache."""
        if not self.total:
            return "grows" if self.outgrown() or self.lost() else "cannot tell", None, None, 0
        pieces = self.pieces()
        own = {site: slopes for site, slopes in self.slopes.items() if site[0] not in pieces}
        left_out = sum(slopes[0] for site, slopes in self.slopes.items() if site[0] in pieces)
        leaking = {site for site in own if site not in self.enlarged and site not in self.saws}
        kept, least, most = (sum(own[site][i] for site in leaking) for i in range(3))
        enlarged = sum(own[site][0] for site in own if site in self.enlarged)
        often = [site for site in self.saws if site in own and self.rises[site] >= 3]
        seen = [site for site in often if self.saws[site].most >= self.visible()]
        saw = sum(own[site][0] for site in seen if not self.saws[site].is_even)
        flushed = sum(own[site][0] for site in seen if self.saws[site].is_even)
        rises = max((self.rises[site] for site in leaking), default=0)
        whole_verdict, (total, low, high) = self.total
        known = enlarged + saw + flushed + self.filled + self.rest_slope
        if not pieces and not leaking and whole_verdict == "grows" and low > known:
            kept, least, most, rises = total - known, low - known, high - known, self.total_rises
        rising, grows = (slope > self.floor() and (high - left_out) * 2 >= slope for slope in (kept, enlarged))
        few = rises < 3 or (self.steps < 10 and rises < self.intervals)
        leaks, enlarges = rising and most - least <= 2 * kept and not few, grows
        grows = grows and any(self.goes_on(site) for site in own if site in self.enlarged)
        told = "no leak" if whole_verdict != "unknown" or high <= self.floor() or flushed or self.filled else "cannot tell"
        if (rising and not leaks) or (enlarges and not grows):
            told = "cannot tell"
        twice = max((own[site][0] / self.enlarged[site] for site in own if site in self.enlarged), default=0)
        higher = leaks * kept + grows * (enlarged + twice)
        found = "leak" if leaks else "grows" if grows or (saw > self.floor() and whole_verdict != "flat") else told
        larger = sum(own[site][0] for site in leaking if self.sizes(site) == sorted(self.sizes(site)) and self.rise_on(site))
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


class Afterwards(Growth):
    """Growth in the rounds after the last step, of blocks that were made there."""

    def find_ends(self):
        return ends_afterwards(self.figures)


def growth_of(figures, account):
    """Returns the growth from step to step, or that afterwards if only there is a leak."""
    found = Growth(figures, account)
    if found.leak()[0] == "leak" or not ends_afterwards(figures):
        return found
    after = Afterwards(figures, account)
    return after if after.leak()[0] == "leak" else found


def growth(figures, layers):
    """Returns what `leaks` says of growth, for the accounts of one device."""
    verdicts, rows = [], []
    for account in layers:
        found = growth_of(figures, account)
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
        every = [growth_of(figures, account) for account in layers]
        churn = [row for found in every for row in found.headed(found.churned)]
        mine = {key: value for key, value in figures.leaks(device).items() if key != "device"}
        devices.append({"device": device, "leaks": {**mine, "churn": churn}})
    return {"devices": devices}
