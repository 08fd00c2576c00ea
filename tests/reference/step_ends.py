# SPDX-License-Identifier: MIT
"""Finds the ends of steps slowly, and the rounds after the last step. The definitions are in
analyzer/analysis/steps/step_ends.h."""

import bisect
import itertools
import re
from functools import lru_cache

from reference import rounds, uses

FEWEST_PHASES = 8
KINDS = (
    "gpumemtrace_step()", "the phase named step", "the phase named optimizer",
    "the optimizer, as the stacks show it", "the phase named backward", "backward, as the stacks show it",
    "the phase named forward", "a phase that repeats", "an allocation that repeats",
    "an allocation that repeats after the last step",
)  # fmt: skip
INFERRED_OPTIMIZER = 3
PHASE, REPEATED, AFTERWARDS = range(len(KINDS) - 3, len(KINDS))
TOGETHER = -2  # REPEATED again; its rounds are those of all accounts
BESIDE = ("managed", "host")
MAY_INFER = ("device", "managed", "pool")
MAY_LEAK = ("device", "pool", *BESIDE)


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
    for kind, span in ended_phases(books):
        ends[kind].append((span.end, span))
    micro = micro_phases(books)
    for kind, end, span, _ in end_of_last_phase(books):
        ends[kind].append((end, span))
    ends[INFERRED_OPTIMIZER] = [(end, span) for end, span in ends[INFERRED_OPTIMIZER] if not micro(span)]
    return [sorted(of_kind, key=lambda end: end[0]) for of_kind in ends]


def ended_phases(books):
    """Returns [(kind, span)] of the phases that ended and may end a step."""
    ended = [(kind_of(span.path), span) for span in books.spans if span.end < books.count]
    return [(kind, span) for kind, span in ended if kind is not None and not is_inside_its_kind(span)]


@lru_cache(maxsize=2)
def micro_phases(books):
    """Returns a function that tells whether a phase only clips the gradients of a micro batch."""
    ended = sorted((span for kind, span in ended_phases(books) if kind == INFERRED_OPTIMIZER), key=lambda span: span.end)
    clipping = [span for span in ended if 1 in span.callers]
    same = [span for span in clipping if span.callers[1] == clipping[0].callers[1]]
    with_step = sum(2 in span.callers for span in same)
    alone = len(same) - with_step
    begun, dropped = uses.rounds_of(books), drops(books)
    step_rounds = majority([count for _, _, count in dropped])

    def since_drop(span):
        before = [number for index, number, _ in dropped if index < span.begin]
        return sum(begin <= span.begin for begin in begun) - (before[-1] if before else 0)

    def only_clips(span):
        return span.callers.get(1) == same[0].callers[1] and 2 not in span.callers

    if with_step >= 2 and alone >= with_step:
        return only_clips
    if with_step < 2 <= len(dropped) and alone >= 2 * len(dropped) and step_rounds > 1:
        return lambda span: only_clips(span) and since_drop(span) < step_rounds
    return lambda span: False


def drops(books):
    """Returns (event, rounds so far, rounds since its birth) of the first gradient that was freed in each round."""
    begun, found = uses.rounds_of(books), {}
    for index, block, birth, _ in books.changes:
        if not birth and index < books.count and uses.is_of_backward(block) and uses.outlived(books, block):
            born, now = (sum(begin <= at for begin in begun) for at in (block.begin, index))
            found.setdefault(now, (index, now, now - born + 1))
    return list(found.values())


def majority(votes):
    """Returns the vote that is left if each takes back one that differs; the last one that was left, if none is."""
    left, count = 0, 0
    for vote in votes:
        left = left if count else vote
        count += 1 if vote == left else -1
    return left


def end_of_last_phase(books):
    """Returns [(kind, event before which it ended, span, is_cut)] of the inferred phase that was open at the end, or [] if
    it allocated less often than each phase of its kind before it. It ended after the program's last request for memory,
    and after as many frees since its last birth as the phase of its kind before it had, or, cut, after the last one."""
    spans = [span for span in books.spans if not is_explicit(span) and kind_of(span.path) is not None]
    if not spans or spans[-1].end < books.count:
        return []
    last = spans[-1]
    before = [births_and_frees(books, span)[-1] for span in spans[:-1]
              if span.path == last.path and not micro_phases(books)(span)]  # fmt: skip
    counted = books.count if "exit_seq" in books.meta else len(books.events)
    request, free = (
        max((event.index for event in books.events[:counted]
             if event.kind == kind and books.account_kind[event.memory] in MAY_INFER), default=0)
        for kind in ("alloc", "free")
    )  # fmt: skip
    for index, births, frees in births_and_frees(books, last) if before else []:
        is_cut = frees < before[-1][2]
        if index >= request and births >= min(of[1] for of in before) and (not is_cut or index >= free):
            return [(kind_of(last.path), index + 1, last, is_cut)]
    return []


def births_and_frees(books, span):
    """Returns [(event, births so far, frees since the last birth)] of the allocations and frees in an inferred phase."""
    births = frees = 0
    found = [(span.begin, 0, 0)]
    for index, block, birth, _ in books.changes:
        if span.begin <= index < span.end and block.account[1] in MAY_INFER:
            births, frees = births + birth, 0 if birth else frees + 1
            found.append((index, births, frees))
    return found


def kind_that_began(books):
    """Returns the strongest kind with a phase that began, or None. If no phase of these kinds ended a step, the whole
    run is a part of one step."""
    return min((kind for span in books.spans if (kind := kind_of(span.path)) is not None), default=None)


def is_same(span, other):
    rank = 2 if 2 in span.callers and 2 in other.callers else 1
    return span.path == other.path and span.callers.get(rank) == other.callers.get(rank)


def closes_of_cycles(ends):
    """Returns the ends of one kind that close a cycle of alternating phases, by the rules of phase_cycle.h."""
    firsts = []  # by end: the first phase that is the same
    for _, span in ends:
        firsts.append(next((one for one in firsts if is_same(one, span)), span))
    loops = [(span, len(list(loop))) for span, loop in itertools.groupby(firsts)]
    if 1 < len(loops) == len({span for span, _ in loops}) <= 16 and loops[-1][1] >= 3:
        return [end for end, _ in ends]
    closes, seen, closing, others, most, count, follows, same_count = [], {}, None, 0, 0, 0, False, 0
    for number, ((end, _), who) in enumerate(zip(ends, firsts)):
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
    if kind == INFERRED_OPTIMIZER and gives_way(*([end for end, _ in by_kind[of]] for of in (3, 5))):
        kind, ends = next((of, by_kind[of]) for of in (4, 5) if by_kind[of])
    return kind, [end for end, _ in ends] if kind < 2 else closes_of_cycles(ends)


@lru_cache(maxsize=2)
def rests_of(books):
    """Returns the bytes that the pool did not cut off from tensors, by the event of their birth; rests.h says more."""
    born, rests, asked = {block.begin: block for block in books.blocks if block.memory == "tensor"}, {}, (0, 0)
    for event in books.events:
        if event.kind == "pool-asked":
            asked = event.address, event.size
        elif (block := born.get(event.index)) and block.address == asked[0]:
            rests[block.begin] = max(0, block.size - asked[1]) // 512 * 512 if asked[1] else 0
            asked = 0, 0
    return rests


def rounds_of(figures, account, since=0):
    """Returns the rounds of an account, from the blocks that were made from an event on."""
    rests = rests_of(figures.books)
    changes = [(index, block.site, block.size - rests.get(block.begin, 0), birth) for index, block, birth, _ in figures.books.changes
               if block.account == account and block.begin >= since]  # fmt: skip
    frames = {site: figures.books.site_frames(site)[0] for _, site, _, _ in changes}
    return rounds.Rounds(changes, frames, account[1] == "pool")


def backwards_of(books):
    """Returns the number of the backward in which the block of an event was made."""
    begun = uses.rounds_of(books)
    return {block.begin: bisect.bisect_right(begun, block.begin) for block in books.blocks if uses.is_of_backward(block)}


def rounds_together(figures, begin=0):
    """Returns the rounds of all accounts of a program without pools, from its first managed or pinned block on."""
    changes = [(index, block, birth) for index, block, birth, _ in figures.books.changes if block.account[1] in MAY_LEAK]
    has_pool = any(block.account[1] == "pool" for _, block, _ in changes)
    changes = [change for change in changes if change[1].begin >= begin]
    first = next((index for index, block, birth in changes if birth and block.account[1] in BESIDE), None)
    if first is None or has_pool:
        return None, [], None, None
    frames = {block.site: figures.books.site_frames(block.site)[0] for _, block, _ in changes}
    every = [(index, block.site, block.size, birth) for index, block, birth in changes]
    since = [(index, block.site, block.size, birth) for index, block, birth in changes if block.begin >= first]
    found = rounds.Rounds(since, frames, False)
    found.changes, found.is_last_whole = every, False
    found.paths = {block.site: ("before",) for _, block, _ in changes} | found.paths
    return (None, [], None, None) if found.site is None else (TOGETHER, found.ends(backwards_of(figures.books))[0], found.site, None)


@lru_cache(maxsize=2)
def found_ends(figures):
    """Returns (kind, ends, site, last). Without ends of step_ends(), the ends are those of the phase that repeats, or
    those of the rounds that a site begins, on the leading account with the highest peak, or else in all accounts
    together. If the last step ends after an event instead of before one, that end is the number of the next event, and
    `last` is this number."""
    kind, ends = step_ends(figures.books)
    if ends or kind_that_began(figures.books) is not None:
        after = [end for of, end, *_ in end_of_last_phase(figures.books) if of == kind and end == ends[-1]]
        return kind, ends, None, after[0] if after else None
    leading = [(figures.peak(account)[0], account) for account in map(figures.leading, figures.devices)]
    beside = [(figures.peak(account)[0], account) for account in list(figures.books.counts) if account[1] in BESIDE]
    if any(peak for peak, _ in leading + beside) and (found := phases_that_repeat(figures.books)):
        return PHASE, found[1], None, None
    return ends_of_rounds(figures, leading)


def is_cut(figures):
    """True if what only the next step would have freed is live at the last end of a step."""
    kind, ends, *_ = found_ends(figures)
    return any(cut and (of, end) == (kind, ends[-1]) for of, end, _, cut in end_of_last_phase(figures.books) if ends)


def ends_of_rounds(figures, leading, since=0):
    """Returns the result of found_ends() for rounds, from the blocks that were made from an event on."""
    found = [(peak, rounds_of(figures, account, since)) for peak, account in leading if peak]
    found = [(peak, of) for peak, of in found if of.site is not None]
    if not found:
        return rounds_together(figures, since)
    chosen = max(found, key=lambda pair: pair[0])[1]
    ends, after = chosen.ends(backwards_of(figures.books))
    return REPEATED, ends + ([] if after is None else [after + 1]), chosen.site, None if after is None else after + 1


@lru_cache(maxsize=2)
def ends_afterwards(figures):
    """Returns (event with which the last step ended, kind, ends, site) of the rounds after the last step, if a leading
    account held more at its last birth than at the end of that step, by a tenth of the most that it ever held; else
    None."""
    _, ends, _, last = found_ends(figures)
    leading = [(figures.peak(account)[0], account) for account in map(figures.leading, figures.devices)]
    if not ends or not any(grows_after(figures, account, ends[-1]) for _, account in leading):
        return None
    since = ends[-1] - (ends[-1] == last)
    kind, ends, site, _ = ends_of_rounds(figures, leading, since)
    return (since, kind, ends, site) if ends else None


def grows_after(figures, account, end):
    live = most = at_birth = at_end = 0
    for index, block, birth, _ in figures.books.changes:
        if block.account != account:
            continue
        live += block.size if birth else -block.size
        most = max(most, live)
        if index < end:
            at_birth, at_end = 0, live
        elif birth:
            at_birth = live
    return at_birth > at_end + most // 10
