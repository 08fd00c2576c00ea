# SPDX-License-Identifier: MIT
"""Finds rows that a reader cannot tell apart. Two rows of a list in a command's text must not have the same text for
the site to blame."""
import collections
import re

from support.run import load_json, run_command

COMMANDS = ("report", "peak", "peak --at=end", "peak --moments", "peak --by=stack", "leaks", "leaks --churn", "oom", "frag",
            "frag --at=end", "steps", "ledger")  # fmt: skip
NO_STACK = "(no stack was taken)"
# Rows with the same blamed line may differ in a column of PLACES; rows without a stack may also differ in one of SAYS_MORE.
SAYS_MORE = ("Phase", "Category", "What grows")
PLACES = ("Device", "Layer", "Stack")


WORDS = re.compile(r"\S+(?: \S+)*")
# Matches the start of a column of words, or a number.
FIRST = re.compile(r"  \S| +[-+]?[\d.]+(?: [KMGTPE]?i?B)?(?:  |$)")


def cells_of(header, row):
    """Returns {column: cell text}. A cell of words belongs to the column whose name starts where the cell starts. A
    number belongs to the column whose name ends where the number ends."""
    found = {}
    for name in WORDS.finditer(header):
        found.update({name[0]: cell[0] for cell in WORDS.finditer(row) if cell.start() == name.start() or cell.end() == name.end()})
    return found


def lists_of(text):
    """Returns [(heading, [(cells of a row, the line below the row)])] for each table whose rows have a line below them."""
    found = []
    for block in re.split(r"\n\n+", text):
        heading, header, *lines = [*block.splitlines(), "", ""]
        columns = len(set(WORDS.findall(header)))
        rows = [len(cells_of(header, line)) == columns > 1 and FIRST.match(line) for line in lines]
        below = [(cells_of(header, lines[n]), lines[n + 1].strip()) for n in range(len(lines) - 1)
                 if rows[n] and not rows[n + 1] and lines[n + 1].startswith("      ")]  # fmt: skip
        if below and "No." not in header.split():
            found.append((heading.strip(), below))
    return found


def alike_in(command, text):
    found = []
    for heading, rows in lists_of(text):
        counted = collections.Counter(
            (head, *(cells.get(name) for name in PLACES + (SAYS_MORE if head == NO_STACK else ()))) for cells, head in rows
        )
        found += [f"{command}, {heading}: {key}" for key, count in counted.items() if count > 1]
    return found


def alike_rows(trace, *more):
    """Returns a line for each group of rows that read alike, in all answers of the commands about a trace."""
    found = []
    for command in (*COMMANDS, *more):
        name, *options = command.split()
        found += alike_in(command, run_command(name, trace, *options).stdout)
    for device in load_json("ledger", trace)["devices"]:
        for moment in device["moments"]:
            names = collections.Counter((term["owner"], term["name"]) for term in moment["terms"])
            found += [f"ledger: {name}" for name, count in names.items() if count > 1]
    return found
