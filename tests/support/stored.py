# SPDX-License-Identifier: MIT
"""Stored outputs of commands, in which a part that is printed twice is stored once.

A file reads like a session: "$ gpumemtrace report NAME.db" and its output, then the next command. JSON stands in it as
rows, each a line of the document behind the path of the object or the list item that it is in. Lines with nothing but a
bracket are left out.

    devices[0].sites[1] {"bytes": 512, "count": 1}      an item of a list
    devices[0].sites[2].frames[0] {"file": "a.py"}      an item of a list in an item
    devices[0] "device": 0, "name": "Card 0"            members of an object

One line stands for a part that an earlier command printed, too:

    (as in report: Phases)                              the paragraph of `report` that begins with the line "Phases"
    (as in without_events info: Facts)                  the same, in the file of another trace
    devices[0].sites as in report: devices[0].sites     the value that has this path in the JSON document of `report`

Such lines for paragraphs stand right below the paragraph before them, without an empty line.
JSON leaves out a member `trace` after `schema` if the document before has the same; the list `verdict` before `next` or
`more` if the text of the same command opens with its sentences; and a list `answer` if it has the texts of `verdict`.
`expand` puts the parts back, so that a test can compare whole outputs byte by byte.
"""
import json
import re

ROLES = {"what": "", "why": "Why: ", "who": "Who: ", "do": "Do: "}  # how text begins a sentence of each role
COLUMNS = 100
LEAST_LINES = 2  # a shorter part is repeated
OPENING = re.compile(r' *(?:"(\w+)": )?([\[{])$')
CLOSING = re.compile(r" *[\]}],?$")
MEMBER = re.compile(r'"(?:[^"\\]|\\.)*": ')
ROW = re.compile(r"(?:((?!as in )\w\S*) )?(.*)$")
AFTER_VERDICT = ('"next": ', '"more": ', "more")
VERDICT_TEXT = re.compile(r'"text": (".*")\}$')


class Shown:
    """The parts that were printed so far, by the references to them."""

    def __init__(self):
        self.parts, self.references = {}, {}
        self.trace = []  # the line of the member `trace` of the last document, in a list
        self.said = None  # the rows of the list `verdict` that the text of the current command says

    def add(self, name, key, part):
        """Adds a part of the output of that name, unless another part has the same key."""
        reference = f"{name}: {key}" if key else name
        if reference not in self.parts:
            self.parts[reference] = part
            if part.count("\n") + 1 >= LEAST_LINES:
                self.references.setdefault(part, reference)


def outputs(text):
    """Returns {command line: output} of a session."""
    _, *parts = re.split(r"(?:\A|\n)\$ gpumemtrace (.*)\n", text)
    return dict(zip(parts[::2], parts[1::2]))


def session(printed):
    return "\n".join(f"$ gpumemtrace {line}\n{output}" for line, output in printed.items())


def name_of(line):
    """Returns a command line without the files that it reads."""
    return " ".join(word for word in line.split() if not word.endswith((".db", ".json")))


# --- text: paragraphs, by their first lines ---


def first_line(paragraph):
    return paragraph.split("\n")[0].strip()


def fold_text(text, name, shown):
    folded = []
    for paragraph in text.split("\n\n"):
        reference = shown.references.get(paragraph)
        if reference and folded:
            folded[-1] += f"\n(as in {reference})"
        else:
            folded.append(f"(as in {reference})" if reference else paragraph)
        shown.add(name, first_line(paragraph), paragraph)
    return "\n\n".join(folded)


def expand_text(text, name, shown):
    paragraphs = []
    for stored in text.split("\n\n"):
        own, *references = re.split(r"^\(as in (.*)\)$\n?", stored, flags=re.M)
        for paragraph in [own.removesuffix("\n")] * bool(own) + [shown.parts[found] for found in references[::2]]:
            shown.add(name, first_line(paragraph), paragraph)
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


# --- JSON: rows, and the values that they make up, by their paths ---


def prefixes(path):
    """Returns the paths of the values that hold a row: for devices[0].name "", devices, devices[0] and devices[0].name."""
    return ["", *(path[: found.end()] for found in re.finditer(r"\w+|\[\d+\]", path))]


def rows_of(lines):
    """Returns (path, text) for each line of a document that is more than a bracket. Members of an object have its path."""
    rows, begun = [], []  # begun: [path, bracket, members so far] of each value, the innermost last
    for line in lines:
        opening = OPENING.match(line)
        if CLOSING.match(line):
            begun.pop()
            continue
        path = ""
        if begun:
            path, bracket, count = begun[-1]
            begun[-1][2] += 1
            path += f"[{count}]" if bracket == "[" else f".{opening[1]}" if opening else ""
        if opening:
            begun.append([path.lstrip("."), opening[2], 0])
        else:
            rows.append((path.lstrip("."), line.strip().removesuffix(",")))
    return rows


def lines_of(rows):
    """Returns the lines of a document; the opposite of rows_of."""
    lines, closing = [], []  # closing: (path, bracket) of each value that has begun, the innermost last
    for path, text in [*rows, (None, "")]:
        holders = [] if path is None else prefixes(path) if MEMBER.match(text) else prefixes(path)[:-1]
        while closing and closing[-1][0] not in holders:
            lines.append(" " * (len(closing) - 1) + closing.pop()[1])
        for holder, inner in zip(holders[len(closing) :], [*holders[len(closing) + 1 :], path]):
            is_list = inner[len(holder) :].startswith("[")
            key = f'"{holder.rpartition(".")[2]}": ' if re.search(r"\w$", holder) else ""
            lines.append(" " * len(closing) + key + "{["[is_list])
            closing.append((holder, "}]"[is_list]))
        lines.append(" " * len(closing) + text)
    return with_commas(lines[:-1])


def with_commas(lines):
    ends = [not OPENING.match(line) and not CLOSING.match(after) for line, after in zip(lines, lines[1:])]
    return [line + "," * end for line, end in zip(lines, [*ends, False])]


class Document:
    """Adds each value of a document to `shown` when all its rows have come."""

    def __init__(self, name, shown):
        self.name, self.shown, self.rows, self.begun = name, shown, [], {}

    def move_to(self, holders):
        """Ends the values that are not among `holders`, and returns those that begin."""
        for path in [path for path in self.begun if path not in holders]:
            self.shown.add(self.name, path, part_of(self.rows[self.begun.pop(path) :], path))
        return [path for path in holders if path not in self.begun]

    def add(self, rows):
        for path, text in rows:
            for begins in self.move_to(prefixes(path)):
                self.begun[begins] = len(self.rows)
            self.rows.append((path, text))


def part_of(rows, path):
    """Returns the rows of a value, with their paths within it."""
    return "\n".join(f"{inner[len(path) :].lstrip('.')} {text}" for inner, text in rows)


def put_back(path, part):
    """Returns the rows of the value that has this path; the opposite of part_of."""
    divided = [line.partition(" ")[::2] for line in part.split("\n")]
    return [(path + "." * bool(path and re.match(r"\w", inner)) + inner, text) for inner, text in divided]


def fold_json(text, name, shown):
    before, document = divide(text, "{")
    rows, stored, number = fold_answers(rows_of(document)), [], 0
    holders = [prefixes(path) for path, _ in rows]
    printed = Document(name, shown)
    while number < len(rows):
        path, row = rows[number]
        end = number + 1
        for value in printed.move_to(holders[number]):
            after = number + sum(value in paths for paths in holders)
            reference = shown.references.get(part_of(rows[number:after], value))
            if reference:
                path, row, end = value, f"as in {reference}", after
                break
        stored.append(f"{path} {row}".lstrip())
        printed.add(rows[number:end])
        number = end
    printed.move_to([])
    verdict = [text for path, text in rows if re.match(r"verdict\[\d+\]$", path)]
    if verdict == shown.said:
        stored = [line for line in stored if not line.startswith("verdict")]
    return "\n".join(before + fold_trace(stored, shown))


def expand_json(text, name, shown):
    before, stored = divide(text, '"', "as in ")
    printed = Document(name, shown)
    for path, row in [ROW.match(line).groups("") for line in expand_verdict(expand_trace(stored, shown), shown)]:
        printed.move_to(prefixes(path))
        is_elsewhere = row.startswith("as in ")
        printed.add(put_back(path, shown.parts[row.removeprefix("as in ")]) if is_elsewhere else [(path, row)])
    printed.move_to([])
    return "\n".join(before + lines_of(expand_answers(printed.rows)))


def divide(text, *beginnings):
    """Returns the lines before the document, which begins with one of `beginnings`, and those of the document."""
    lines = text.split("\n")
    first = next((number for number, line in enumerate(lines) if line.startswith(beginnings)), len(lines))
    return lines[:first], lines[first:]


def texts_of_verdict(path, rows):
    verdict = re.compile(re.escape(path.removesuffix("answer")) + r"verdict\[\d+\]$")
    texts = [VERDICT_TEXT.search(text)[1] for other, text in rows if verdict.match(other)]
    return [(f"{path}[{number}]", text) for number, text in enumerate(texts)]


def fold_answers(rows):
    for path in {path.removesuffix("[0]") for path, _ in rows if re.search(r"\banswer\[0\]$", path)}:
        said = [row for row in rows if path in prefixes(row[0])]
        if said == texts_of_verdict(path, rows):
            rows = [row for row in rows if row not in said]
    return rows


def expand_answers(rows):
    paths, expanded = {path for path, _ in rows}, []
    for path, text in rows:
        answer = re.sub(r"\bverdict\[0\]$", "answer", path)
        if answer != path and answer + "[0]" not in paths:
            expanded += texts_of_verdict(answer, rows)
        expanded.append((path, text))
    return expanded


def begins_with_trace(stored):
    return stored[1].startswith('"trace": ')


def fold_trace(stored, shown):
    if not stored or stored[0].startswith("as in "):
        return stored
    last, shown.trace = shown.trace, stored[1:2] if begins_with_trace(stored) else []
    assert shown.trace or not last, "expand_trace would add a trace"
    return stored[:1] + stored[2:] if last and last == shown.trace else stored


def expand_trace(stored, shown):
    if not stored or stored[0].startswith("as in "):
        return stored
    if not begins_with_trace(stored):
        return stored[:1] + shown.trace + stored[1:]
    shown.trace = stored[1:2]
    return stored


def verdict_of(text):
    """Returns the rows of a list `verdict` with the sentences that the text opens with."""
    paragraph = re.sub(r"\Aexit \d+\n", "", text).rstrip().split("\n\n")[0]
    lines, sentences = paragraph.split("\n"), []
    for before, line in zip(["", *lines], lines):
        role = next((role for role, label in ROLES.items() if label and line.startswith(label)), "what")
        if sentences and role == "what" and len(before) + 1 + len(line.split(" ")[0]) > COLUMNS:
            sentences[-1]["text"] += f" {line}"
        else:
            sentences.append({"role": role, "text": line.removeprefix(ROLES[role])})
    return [json.dumps(sentence, ensure_ascii=False) for sentence in sentences]


def expand_verdict(stored, shown):
    after = [number for number, line in enumerate(stored) if line.startswith(AFTER_VERDICT)]
    if not after or any(line.startswith("verdict") for line in stored):
        return stored
    return stored[: after[0]] + [f"verdict[{number}] {row}" for number, row in enumerate(shown.said or [])] + stored[after[0] :]


# --- sessions ---

FOLD = {"text": fold_text, "json": fold_json}
EXPAND = {"text": expand_text, "json": expand_json}


def shown_in(others, form):
    """Returns the parts of the expanded sessions {name: text}."""
    shown = Shown()
    for other, text in others.items():
        for line, output in outputs(text).items():
            FOLD[form](output.removesuffix("\n"), f"{other} {name_of(line)}", shown)
    return shown


def change(how, text, form, others, said):
    shown, printed = shown_in(others, form), {}
    shown.trace = []
    for line, output in outputs(text).items():
        shown.said = said.get(line)
        printed[line] = how[form](output.removesuffix("\n"), name_of(line), shown) + "\n"
    return session(printed)


def fold(text, form, others, said):
    """Returns a session in which one line stands for each part that was printed before, here or in the other sessions. said:
    {command line: verdict_of its text}."""
    return change(FOLD, text, form, others, said)


def expand(text, form, others, said):
    """Returns the session as it was printed."""
    return change(EXPAND, text, form, others, said)
