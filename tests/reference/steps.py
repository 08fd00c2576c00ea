# SPDX-License-Identifier: MIT
"""Computes the answer of `steps` slowly: it makes a row for every step and applies the definitions of
analyzer/analysis/steps/outlier.h and ages.h to all rows."""

from reference.blame import NO_STACK, Labels, alone, called, label
from reference.leaks import whole
from reference.step_ends import KINDS, PHASE, found_ends, phases_that_repeat

WINDOWS, AGES = 128, ("this step", "the step before", "two steps before")
OUT_OF_MEMORY = 2


def as_printed(number):
    return float(f"{number:.6g}")


def median(values):
    return sorted(values)[(len(values) - 1) // 2]


class Steps:
    def __init__(self, figures, account):
        self.figures, self.books, self.account = figures, figures.books, account
        self.kind, self.ends, self.site, self.last = found_ends(figures)
        self.live = figures.live(account)
        self.changes = [change for change in self.books.changes if change[1].account == account]
        self.rows = [self.step(*span) for span in zip([0, *self.ends], self.ends)]
        for number, row in enumerate(self.rows, 1):
            end = self.event_at(self.ends[number - 1])
            row["step"] = end.size if self.kind == 0 else number

    def event_at(self, end):
        return self.books.events[end - 1 if end == self.last else min(end, self.books.count - 1)]

    # --- one step: events from `begin` to before `end` ---

    def before(self, index):
        return self.live[index - 1] if index else 0

    def step(self, begin, end):
        mine = [change for change in self.changes if begin <= change[0] < end]
        sites, largest = self.sites_of(mine)
        begin_ns = self.event_at(begin).time if begin else 0
        return {
            "peak_bytes": max([self.before(begin), *self.levels(begin, end)]),
            "start_bytes": self.before(begin),
            "end_bytes": self.before(end),
            "allocated_bytes": sum(sites.values()),
            **self.work(begin, end),
            "begin_ns": begin_ns,
            "duration_ns": self.event_at(end).time - begin_ns,
            "sites": sites,
            "largest": largest,
            "begin": begin,
        }

    def stacks(self, block):
        """Returns (the block's stack, the stack of the forward operator for whose backward it was allocated). 0 stands
        for no stack."""
        return block.stack or 0, self.figures.forward.get(block.begin) or 0

    def frames(self, stacks):
        return tuple(self.books.stack_frames(stack) for stack in stacks)

    def sites_of(self, changes):
        """Returns ({stacks: bytes that they allocated}, {stacks: the size of their largest block})."""
        sites, largest = {}, {}
        for _, block, birth, _ in changes:
            if birth and block.size:
                stacks = self.stacks(block)
                sites[stacks] = sites.get(stacks, 0) + block.size
                largest[stacks] = max(largest.get(stacks, 0), block.size)
        return sites, largest

    def levels(self, begin, end):
        """Returns the live bytes after every change. A resize counts as one change."""
        live, found = 0, []
        for index, block, birth, _ in self.changes:
            live += block.size if birth else -block.size
            if begin <= index < end and (birth or block.how != "resized"):
                found.append(live)
        return found

    def work(self, begin, end):
        device, calls, retries, flushed, refused = self.account[0], 0, 0, 0, False
        for index, block, birth, _ in self.books.changes:
            if block.account == (device, "device", 0) and begin <= index < end:
                calls += birth or block.how != "resized"
                flushed += block.size if not birth and block.is_segment else 0
        for event in self.books.events[: self.books.count]:
            if event.kind != "alloc" or event.device != device or event.result is None:
                continue
            kind = self.books.account_kind[event.memory]
            if kind == "pool":
                refused = refused and event.result == 0
            elif kind == "device":
                inside = begin <= event.index < end
                calls += inside and event.result != 0
                retries += inside and refused and event.result == 0
                refused = event.result == OUT_OF_MEMORY
        return {"driver_calls": calls, "retries": retries, "flushed_bytes": flushed}

    # --- all steps ---

    def windows(self):
        """Returns [(number of the first step, number of the last step, rows)]. The first step of the run is left
        out."""
        width = 1
        while max(len(self.rows) - 2, 0) // width >= WINDOWS:
            width *= 2
        return [
            (i + 2, min(i + 1 + width, len(self.rows)), self.rows[i + 1 : i + 1 + width])
            for i in range(0, len(self.rows) - 1, width)
        ]

    def typical(self):
        first = [rows[0] for _, _, rows in self.windows()]
        return tuple(
            median([value(row) for row in first])
            for value in (
                lambda row: row["peak_bytes"],
                lambda row: row["start_bytes"],
                lambda row: row["peak_bytes"] - row["start_bytes"],
            )
        )

    def failure(self):
        """Returns the last failed allocation of the account if no step ended after it, or None."""
        failed = [event for event, owner, _ in self.books.failures if owner == self.account]
        return failed[-1] if failed and failed[-1].index >= self.ends[-1] else None

    def outlier(self):
        failure = self.failure()
        row = max(self.rows, key=lambda row: row["peak_bytes"])
        if failure:
            row = {**self.step(self.ends[-1], self.books.count), "step": self.rows[-1]["step"] + 1}
        shown = ("step", "peak_bytes", "start_bytes", "end_bytes", "allocated_bytes", "driver_calls", "retries", "flushed_bytes",
                 "begin_ns", "duration_ns")  # fmt: skip
        wanted = {key: row[key] for key in shown}
        wanted["ended"] = failure is None
        if len(self.rows) < 2:
            return {**wanted, "cause": None, "typical_peak_bytes": None}, []
        peak, start, rise = self.typical()
        new, more, ratio, larger, sites = self.sites(row)
        excess, began = row["peak_bytes"] - peak, row["start_bytes"] - start
        if failure:
            before, held = self.held(row, failure.index)
            causes = {
                "live at its start": min(row["start_bytes"], before) - start, "new call stacks": new,
                "more bytes at the same call stacks": max((larger - 1) * rise, held),
            }  # fmt: skip
            cause = max(causes, key=causes.get)
            cause = cause if causes[cause] > 0 and causes[cause] * 20 >= peak else None
        elif excess * 10 <= peak:
            cause = None
        elif row is self.rows[0]:
            index = self.figures.peak(self.account)[1]
            held = self.held(row, index)[1] if index is not None and index < self.ends[0] else 0
            explained = max((larger - 1) * rise, held)
            cause = "more bytes at the same call stacks" if explained * 2 >= excess else "first step"
        elif began * 2 >= excess:
            cause = "live at its start"
        elif not new and more < 1:
            cause = "more live at once"
        else:
            cause = "new call stacks" if new >= more else "more bytes at the same call stacks"
        return {
            **wanted, "cause": cause, "typical_peak_bytes": peak, "typical_start_bytes": start, "new_bytes": new,
            "more_bytes": whole(more), "more_ratio": as_printed(ratio) if ratio else None,
            "larger_ratio": as_printed(larger) if larger else None,
        }, sites  # fmt: skip

    def held(self, row, index):
        """Returns the bytes of earlier steps that were live at the event, and the excess of the step's own larger blocks."""
        live = self.figures.live_blocks(self.account, index)
        excess = 0
        for block in live:
            stack = self.stacks(block)
            if block.begin < row["begin"] or stack not in row["sites"]:
                continue
            others = [r for r in self.rows[1:] if stack in r["sites"]]
            typical = sum(r["sites"][stack] for r in others) / (len(self.rows) - 1)
            if 2 * len(others) < len(self.rows) - 1 or not others or row["sites"][stack] <= typical:
                continue
            ratio = row["largest"][stack] * len(others) / sum(r["largest"][stack] for r in others)
            excess += block.size * (1 - 1 / ratio) if ratio > 1 else 0
        return sum(block.size for block in live if block.begin < row["begin"]), excess

    def sites(self, row):
        """Returns five values: the bytes of call stacks that less than half of the other steps have; the bytes by which the remaining call
        stacks exceed their mean over all other steps; how many times that mean the excess is; how many times larger than in
        other steps the largest blocks are; the rows."""
        new, held, typical_sum, rows = 0, 0, 0, []
        largest_sum, typical_largest = 0, 0
        for stack, bytes_ in row["sites"].items():
            every = [r for r in self.rows[1:] if r["begin"] != row["begin"]]
            others = [r for r in every if stack in r["sites"]]
            typical = sum(r["sites"][stack] for r in others) / len(every) if others else 0
            is_new = not others or 2 * len(others) < len(every)
            if not is_new:
                largest_sum += row["largest"][stack]
                typical_largest += sum(r["largest"][stack] for r in others) / len(others)
            if bytes_ <= typical:
                continue
            new += bytes_ if is_new else 0
            held += 0 if is_new else bytes_
            typical_sum += 0 if is_new else typical
            rows.append({"bytes": bytes_, "typical_bytes": whole(typical), "stack": stack})
        ratio = held / typical_sum if typical_sum else 0
        return new, held - typical_sum, ratio, largest_sum / typical_largest if typical_largest else 0, rows

    def ages(self):
        bytes_, index = self.figures.peak(self.account)
        if index is None:
            return []
        ended = [end for end in self.ends if end <= index]
        sums = {}
        for block in self.figures.live_blocks(self.account, index):
            if not ended:
                age = AGES[0]
            elif block.begin < self.ends[0]:
                age = "the first step, and before"
            else:
                after = sum(end > block.begin for end in ended)
                age = AGES[after] if after < len(AGES) else "earlier steps"
            sums.setdefault(age, []).append(block)
        return [self.age(age, blocks) for age, blocks in sums.items()]

    def age(self, age, blocks):
        held = {}
        for block in blocks:
            stacks = self.stacks(block)
            held[stacks] = held.get(stacks, 0) + block.size
        stack = min(held, key=lambda stacks: (-held[stacks], stacks))
        row = {"age": age, "bytes": sum(held.values()), "blocks": len(blocks)}
        return {**row, "most_bytes": held[stack], "stack": stack}

    def steady(self):
        steps = len(self.rows) - 1
        if not steps:
            return {"driver_calls_per_step": None, "retries_per_step": None, "flushed_bytes_per_step": None}
        work = self.work(self.ends[0], self.ends[-1])
        first, last = (self.event_at(end).seq for end in (self.ends[0], self.ends[-1]))
        spent = [ns for seq, ns in self.books.durations.items() if first < seq <= last]
        return {
            "driver_ns_per_step": sum(spent) // steps if spent else None,
            "driver_calls_per_step": as_printed(work["driver_calls"] / steps),
            "retries_per_step": as_printed(work["retries"] / steps),
            "flushed_bytes_per_step": whole(work["flushed_bytes"] / steps),
        }

    def over_time(self):
        shown = ("peak_bytes", "start_bytes", "end_bytes", "allocated_bytes", "driver_calls", "retries",
                 "flushed_bytes", "duration_ns")  # fmt: skip
        found = [(1, 1, self.rows[:1]), *self.windows()]
        highest = [max(rows, key=lambda row: row["peak_bytes"]) for _, _, rows in found]
        return [
            {"first_step": first, "last_step": last, "highest_step": row["step"], **{key: row[key] for key in shown}}
            for (first, last, _), row in zip(found, highest)
        ]

    def page(self):
        outlier, sites = self.outlier()
        ages = self.ages()
        labels = Labels([self.frames(row["stack"]) for row in [*sites, *ages]])
        for row in sites:
            stacks = self.frames(row.pop("stack"))
            row |= {"frames": stacks[0], "site": label(labels, *stacks), "called": called(labels, *stacks)}
        for row in ages:
            row["most_site"] = label(labels, *self.frames(row.pop("stack"))) or NO_STACK
        return {
            **self.figures.layer(self.account), "step_count": len(self.rows),
            "steps_end_with": KINDS[self.kind],
            "step_phase": phases_that_repeat(self.books)[0] if self.kind == PHASE else None,
            "step_site": None if self.site is None else alone(self.books, self.site)["site"] or NO_STACK,
            "outlier": outlier, "outlier_sites": sites, "ages": ages, "steady": self.steady(),
            "steps": self.over_time(),
        }  # fmt: skip


def began_late(figures, account):
    """True if the account had no block when the first step ended. In this case the account's first rows are empty."""
    first = min((block.begin for block in figures.books.blocks if block.account == account), default=None)
    return first is None or first >= found_ends(figures)[1][0]


def steps_page(figures):
    """Returns the page of `steps`, with rows for the devices whose memory began in the first step."""
    devices = []
    for device in figures.devices:
        account, row = figures.leading(device), {"device": device}
        if found_ends(figures)[1] and not began_late(figures, account):
            row["steps"] = Steps(figures, account).page()
        devices.append(row)
    return {"devices": devices}
