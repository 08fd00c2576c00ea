# SPDX-License-Identifier: MIT
"""Computes the remedies that would have helped, as doc/commands.md defines them. For each remedy it adds up all bytes
anew after every event, from the raw rows. It works only for traces of one device and one pool, without native frames,
in which all phases are named."""

import collections
import fnmatch
import fractions
import itertools

from reference.blame import role
from reference.events import Tables, table_rows

PARTS = {"init": "init", "data": "data", "forward": "forward", "backward": "backward", "optimizer": "optimizer"}
FORWARD = ("data", "forward")
LINES_MOST = 12
SIGNS = list(table_rows("frames.def", "PYTHON"))
MIB = 1 << 20


def has_sign(block, sign):
    patterns = [pattern for name, pattern in SIGNS if name == sign]
    return any(fnmatch.fnmatchcase(f"{file}:{function}", pattern) for _, function, file, _ in block.place for pattern in patterns)


def function_called(line, place):
    """Returns the name of the function that the line calls on the way to the place; None: it calls an operator."""
    inner = [frame for frame in place[: place.index(line)] if not frame[1].endswith("_call_impl")]
    return inner[-1][1] if inner else None


def whole_size(block):
    """Returns the block's size, or whole 2 MiB if its segment is its own and the rest of it is at most 1 MiB."""
    rest = -block.size % (2 * MIB)
    return block.size + (rest if block.size >= 10 * MIB and rest <= MIB else 0)


class Block:
    def __init__(self, index, event, part, place):
        self.begin, self.end, self.size = index, None, event.size
        self.part, self.place, self.outlived, self.iteration = part, place, True, None


class Run:
    """The blocks of a trace up to its failure. The last block is the refused request."""

    def __init__(self, path):
        tables = Tables(path)
        self.blocks, self.live, self.length, self.failed = [], {}, None, None
        last = max(event.index for event in tables.events if event.kind == "alloc" and event.result)
        phases, spans, count = [], {}, 0  # phases: (name, number) of each open phase; spans: {number: event that ended the phase}
        for event in tables.events:
            if event.kind == "phase-push":
                phases.append((tables.strings[event.object], count))
                count += 1
            elif event.kind == "phase-pop":
                spans[phases.pop()[1]] = event.index
            elif event.kind == "alloc" and self.length is None:
                name, span = phases[-1] if phases else (None, None)
                place = tuple(frame for frame in tables.stack_frames(event.stack) if frame[0] == "python")
                if event.result and event.index < last:
                    self.failed = event.index, place, None
                    continue
                if self.failed and not self.failed[2]:
                    self.failed = *self.failed[:2], place
                block = Block(event.index, event, PARTS.get(name, "other"), place)
                block.span = span
                self.blocks.append(block)
                if event.result:
                    self.length = event.index + 1
                else:
                    self.live[event.address] = block
            elif event.kind == "free" and event.address in self.live:
                block = self.live.pop(event.address)
                block.outlived = block.span is not None and block.span in spans
                if self.length is None:
                    block.end = event.index
        self.iterations = self.number_iterations()
        self.of_step = self.places_of_step()
        self.is_inference = self.infers()

    def number_iterations(self):
        number, back = 0, False
        for block in self.blocks:
            if block.part in FORWARD and back:
                number, back = number + 1, False
            back = back or block.part in ("backward", "optimizer")
            block.iteration = number
        return number

    def at(self, index):
        return [b for b in self.blocks if b.begin <= index and (b.end is None or b.end > index)]

    def iteration_at(self, index):
        return max((b.iteration for b in self.blocks if b.begin <= index), default=0)

    # --- what is known of a place ---

    def recurs(self, block):
        iterations = {other.iteration for other in self.blocks if other.place == block.place}
        return len(iterations) > 1 and block.place not in self.of_step

    def places_of_step(self):
        """Returns the places of blocks that are made in an iteration whose optimizer allocates before any forward."""
        places = set()
        for number in range(1, self.iterations + 1):
            own = [b for b in self.blocks if b.iteration == number]
            parts = [b.part for b in own]
            if "optimizer" in parts and "forward" not in parts[: parts.index("optimizer")]:
                places |= {b.place for b in own[: parts.index("optimizer") + 1]}
        return places

    def ignores_batch(self):
        """True if the sizes of the failed place differ over at least three rounds, and those of modules that ran as often
        do not."""
        sizes = {}
        for b in self.blocks:
            sizes.setdefault(b.place, []).append(b.size)
        asked = sizes[self.blocks[-1].place]
        modules = [s for place, s in sizes.items() if len(s) == len(asked)
                   and any(has_sign(b, "module_call") for b in self.blocks if b.place == place)]  # fmt: skip
        return len(asked) > 2 and len(set(asked)) > 1 and bool(modules) and all(len(set(s)) == 1 for s in modules)

    def passes(self, block):
        same = [other for other in self.blocks if other.place == block.place and other is not self.blocks[-1]]
        kept = sum(other.size for other in same if other.outlived)
        return kept <= (sum(other.size for other in same) - kept) // 8

    def piles_up(self, block):
        """True if at least eight blocks of the block's place exist when memory runs out, and the place has freed
        none."""
        same = [other for other in self.blocks[:-1] if other.place == block.place]
        return block.part == "data" and len(same) >= 8 and all(other.end is None for other in same)

    def data_on_cpu(self, index):
        """Returns the bytes of all data except the largest block of each place. One block of each place is needed at a
        time. A place that recurs moved each batch only when it was used."""
        piles = {}
        for b in self.at(index):
            if self.piles_up(b) and not self.recurs(b):
                piles.setdefault(b.place, []).append(b.size)
        return sum(sum(sizes) - max(sizes) for sizes in piles.values())

    def grows(self, block):
        if self.piles_up(block):
            return False
        if block.part in FORWARD:
            return self.recurs(block) or not self.iterations
        return block.part == "backward" and self.passes(block) and not self.is_of_weight(block)

    def is_of_weight(self, block):
        """True if a live block of the model is as large as the block: gradients of parameters do not grow with the batch."""
        return any(b.part == "init" and whole_size(b) == whole_size(block) for b in self.at(block.begin))

    # --- the questions: bytes that are gone at a moment ---

    def smaller_batch(self, index):
        return sum(b.size for b in self.at(index) if self.grows(b)) // 2

    def smaller_states(self, index):
        return sum(b.size for b in self.at(index) if b.part == "optimizer" and not self.passes(b)) // 4 * 3

    def fused_optimizer(self, index):
        return sum(b.size for b in self.at(index) if has_sign(b, "foreach") and self.passes(b))

    def of_sizes(self, index, sign):
        """Returns the bytes of blocks that grow with the batch and have about the size of the largest block with the
        sign, or half or twice that size."""
        signed = [b.size for b in self.at(self.length - 1) if has_sign(b, sign)]
        if sum(signed) <= self.live_bytes(self.length - 1) // 20:
            return 0
        sizes = [max(signed), max(signed) // 2, max(signed) * 2]
        return sum(b.size for b in self.at(index)
                   if self.grows(b) and any(abs(b.size - size) <= min(size // 16, MIB) for size in sizes))  # fmt: skip

    def chunked_loss(self, index):
        return self.of_sizes(index, "loss") // 8 * 7

    def flash_attention(self, index):
        return self.of_sizes(index, "softmax")

    def load_on_cpu(self, index):
        """Returns the share of the loaded blocks' bytes that at the failure have a twin among the model's own weights, to the
        nearest 5040th."""
        now = self.at(self.length - 1)
        loaded = collections.Counter(b.size for b in now if has_sign(b, "loading"))
        own = collections.Counter(b.size for b in now if b.part == "init" and not has_sign(b, "loading"))
        alike, every = sum((loaded & own).elements()), sum(loaded.elements())
        if not alike or every - alike // 20 > 4 * alike:
            return 0
        share = fractions.Fraction(int(fractions.Fraction(alike, every) * 5040 + fractions.Fraction(1, 2)), 5040)
        return int(sum(b.size for b in self.at(index) if has_sign(b, "loading")) * share)

    def held_over(self, index):
        now = self.iteration_at(index)
        return sum(b.size for b in self.at(index) if b.part in FORWARD and self.recurs(b) and b.iteration < now)

    def zero_grad(self, index):
        """Returns the bytes of old gradients, minus the bytes that this iteration has made anew. A temporary block that
        ended counts as made anew."""
        now = self.iteration_at(index)
        old = [b for b in self.at(index) if b.part == "backward" and b.iteration < now]
        start = min(b.begin for b in self.blocks if b.iteration == now)
        left = {}
        for b in self.at(start):
            if b.part == "backward" and b.iteration < now:
                left[b.place, b.size] = left.get((b.place, b.size), 0) + 1
        made = 0
        for b in self.blocks:
            if b.part != "backward" or b.iteration != now or b.begin > index or not left.get((b.place, b.size)):
                continue
            left[b.place, b.size] -= 1
            made += b.size if b.end is not None and b.end <= index else 0
        return sum(b.size for b in old) - made

    def caught(self, index):
        """Returns the bytes still live that forward made in an earlier call that failed. That call is the outermost
        call in the failure's stack that is not in the next allocation's stack. It begins after the last block of its
        iteration that was made outside of the call."""
        if not self.failed:
            return 0
        end, failed, after = self.failed
        shared = 0
        while shared < min(len(failed), len(after)) and failed[-1 - shared] == after[-1 - shared]:
            shared += 1
        if shared == len(failed):
            return 0
        call = failed[-1 - shared :]
        begin, now = 0, 0
        for b in (b for b in self.blocks if b.begin < end):
            begin, now = b.begin if b.iteration != now else begin, b.iteration
            if b.part != "backward" and b.place[-len(call) :] != call:
                begin = b.begin + 1
        return sum(b.size for b in self.at(index) if begin <= b.begin < end and b.part in ("forward", "other")
                   and b.place[-len(call) :] == call)  # fmt: skip

    def infers(self):
        """True if there is no backward, and half of the bytes that forward holds are at places that earlier iterations
        filled and emptied."""
        if any(b.part in ("backward", "optimizer") for b in self.blocks):
            return False
        held = [b for b in self.at(self.length - 1) if b.part == "forward"]
        dropped = [b for b in held if self.fell(b.place) > 2 and self.fell(b.place) * 2 >= self.lived(b.place, self.length - 1)]
        return bool(dropped) and sum(b.size for b in dropped) >= sum(b.size for b in held) // 2

    def lived(self, place, index):
        """Returns the number of live blocks of this place, without the refused request."""
        return sum(b.place == place for b in self.at(index) if b is not self.blocks[-1])

    def fell(self, place):
        """Returns the largest number by which the count of this place's live blocks fell below an earlier count."""
        numbers = [self.lived(place, index) for index in self.changes()]
        return max((max(numbers[: i + 1]) - number for i, number in enumerate(numbers)), default=0)

    # --- calls of a line ---

    def lines(self):
        """Returns [(line, first place of its calls, place of their output)] of the candidate lines: each holds a large
        part of this forward. The line that holds most comes first; if two hold the same, the caller comes first. A line
        that also calls an optimizer is left out, because it runs a whole step."""
        now = [b for b in self.at(self.length - 1) if b.part == "forward"]
        worthy = sum(b.size for b in now) // 5 + 1
        now = [b for b in now if b.iteration == self.iterations]
        held = {}
        for b in now:
            for depth, frame in enumerate(reversed(b.place)):
                if role(frame) == "program":
                    held[frame] = (held.get(frame, (0, 0))[0] + b.size * (b.place.index(frame) == len(b.place) - 1 - depth), depth)
        lines = sorted((frame for frame in held if held[frame][0] >= worthy), key=lambda f: (-held[f][0], held[f][1]))
        steps = {frame for b in self.at(self.length - 1) if b.part == "optimizer" for frame in b.place}
        lines = [line for line in lines if line not in steps]
        found = [(line, *self.calls_of(line, [b for b in now if line in b.place])) for line in lines]
        return [row for row in found if row[1]][:LINES_MOST]

    def calls_of(self, line, blocks):
        """Returns (first place of a call, place that most often comes before it). The first place is the first one that
        recurs at least half as often as any other, of which the call that still runs may hold one more. The result is (None, None) if no place recurs, or if less than half
        of the bytes are at places that recur."""
        way = [place for place, _ in itertools.groupby(b.place for b in blocks)]
        counts = collections.Counter(way)
        again = sum(b.size for b in blocks if counts[b.place] > 1)
        first = next((place for place in way if counts[place] * 2 + (counts[place] > 1) >= max(counts.values())), None)
        if not first or counts[first] < 2 or again < sum(b.size for b in blocks) // 2:
            return None, None
        pairs = [(a, b) for a, b in zip(blocks, blocks[1:]) if b.place == first]
        # The same place again, with an equal size, is another call.
        before = collections.Counter(a.place for a, b in pairs if a.place != b.place or a.size == b.size)
        return first, max(before, key=before.get, default=first)

    def tells_calls(self, line):
        """True if the calls that the line makes can be told apart. In the calls before the last one, the first place comes
        first, no place recurs less than half as often as another, and none recurs less often than the first one if the
        line calls another function for it. No other line of its function makes batches or the model. No frame here
        belongs to a Sequential."""
        for b in (b for b in self.at(self.length - 1) if b.part in ("data", "init")):
            own = next((frame for frame in b.place if role(frame) == "program"), None)
            if own and own != line and own[1:3] == line[1:3]:
                return False
        now = [b for b in self.at(self.length - 1) if b.part == "forward" and b.iteration == self.iterations and line in b.place]
        way, first = [place for place, _ in itertools.groupby(b.place for b in now)], self.calls_of(line, now)[0]
        counts = collections.Counter(way[: len(way) - 1 - way[::-1].index(first)])
        called = {place: function_called(line, place) for place in counts}
        return next(iter(counts), None) == first and all(
            count < 2 or (count * 2 >= max(counts.values()) and (count >= counts[first] or called[place] == called[first]))
            for place, count in counts.items())  # fmt: skip

    def calls(self, index, line, first):
        calls, last, is_open = [], None, False
        for b in (b for b in self.blocks if b.begin <= index):
            is_open = is_open and any(c.end is None or c.end > b.begin for c in calls[-1])
            if b.part == "forward" and line in b.place:
                if not is_open or (b.place == first and last != b.place):
                    calls.append([])
                calls[-1].append(b)
                last, is_open = b.place, True
            elif b.part in ("forward", "optimizer"):
                last, is_open = None, False
        return calls

    def output(self, call, place, index):
        """Returns the bytes of the call's output, which the next call reads, or 0 if the output is no longer live."""
        sizes = [c.size for c in call if c.place == place]
        alive = [c.size for c in call if (c.end is None or c.end > index) and c.place == place]
        return max(sizes) if sizes and max(sizes) in alive else 0

    def live_of(self, call, index):
        return sum(c.size for c in call if c.end is None or c.end > index)

    def checkpoint(self, index, line, first, place):
        calls = self.calls(index, line, first)
        holding = [call for call in calls if self.live_of(call, index)]
        return sum(self.live_of(call, index) - self.output(call, place, index) for call in holding[:-1])

    def most_of_a_call(self, line, first):
        """Returns the most bytes that one call held at once."""
        moments = [(index, self.calls(index, line, first)) for index in self.changes()]
        return max((self.live_of(call, index) for index, calls in moments for call in calls), default=0)

    def no_grad(self, index, line, first, place):
        """Returns the bytes that would be freed if a call needed only its own tensors and the output of the call before
        it."""
        calls = self.calls(index, line, first)
        holding = [call for call in calls if self.live_of(call, index)]
        kept = sum(self.output(call, place, index) for call in holding[-2:-1])
        return sum(self.live_of(call, index) for call in holding[:-1]) - kept

    def best_line(self, need):
        """Returns the gain of the best line. If several lines gain nearly as much, the innermost line is the better
        advice."""
        best = 0
        for line in self.lines():
            if not self.is_inference and not self.tells_calls(line[0]):
                continue
            question = self.no_grad if self.is_inference else self.checkpoint
            gain = need - max(self.live_bytes(i) - question(i, *line) for i in self.changes())
            if not self.is_inference and gain <= self.most_of_a_call(*line[:2]):
                continue
            if gain > need // 50 and (not best or gain >= best - best // 50):
                best = gain
        return best

    def is_unproven(self, card_bytes):
        """True if the request is larger than half the card, and no earlier one of its place shows what its size follows."""
        asked = [b for b in self.blocks if b.place == self.blocks[-1].place]
        return len(asked) == 1 and asked[0].size > card_bytes // 2

    def gains(self, card_bytes):
        """Returns (need, {remedy: gain}) with all gains above a fiftieth of the need."""
        need = max(self.live_bytes(i) for i in range(self.length))
        questions = ("smaller_batch", "smaller_states", "fused_optimizer", "held_over", "zero_grad",
                     "chunked_loss", "flash_attention", "load_on_cpu", "data_on_cpu")  # fmt: skip
        gains = {q: need - max(self.live_bytes(i) - getattr(self, q)(i) for i in self.changes()) for q in questions}
        gains = {q: gain for q, gain in gains.items() if self.concerned_at_failure(q) > need // 50}
        gains["no_grad" if self.is_inference else "checkpoint"] = self.best_line(need)
        gains["caught"] = self.caught(self.length - 1)
        asked, live = self.blocks[-1].size, self.live_bytes(self.length - 1) - self.blocks[-1].size
        is_beyond_card = asked > card_bytes
        if is_beyond_card:
            gains = {q: gain for q, gain in gains.items() if q in ("smaller_batch", "chunked_loss", "flash_attention")}
        if self.ignores_batch() or self.is_unproven(card_bytes) or (is_beyond_card and live and asked // live >= 100):
            gains.pop("smaller_batch", None)
        if self.piles_up_over_iterations(need):
            gains = {q: gain for q, gain in gains.items() if q in ("held_over", "data_on_cpu", "no_grad", "caught")}
        return need, {question: gain for question, gain in gains.items() if gain > need // 50}

    def piles_up_over_iterations(self, need):
        """True if blocks of four earlier iterations hold more than a tenth of the need. Advice that frees none of them is
        then left out."""
        held = [b for b in self.at(self.length - 1) if b.part in FORWARD and self.recurs(b) and b.iteration < self.iterations]
        return len({b.iteration % 32 for b in held}) >= 4 and sum(b.size for b in held) > need // 10

    def concerned_at_failure(self, question):
        """Returns the bytes at the failure that the remedy is about. A remedy that only lowers an earlier peak does not
        help."""
        if question != "zero_grad":
            return getattr(self, question)(self.length - 1)
        if not any(b.part == "forward" and b.iteration == self.iterations for b in self.blocks):
            return 0  # the optimizer may still need the gradients
        now = self.iteration_at(self.length - 1)
        return sum(b.size for b in self.at(self.length - 1) if b.part == "backward" and b.iteration < now)

    def live_bytes(self, index):
        return sum(b.size for b in self.at(index))

    def changes(self):
        return sorted({b.begin for b in self.blocks} | {b.end for b in self.blocks if b.end is not None})
