# SPDX-License-Identifier: MIT
"""Finds the category of a block by the phase of its birth and by its use. It looks at the whole life of every block at
once. Native frames are not read, so nothing here tells one operator from another."""

import bisect
import collections

from reference.events import FIRST, INNER, say, table_rows

RULES = list(table_rows("category_rules.def", "RULE"))
CERTAIN = ("backward", "optimizer")  # inferred phases that a range of the program around them does not hide


def word_is_in(name, word):
    """True if a word of the name begins with `word`, as in "trainForward" and "train_forward", but not in "feedforward"."""
    for at in range(len(name)):
        before, here = name[at - 1 : at], name[at]
        if name[at:].lower().startswith(word) and (
            not (before.isalnum() and before.isascii()) or (before.islower() and here.isupper())
        ):
            return True
    return False


def rule_of(span):
    """Returns the row (word, kept, passing) that the span's name matches, or None."""
    return next((rule for rule in RULES if word_is_in(span.path.name, rule[0])), None)


def rounds_of(books):
    """Returns the events at which a backward began that is inside no other."""
    backwards = [span for span in books.spans if (rule_of(span) or ("",))[0] == "backward"]
    return [
        span.begin for number, span in enumerate(backwards)
        if not any(other.end > span.begin for other in backwards[:number])
    ]  # fmt: skip


def deciding(block):
    """Returns the innermost span around the birth that a rule knows, or None."""
    span = block.span if block.span is not block.inferred else None
    while span and not rule_of(span):
        span = span.parent
    inside = span and block.inferred and block.inferred.ordinal > span.ordinal
    if not span or (inside and block.inferred.path.name in CERTAIN):
        return block.inferred
    return span


def outlived(books, block):
    """True if the block outlived the span that decides. If the phase is inferred, this also holds for a block that
    autograd's thread made and another thread freed."""
    span = deciding(block)
    if block.end is None or block.end > span.end:
        return True
    names = [books.threads.get(thread, "") for thread in (block.thread, block.ender)]
    return span.path.source == "inferred" and [name.startswith("pt_autograd") for name in names] == [True, False]


def is_of_backward(block):
    return deciding(block) is not None and (rule_of(deciding(block)) or ("",))[0] == "backward"


class Uses:
    def __init__(self, books, failures):
        self.books = books
        self.rounds = rounds_of(books)
        self.births = collections.defaultdict(list)
        for block in books.blocks:
            if block.stack:
                self.births[block.stack].append(block.begin)
        self.tells = books.meta.get("tells_autograd") == 1
        self.died = bool(failures.list) or not any(event.kind == "exit" for event in books.events)
        last = failures.list[-1] if failures.list else None
        self.fatal = last.event.index if last and not failures.went_on(last) else None
        self.gradient_sizes = {
            block.size for block in books.blocks
            if block.memory == "tensor" and is_of_backward(block) and outlived(books, block)
        }  # fmt: skip

    def rounds_in(self, block):
        return sum(block.begin < begin and (block.end is None or begin <= block.end) for begin in self.rounds)

    def result(self, block, span):
        if block.end is None or outlived(self.books, block):
            return "other"
        births = self.births[block.stack]
        later = bisect.bisect_right(births, block.begin)
        recurred = later < len(births) and births[later] < block.end
        return "other" if span.path.source == "inferred" and recurred else "temporaries"

    def forward(self, block, span):
        if not self.rounds:
            return "activations" if self.tells and self.died and block.is_of_graph else self.result(block, span)
        rounds = self.rounds_in(block)
        if block.is_of_graph or rounds == 1:
            return "activations"
        if rounds:
            return "other"
        return "activations" if block.end is None and not self.tells else self.result(block, span)

    def is_recomputed(self, block):
        """True if a checkpoint computed the block. Backward leaves no gradient there."""
        return say([(True, "*/torch/utils/checkpoint.py:*")], self.books.stack_frames(block.stack))

    def is_ended_by_failure(self, block):
        return self.fatal is not None and block.end is not None and block.begin <= self.fatal < block.end

    def category(self, block):
        span = deciding(block)
        if not span:
            return "other"
        word, kept, passing = rule_of(span)
        if word == "forward":
            return self.forward(block, span)
        category = kept if outlived(self.books, block) else passing
        if word == "backward" and block.is_of_graph and (category == passing or self.is_recomputed(block)):
            return "activations"
        if (category, kept) == ("temporaries", "parameters") and self.is_ended_by_failure(block):
            return "other"
        if category == "parameters" and block.memory == "tensor" and span.path.source == "inferred":
            framework = say(FIRST + INNER, self.books.stack_frames(block.stack))
            return category if framework or block.size in self.gradient_sizes else "other"
        return category
