# SPDX-License-Identifier: MIT
"""What `--format=csv` and `--format=junit` must print, derived from the JSON that the same command prints."""
import json
import re


class Number(str):
    """A number as JSON spells it."""


def read(printed):
    """Returns what was printed before the JSON document (exit status, messages), and the document, which may be None."""
    before, document = re.fullmatch(r"(.*?)(^\{.*)?", printed, re.M | re.S).groups()
    return before, document and json.loads(document, parse_int=Number, parse_float=Number)


# --- CSV ---


def first_value(row):
    return next(value for value in row.values() if not isinstance(value, (dict, list)))


def rows_of(node, table, led):
    """Yields the rows of every list that is called `table`, led by the first value of each row around it."""
    for key, value in node.items():
        if isinstance(value, dict):
            yield from rows_of(value, table, led)
        for row in value if isinstance(value, list) else []:
            if key == table:
                yield [*led, *(member for member in row.values() if not isinstance(member, dict))]
            elif isinstance(row, dict):
                yield from rows_of(row, table, [*led, first_value(row)])


def csv_of(printed, table, head):
    """Returns the CSV of a document whose main table is `table`, with the line `head`."""
    before, document = read(printed)
    if document is None:
        return before
    lines = [head, *(",".join(map(cell, row)) for row in rows_of(document, table, []))]
    return before + "".join(f"{line}\r\n" for line in lines)


def cell(value):
    if isinstance(value, list):
        return '"' + inner(value).replace('"', '""') + '"'
    text = "" if value is None else str(value).lower() if isinstance(value, bool) else value
    return '"' + text.replace('"', '""') + '"' if re.search('[,"\n]', text) else text


def inner(value):
    """Returns JSON on one line, in ASCII."""
    if isinstance(value, list):
        return f"[{', '.join(map(inner, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f'"{key}": {inner(member)}' for key, member in value.items()) + "}"
    return value if isinstance(value, Number) else json.dumps(value)


# --- JUnit ---


def attribute(name, value):
    return f' {name}="' + re.sub('[&<>"\n\t]', lambda found: f"&#{ord(found[0])};", value) + '"'


def case(check):
    place = attribute("file", check["file"]) + attribute("line", check["line"]) if check["line"] else ""
    opened = f'  <testcase classname="gpumemtrace"{attribute("name", check["name"])}{place}'
    if check["passed"]:
        return f"{opened}/>\n"
    return f'{opened}>\n    <failure{attribute("message", check["message"])}/>\n  </testcase>\n'


def junit_of(printed):
    before, document = read(printed)
    if document is None:
        return before
    checks = document["checks"]
    failures = sum(not check["passed"] for check in checks)
    return (f'{before}<?xml version="1.0" encoding="UTF-8"?>\n'
            f'<testsuite name="gpumemtrace" tests="{len(checks)}" failures="{failures}">\n'
            f'{"".join(map(case, checks))}</testsuite>\n')  # fmt: skip
