# SPDX-License-Identifier: MIT
"""Decides which refused calls together are one failure, which are a retry, and whether the program went on afterwards.
It applies the rules of the manual (doc/counting.md) to all events at once."""

import collections
import dataclasses

from reference.outside import Outside

OUT_OF_MEMORY = 2
ASKED_AT_ONCE = 4
WAITING_MOST = 64
OTHERS_MOST = 100


@dataclasses.dataclass(eq=False)
class Failure:
    event: object
    account: tuple
    span: object
    calls: list = dataclasses.field(default_factory=list)
    flushed: int = 0
    state: str = "waits"  # later "failure" or "gone"
    served: range = range(0)


def python_lines(books, stack):
    """Yields the addresses of the Python frames, innermost first."""
    while stack in books.frames:
        stack, kind, address = books.frames[stack]
        if kind == 1:
            yield address


def asked_for_piece(books, refused, piece):
    """Could the refused call have asked for the piece? Their Python frames are the same as far as both stacks go."""
    big_enough = refused.memory == "virtual" or refused.size >= piece.size
    both = zip(python_lines(books, refused.stack), python_lines(books, piece.stack))
    return refused.device == piece.device and big_enough and all(one == other for one, other in both)


class Failures:
    def __init__(self, books):
        self.outside = Outside()
        self.books, self.every, self.retries = books, [], []  # a retry: (first refused event, flushed bytes)
        failed = {event.index: (event, account, span) for event, account, span in books.failures}
        flushed = collections.Counter()
        for block in books.blocks:
            flushed[block.end] += block.size if block.how == "freed" and block.is_segment else 0
        for event in books.events[: books.count]:
            if event.kind == "alloc" and event.result == 0 and event.address:
                self.served(event)
            if event.index in failed:
                self.failed(*failed[event.index])
            self.outside.see(event, self.every)
            if flushed[event.index] and self.waiting(event):
                self.waiting(event)[-1].flushed += flushed[event.index]
        self.list = [one for one in self.every if one.state != "gone"]

    def waiting(self, event):
        return [one for one in self.every if one.state == "waits" and one.event.thread == event.thread]

    def set(self, ones, state):
        for one in ones:
            one.state = state

    def retry(self, ones):
        self.retries.append((ones[0].event, sum(one.flushed for one in ones)))
        self.set(ones, "gone")

    def served(self, event):
        ones, kind = self.waiting(event), self.books.account_kind[event.memory]
        if not ones or kind not in ("device", "pool"):
            return
        first = ones[0].event
        if first.result != OUT_OF_MEMORY:
            self.set(ones, "gone" if self.request(event) == self.request(first) else "failure")
        elif kind == "pool":
            fits = event.address in ones[0].served or first.memory == "virtual"
            if fits and asked_for_piece(self.books, first, event):
                self.retry(ones)
            else:
                self.set(ones, "failure")
        elif event.memory == "virtual" and first.memory == "virtual":
            pass
        elif self.request(event) != self.request(first):
            self.set(ones, "failure")
        elif any(one.flushed for one in ones):
            self.retry(ones)
        else:
            for one in ones:
                one.served = range(event.address, event.address + event.size)

    @staticmethod
    def request(event):
        return event.device, event.memory, event.size

    def failed(self, event, account, span):
        kind = self.books.account_kind[event.memory]
        ones = self.waiting(event)
        asked_again = event.kind == "alloc" and kind in ("device", "pool") and ones
        if asked_again and ones[0].event.result != OUT_OF_MEMORY:
            self.set(ones, "failure")
        elif asked_again and kind == "device" and self.request(event) != self.request(ones[0].event):
            self.set(ones, "failure")
        new = Failure(event, account, span)
        ones = self.waiting(event)
        if event.memory == "tensor":
            for one in ones:
                joins = asked_for_piece(self.books, one.event, event)
                one.state = "gone" if joins else "failure"
                new.calls += [one.event] if joins else []
                new.flushed += one.flushed if joins else 0
        waits = account[1] == "device" and (event.result == OUT_OF_MEMORY or not ones)
        if waits and len(ones) == ASKED_AT_ONCE:
            ones[0].state = "failure"
        new.calls.append(event)
        new.state = "waits" if waits else "failure"
        self.every.append(new)
        self.hurry()

    def hurry(self):
        """Turns waiting calls into failures, the oldest first, until the list has at most WAITING_MOST calls from the
        first waiting one on."""
        while True:
            places = [i for i, one in enumerate(self.every) if one.state == "waits"]
            if not places or len(self.every) - places[0] <= WAITING_MOST:
                return
            self.every[places[0]].state = "failure"

    def went_on(self, failure):
        """True if the program went on: the failed thread asked for memory again, or other threads did so OTHERS_MOST
        times. After a failure on autograd's thread, one request by another thread is enough, because autograd passes
        its exception to another thread."""
        books, others = self.books, 0
        name = books.threads.get(failure.event.thread) or ""
        failed = {event.index for event, *_ in books.failures}
        for event in books.events[failure.event.index + 1 : books.count]:
            served = event.kind == "alloc" and event.result == 0 and event.address
            if not (served and books.account_kind[event.memory] in ("device", "managed", "pool") or event.index in failed):
                continue
            others += 1
            if event.thread == failure.event.thread or name.startswith("pt_autograd") or others == OTHERS_MOST:
                return True
        return False
