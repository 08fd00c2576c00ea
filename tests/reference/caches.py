# SPDX-License-Identifier: MIT
"""Tells a full cache and lost blocks from a leak, slowly, by analyzer/analysis/steps/turnover.h and ebb.h."""

import bisect

WARM_UP = 1


class Turnover:
    """The blocks of a site that are freed in a later step than that of their birth; turnover.h says more."""

    def __init__(self, changes, site, ends, values, counts):
        self.values, self.counts, self.held = values, counts, [0, 0]
        own = [(bisect.bisect_right(ends, index) - WARM_UP, index, block, birth)
               for index, block, birth, _ in changes if block.site == site]
        self.level, self.since, frees, births = None, None, [], set()
        for at, index, block, birth in own:
            made = max(bisect.bisect_right(ends, block.begin) - WARM_UP, at - 63)
            if birth and at > 0:
                births.add(at)
            elif at > 0 and block.how != "resized" and made < at:
                frees.append((at, block))
                if self.level is None:
                    self.level, self.since, self.at = list(self.held), index, at
            self.held[0] += block.size if birth else -block.size
            self.held[1] += 1 if birth else -1
        # Only steps that ended before the last counted end count.
        frees = [(at, block) for at, block in frees if at < len(values)]
        self.steps = len({at for at, _ in frees} & births)
        self.freed = sum(block.size for _, block in frees)
        self.early = sum(block.begin < self.since for _, block in frees) if frees else 0
        self.count = len(frees)

    def stays(self, which, values):
        level = self.level[which]
        rise = max((b - a for a, b in zip(values, values[1:])), default=0)
        later = values[self.at :]
        return max(later) <= level + min(max(rise, 0), level // 8) and min([level, *later]) >= level - level // 4

    def is_full(self):
        if self.level is None or self.at >= len(self.values) or self.steps < 3:
            return False
        if self.freed < self.level[0] // 16 or self.early * 3 < min(self.count, self.level[1]):
            return False
        return self.stays(0, self.values) or (
            self.stays(1, self.counts) and max(self.values[self.at :]) <= self.level[0] + self.level[0] // 4
        )

    def fills(self):
        """True if it filled a cache after the first third of the steps."""
        if not self.is_full() or self.values[0] > self.level[0] // 2:
            return False
        risen = [k for k in range(1, min(self.at, len(self.values))) if self.values[k] > self.values[k - 1]]
        return (risen[-1] if risen else 0) * 3 >= len(self.values)


def loses(births, frees):
    """True if blocks of a site are lost now and then; ebb.h says more. births: live blocks at each birth."""
    width = 1
    while len(births) > 8 * width:
        width *= 2
    least = [min(births[i * width : (i + 1) * width]) for i in range(len(births) // width)]
    n, first = len(least), least[0] if least else 0
    if n < 4 or frees < 8 or sum(a < b for a, b in zip(least, least[1:])) * 2 < n - 1:
        return False
    late = least[-1] - least[(n - 1) * 3 // 4]
    return least[n // 2] <= first + n // 2 * width * 3 // 4 and late > 0 and late * 8 >= least[-1] - first
