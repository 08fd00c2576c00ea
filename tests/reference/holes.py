# SPDX-License-Identifier: MIT
"""Measures holes: the parts of address ranges that no live block covers."""


class Holes:
    """The bytes of the ranges `held` that no live block covers. `total` counts all of them, `largest` the largest hole,
    `stranded` only the holes of ranges that also hold a live block."""

    def __init__(self, held, live):
        self.total = self.largest = self.stranded = 0
        for start, end in held:
            inside = sorted((max(a, start), min(b, end)) for a, b in live if a < end and b > start)
            holes, at = [], start
            for a, b in inside:
                holes.append(max(a - at, 0))
                at = max(at, b)
            holes.append(max(end - at, 0))
            self.total += sum(holes)
            self.largest = max(self.largest, *holes)
            self.stranded += sum(holes) if inside else 0


def join(stretches):
    """Returns the ranges, with adjacent ranges joined to one."""
    joined = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return joined
