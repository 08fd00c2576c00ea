# SPDX-License-Identifier: MIT
"""Stretches of memory, and what of them nothing live covers."""


class Holes:
    """What of some stretches of memory nothing live covers."""

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
    """Neighbours that touch become one."""
    joined = []
    for start, end in sorted(stretches):
        if joined and start <= joined[-1][1]:
            joined[-1][1] = max(joined[-1][1], end)
        else:
            joined.append([start, end])
    return joined
