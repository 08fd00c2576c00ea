# SPDX-License-Identifier: MIT
"""What would have helped, as doc/commands.md defines it: for each question all bytes are added up anew after every
event, from the raw rows. For traces of one device and one pool, without native frames, whose phases are named."""

import fnmatch

from reference.events import Tables

PARTS = {"init": "init", "data": "data", "forward": "forward", "backward": "backward", "optimizer": "optimizer"}
FORWARD = ("data", "forward")


class Block:
    def __init__(self, index, event, part, place):
        self.begin, self.end, self.size = index, None, event.size
        self.part, self.place, self.outlived, self.round = part, place, True, None


class Run:
    """The blocks of a trace up to its failure, where what was refused is the last one."""

    def __init__(self, path):
        tables = Tables(path)
        self.blocks, self.live, self.length = [], {}, None
        phases, spans, count = [], {}, 0  # the name of each span and when it ended
        for event in tables.events:
            if event.kind == "phase-push":
                phases.append((tables.strings[event.object], count))
                count += 1
            elif event.kind == "phase-pop":
                spans[phases.pop()[1]] = event.index
            elif event.kind == "alloc" and self.length is None:
                name, span = phases[-1] if phases else (None, None)
                place = tuple(frame for frame in tables.stack_frames(event.stack) if frame[0] == "python")
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
        self.rounds = self.number_rounds()

    def number_rounds(self):
        number, back = 0, False
        for block in self.blocks:
            if block.part in FORWARD and back:
                number, back = number + 1, False
            back = back or block.part in ("backward", "optimizer")
            block.round = number
        return number

    def at(self, index):
        return [b for b in self.blocks if b.begin <= index and (b.end is None or b.end > index)]

    def round_at(self, index):
        return max((b.round for b in self.blocks if b.begin <= index), default=0)

    # --- what is known of a place ---

    def recurs(self, block):
        return len({other.round for other in self.blocks if other.place == block.place}) > 1

    def passes(self, block):
        same = [other for other in self.blocks if other.place == block.place and other is not self.blocks[-1]]
        kept = sum(other.size for other in same if other.outlived)
        return kept <= (sum(other.size for other in same) - kept) // 8

    def grows(self, block):
        if block.part in FORWARD:
            return self.recurs(block) or not self.rounds
        return block.part == "backward" and self.passes(block)

    # --- the questions: bytes that are gone at a moment ---

    def smaller_batch(self, index):
        return sum(b.size for b in self.at(index) if self.grows(b)) // 2

    def smaller_states(self, index):
        return sum(b.size for b in self.at(index) if b.part == "optimizer" and not self.passes(b)) // 4 * 3

    def fused_optimizer(self, index):
        signed = "*/torch/optim/*:_multi_tensor_*"
        return sum(b.size for b in self.at(index)
                   if any(fnmatch.fnmatchcase(f"{file}:{function}", signed) for _, function, file, _ in b.place))

    def held_over(self, index):
        now = self.round_at(index)
        return sum(b.size for b in self.at(index) if b.part in FORWARD and self.recurs(b) and b.round < now)

    def zero_grad(self, index):
        """Old gradients, but for those that this round has made anew: a temporary that ended stands for one."""
        now = self.round_at(index)
        old = [b for b in self.at(index) if b.part == "backward" and b.round < now]
        start = min(b.begin for b in self.blocks if b.round == now)
        left = {}
        for b in self.at(start):
            if b.part == "backward" and b.round < now:
                left[b.place, b.size] = left.get((b.place, b.size), 0) + 1
        made = 0
        for b in self.blocks:
            if b.part != "backward" or b.round != now or b.begin > index or not left.get((b.place, b.size)):
                continue
            left[b.place, b.size] -= 1
            made += b.size if b.end is not None and b.end <= index else 0
        return sum(b.size for b in old) - made

    def checkpoint(self, index, line=("python", "Model.forward", "/home/me/model.py", 9)):
        """Calls of that line: each begins at the place that the first one began at. One call alone is no advice."""
        now = [b.place for b in self.blocks if b.round == self.rounds and b.part == "forward" and line in b.place]
        if now.count(now[0] if now else None) < 2:
            return 0
        calls, last, is_open, part = [], None, False, None
        for b in (b for b in self.blocks if b.begin <= index):
            part = b.part if b.part != "other" and b.part != "init" else part
            if b.part == "forward" and line in b.place:
                if not is_open or (b.place == calls[0][0].place and last != b.place):
                    calls.append([])
                calls[-1].append(b)
                last, is_open = b.place, True
            elif b.part in ("forward", "optimizer"):
                last, is_open = None, False
            alive = [[c for c in call if c.end is None or c.end > b.begin] for call in calls]
            if is_open and not alive[-1]:
                is_open = False
        ends = {call[-1].place for call in calls[:-1]}
        gone, holding = 0, [call for call in calls if any(c.end is None or c.end > index for c in call)]
        for call in holding:
            live = [c for c in call if c.end is None or c.end > index]
            if call is holding[-1] and (part == "backward" or (is_open and call is calls[-1])):
                continue
            outputs = [c.size for c in call if c.place in ends]
            largest = [c for c in live if c.place in ends and c.size == max(outputs)]
            gone += sum(c.size for c in live) - sum(c.size for c in largest[:1])
        return gone

    def gains(self):
        """{remedy: gain} of what gains at least a hundredth, and the need."""
        need = max(self.live_bytes(i) for i in range(self.length))
        questions = ("smaller_batch", "smaller_states", "fused_optimizer", "held_over", "zero_grad", "checkpoint")
        gains = {q: need - max(self.live_bytes(i) - getattr(self, q)(i) for i in self.changes()) for q in questions}
        return need, {question: gain for question, gain in gains.items() if gain > need // 100}

    def live_bytes(self, index):
        return sum(b.size for b in self.at(index))

    def changes(self):
        return sorted({b.begin for b in self.blocks} | {b.end for b in self.blocks if b.end is not None})
