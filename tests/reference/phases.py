# SPDX-License-Identifier: MIT
"""Computes the figures of one occurrence of a phase by their definition: it looks at each occurrence alone."""

EACH = (
    "peak_median_bytes", "peak_last_bytes", "peak_occurrence", "allocated_median_bytes", "allocated_highest_bytes",
    "allocated_last_bytes", "kept_median_bytes", "kept_highest_bytes", "kept_last_bytes", "median_error_ratio",
    "steps", "allocated_per_step_median_bytes", "allocated_per_step_highest_bytes", "allocated_per_step_last_bytes",
)  # fmt: skip
MOST_VALUES, BITS_AT_FIRST = 128, 16


def leading_bits(value, bits):
    more = max(value.bit_length() - bits, 0)
    return value >> more << more


def median(values):
    """Returns (lower median, the fraction by which the median may be too low). If there are more than MOST_VALUES
    different values, it keeps only as many leading bits of each as leave at most MOST_VALUES different ones."""
    middle = sorted(values)[(len(values) - 1) // 2]
    if len(set(values)) <= MOST_VALUES:
        return middle, 0.0
    for bits in range(BITS_AT_FIRST, 0, -1):
        if len({leading_bits(value, bits) for value in values}) <= MOST_VALUES:
            return leading_bits(middle, bits), 2.0 ** (1 - bits)
    raise ValueError(values)


def per_step(spans, spent, step_ends):
    """Returns (number of steps, median, error, highest, last) of the bytes that occurrences allocated per step. Steps that
    did not end, or in which no occurrence ended, are left out."""
    sums = {}
    for span in spans:
        step = sum(end < span.end for end in step_ends)
        if step < len(step_ends):
            sums[step] = sums.get(step, 0) + spent.get(span, (0, 0, 0))[0]
    if not sums:
        return None, None, 0.0, None, None
    found, error = median(sums.values())
    return len(sums), found, error, max(sums.values()), sums[max(sums)]


def each(live, spans, spent, step_ends):
    """Returns the figures of one row. live: bytes after each event; spans: the occurrences, in the order in which they
    began; spent: {span: (allocated, freed, kept)}; step_ends: the events at which steps end."""

    def peak(span):
        return max([live[span.begin - 1] if span.begin else 0, *live[span.begin : span.end]])

    ended = sorted(range(len(spans)), key=lambda number: (spans[number].end, -number))
    highest = max(peak(span) for span in spans)
    columns = {
        "peak": [peak(spans[number]) for number in ended],
        "allocated": [spent.get(spans[number], (0, 0, 0))[0] for number in ended],
        "kept": [spent.get(spans[number], (0, 0, 0))[2] for number in ended],
    }
    medians = {name: median(values) for name, values in columns.items()}
    row = {f"{name}_median_bytes": found for name, (found, _) in medians.items()}
    row |= {f"{name}_last_bytes": values[-1] for name, values in columns.items()}
    row |= {f"{name}_highest_bytes": max(columns[name]) for name in ("allocated", "kept")}
    names = [f"allocated_per_step_{which}_bytes" for which in ("median", "highest", "last")]
    row["steps"], row[names[0]], step_error, row[names[1]], row[names[2]] = per_step(spans, spent, step_ends)
    row["median_error_ratio"] = max(step_error, *(error for _, error in medians.values()))
    row["peak_occurrence"] = 1 + next(number for number in ended if peak(spans[number]) == highest) if highest else 1
    return row
