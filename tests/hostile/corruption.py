# SPDX-License-Identifier: MIT
"""Corrupts a good trace at random. Each function changes files of a folder, such as trace.db, and returns a few words about
the change, which explain a failure. The same random generator makes the same changes again.

SQLite itself refuses most damaged pages. So some functions make changes through SQL, which SQLite accepts. """
import pickle
import re
import sqlite3

KIB = 1 << 10
MIB = 1 << 20
INTEGERS = (-1, 0, 1, 2, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**40, 2**62, 2**63 - 1,
            -(2**31), -(2**63))  # fmt: skip
TEXTS = ("", "x", "0", "-1", "1e400", "NaN", "a/b", "\x1b[31mred\x1b[m", "\u202egnp.exe", "=1+1", "%s%n", "\n\n", "../../etc/passwd",
         "ÿ" * 300, "\x00in the middle", "<script>", '"quoted"')  # fmt: skip


def some_value(chance):
    return chance.choice(
        [
            lambda: None,
            lambda: chance.choice(INTEGERS),
            lambda: chance.choice(INTEGERS),
            lambda: chance.randrange(-(2**63), 2**63),
            lambda: chance.randrange(1000),
            lambda: chance.random() * 1e6,
            lambda: chance.choice(TEXTS),
            lambda: chance.choice(TEXTS).encode(),
            lambda: bytes(chance.randrange(256) for _ in range(chance.randrange(40))),
        ]
    )()


# --- through SQL ---------------------------------------------------------------------------------------


class Opened:
    """A trace that is opened for writing, without constraints on values: no NOT NULL, no CHECK, and texts that may be
    other than UTF-8."""

    def __init__(self, folder):
        self.database = sqlite3.connect(folder / "trace.db", isolation_level=None)
        self.run("PRAGMA synchronous = OFF")
        self.run("PRAGMA ignore_check_constraints = ON")
        self.run("PRAGMA writable_schema = ON")
        self.run("UPDATE sqlite_schema SET sql = replace(sql, ' NOT NULL', '') WHERE type = 'table'")
        self.run("PRAGMA writable_schema = RESET")

    def __enter__(self):
        self.run("BEGIN")
        return self

    def __exit__(self, *error):
        if self.database.in_transaction:
            self.run("COMMIT")
        self.database.close()

    def run(self, statement, *values):
        return self.database.execute(statement, values)

    def tables(self):
        return [name for (name,) in self.run("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]

    def columns(self, table):
        return [row[1] for row in self.run(f"PRAGMA table_info({table})")]

    def rows(self, table, chance, most):
        """Returns the ids of 1 to `most` random rows."""
        ids = [row for (row,) in self.run(f"SELECT rowid FROM {table} ORDER BY rowid")]
        return chance.sample(ids, min(len(ids), chance.randrange(1, most + 1)))


def some_table(opened, chance):
    """Returns the name of a random table; half of the time it is `event`, on which most figures depend."""
    return chance.choice(["event", chance.choice(opened.tables())])


def cells(folder, chance):
    """Sets a few cells to values of any type and size."""
    said = []
    with Opened(folder) as opened:
        for _ in range(chance.randrange(1, 6)):
            table = some_table(opened, chance)
            column = chance.choice(opened.columns(table))
            for row in opened.rows(table, chance, 3):
                value = some_value(chance)
                try:
                    opened.run(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", value, row)
                    said.append(f"{table}.{column} of {row} = {value!r}")
                except sqlite3.Error:  # an integer key refuses other types and duplicates
                    pass
    return "; ".join(said)


def columns(folder, chance):
    """Sets a whole column to one value, or to values of which each alone is plausible."""
    with Opened(folder) as opened:
        table = some_table(opened, chance)
        column = chance.choice(opened.columns(table))
        value = chance.choice(
            ["0", "1", "-1", "NULL", "9223372036854775807", "abs(random() % 10)", "random()", f"{column} + 1", f"-{column}",
             "rowid", "(SELECT max(rowid) FROM event) - rowid", "zeroblob(9)", "'text'"]
        )  # fmt: skip
        try:
            opened.run(f"UPDATE {table} SET {column} = {value}")
        except sqlite3.Error as error:
            return f"{table}.{column} = {value}: {error}"
    return f"{table}.{column} = {value}"


def column_at_an_end(table, column, value):
    """Returns a function that sets a whole column to `value`. Values are SQLite's lowest or highest integer, half the
    highest, and 0."""

    def at_an_end(folder, _chance):
        with Opened(folder) as opened:
            try:
                opened.run(f"UPDATE {table} SET {column} = {value}")
            except sqlite3.Error as error:
                return f"{table}.{column} = {value}: {error}"
        return f"{table}.{column} = {value}"

    return at_an_end


def columns_at_an_end(trace, value):
    """Returns a function for each integer column."""
    database = sqlite3.connect(trace)
    names = database.execute(
        """SELECT tables.name, columns.name FROM sqlite_schema AS tables, pragma_table_info(tables.name) AS columns
           WHERE tables.type = 'table' AND columns.type = 'INTEGER' ORDER BY 1, 2"""
    ).fetchall()
    database.close()
    return [column_at_an_end(table, column, value) for table, column in names]


def rows(folder, chance):
    """Deletes, duplicates or renumbers rows."""
    with Opened(folder) as opened:
        table = some_table(opened, chance)
        key, *others = opened.columns(table)
        way = chance.choice(
            [
                f"DELETE FROM {table} WHERE random() % 3 = 0",
                f"DELETE FROM {table}",
                f"DELETE FROM {table} WHERE rowid < (SELECT max(rowid) / 2 FROM {table})",
                f"INSERT OR IGNORE INTO {table} SELECT {', '.join([f'{key} + 100000', *others])} FROM {table}",
                f"UPDATE OR IGNORE {table} SET {key} = {key} * 1000",
                f"UPDATE OR REPLACE {table} SET {key} = abs(random() % 500)",
            ]
        )
        try:
            opened.run(way)
        except sqlite3.Error as error:
            return f"{way}: {error}"
    return way


def texts(folder, chance):
    """Sets texts that are long, are not UTF-8, or control a terminal."""
    with Opened(folder) as opened:
        table, column = chance.choice(
            [("string", "text"), ("thread", "name"), ("module", "path"), ("module", "build_id"), ("meta", "value"),
             ("device", "name"), ("device", "uuid"), ("hook", "name"), ("coverage", "name")]
        )  # fmt: skip
        value = chance.choice(
            ["CAST(x'fffe00ff1b5b336d80' AS TEXT)", "CAST(x'c0afeda080f4909090' AS TEXT)", "char(27) || ']0;title' || char(7)",
             f"CAST(zeroblob({chance.choice([1, 4096, MIB])}) AS TEXT)", f"hex(zeroblob({chance.choice([40, 3000, MIB])}))",
             "char(0x202e, 0xfeff, 0x200b)", "'/' || hex(zeroblob(3000))", "''", "NULL"]
        )  # fmt: skip
        where = chance.choice(["1", "rowid = 1", "rowid % 2 = 0", "typeof(value) = 'text'" if table == "meta" else "1"])
        opened.run(f"UPDATE OR IGNORE {table} SET {column} = {value} WHERE {where}")
    return f"{table}.{column} = {value} where {where}"


def stacks(folder, chance):
    """Makes stacks that are cyclic, that refer to missing frames, or that are extremely deep."""
    way = chance.choice(["itself", "circle", "nowhere", "deep", "kinds"])
    with Opened(folder) as opened:
        if way == "itself":
            opened.run("UPDATE frame SET parent_id = frame_id")
        elif way == "circle":
            opened.run("UPDATE frame SET parent_id = (SELECT max(frame_id) FROM frame) - frame_id + 1")
        elif way == "nowhere":
            opened.run("UPDATE frame SET parent_id = ?, address = ?", some_value(chance), some_value(chance))
        elif way == "kinds":
            opened.run("UPDATE frame SET kind = abs(random() % 3), address = abs(random() % 40)")
        else:
            deep = chance.choice([300, 20_000])
            opened.run("DELETE FROM frame")
            opened.run(
                "INSERT INTO frame (frame_id, parent_id, kind, address) WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL "
                f"SELECT i + 1 FROM n WHERE i < {deep}) SELECT i, nullif(i - 1, 0), 2, 1 FROM n"
            )
            opened.run(f"UPDATE event SET stack_id = {deep}")
    return f"stacks: {way}"


# --- the schema ----------------------------------------------------------------------------------------

INFINITE = "WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n) SELECT "


def schema(folder, chance):
    """Drops tables, changes columns, replaces tables by views, adds triggers and indexes, or changes version
    numbers."""
    with Opened(folder) as opened:
        table = some_table(opened, chance)
        names = opened.columns(table)
        column = chance.choice(names)
        run_for_ever = INFINITE + ", ".join(f"i AS {name}" for name in names) + " FROM n"
        ways = [
            [f"DROP TABLE {table}"],
            [f"ALTER TABLE {table} RENAME COLUMN {column} TO other"],
            [f"ALTER TABLE {table} RENAME TO other"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE VIEW {table} AS SELECT * FROM other"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE VIEW {table} AS {run_for_ever}"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE VIEW {table} AS SELECT * FROM {table}"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE TABLE {table} ({', '.join(names)}) "],
            [f"ALTER TABLE {table} RENAME TO other",
             f"CREATE TABLE {table} ({', '.join(name for name in names if name != column)}, {column} AS (abs(random())))"],
            [f"ALTER TABLE {table} RENAME TO other", f"CREATE VIRTUAL TABLE {table} USING fts4({', '.join(names)})"],
            [f"CREATE TRIGGER surprise AFTER INSERT ON {table} BEGIN DELETE FROM event; END"],
            [f"CREATE INDEX slow ON {table} ({column}, {names[0]})"],
            [f"ALTER TABLE {table} ADD COLUMN more DEFAULT 7"],
            [f"PRAGMA user_version = {chance.choice(INTEGERS) % 2**31}"],
            [f"PRAGMA application_id = {chance.choice(INTEGERS) % 2**31}"],
        ]  # fmt: skip
        way = chance.choice(ways)
        try:
            for statement in way:
                opened.run(statement)
        except sqlite3.Error as error:
            return f"{'; '.join(way)}: {error}"
    return "; ".join(way)[:500]


def schema_text(folder, chance):
    """Replaces one word in the text of a CREATE statement, and sometimes changes the number of the root page."""
    with Opened(folder) as opened:
        opened.run("PRAGMA writable_schema = ON")
        name, text = chance.choice(opened.run("SELECT name, sql FROM sqlite_schema WHERE sql > '' ORDER BY name").fetchall())
        words = re.split(r"(\W+)", text)
        place = chance.randrange(len(words))
        words[place] = chance.choice(["", "(", ",", "NULL", "INTEGER", "AS", "x", "'", "seq", words[chance.randrange(len(words))]])
        opened.run("UPDATE sqlite_schema SET sql = ? WHERE name = ?", "".join(words), name)
        if chance.random() < 0.3:
            opened.run("UPDATE sqlite_schema SET rootpage = ? WHERE name = ?", chance.choice([0, 1, 2, 9, 10**6]), name)
    return f"schema of {name}: word {place} is {words[place]!r}"


# --- bytes ---------------------------------------------------------------------------------------------


def flip(data, chance, first, last):
    for _ in range(chance.choice([1, 1, 2, 5, 30])):
        place = chance.randrange(first, last)
        if chance.random() < 0.5:
            data[place] = chance.randrange(256)
        else:
            number = chance.choice(INTEGERS) % 2**64
            width = chance.choice([1, 2, 4, 8])
            data[place : min(place + width, last)] = number.to_bytes(8, "big")[-width:][: last - place]


def change_bytes(path, chance, page, first=0):
    data = bytearray(path.read_bytes())
    pages = max(1, len(data) // page)
    at, other = chance.randrange(pages) * page, chance.randrange(pages) * page
    way = chance.choice(["flip", "flip", "flip", "head", "zero", "noise", "copy", "swap", "cut", "grow"])
    if way == "flip" and len(data) > first:
        flip(data, chance, first, len(data))
    elif way == "head" and len(data) > first:
        flip(data, chance, first, min(len(data), first + 200))
    elif way == "zero":
        data[at : at + page] = bytes(len(data[at : at + page]))
    elif way == "noise":
        data[at : at + page] = chance.randbytes(len(data[at : at + page]))
    elif way == "copy":
        data[at : at + page] = data[other : other + page]
    elif way == "swap":
        data[at : at + page], data[other : other + page] = data[other : other + page], data[at : at + page]
    elif way == "cut":
        del data[chance.randrange(len(data) + 1) :]
    elif way == "grow":
        data += chance.randbytes(chance.choice([1, 100, page]))
    path.write_bytes(data)
    return f"{path.name}: {way}"


def pages(folder, chance):
    """Changes bytes or pages of the database."""
    return change_bytes(folder / "trace.db", chance, 4096, chance.choice([0, 100, 100, 100]))


def written_ahead(folder, chance):
    """Changes bytes of the -wal or -shm file that a killed process left."""
    return change_bytes(folder / chance.choice(["trace.db-wal", "trace.db-wal", "trace.db-shm"]), chance, 4096 + 24)


SLOT = 64
RING_HEADER = 4096
SEGMENT_HEADER = 64


def ring(folder, chance):
    """Changes the ring's header, its segments, or slots that are in use."""
    path = folder / "trace.db-ring.0"
    way = chance.choice(["bytes", "header", "slot", "slot", "slot", "slots"])
    if way == "bytes":
        return change_bytes(path, chance, RING_HEADER)
    data = bytearray(path.read_bytes())
    first = RING_HEADER + SEGMENT_HEADER
    used = max(1, len(data[first : first + 256 * KIB].rstrip(b"\0")) // SLOT)
    if way == "header":
        flip(data, chance, 0, chance.choice([64, RING_HEADER + SEGMENT_HEADER]))
    elif way == "slot":
        for _ in range(chance.choice([1, 3, 20])):
            at = first + chance.randrange(used) * SLOT
            field, width = chance.choice([(0, 8), (8, 8), (16, 8), (24, 8), (32, 8), (40, 8), (48, 4), (52, 2), (54, 2),
                                          (56, 2), (58, 1), (59, 1), (60, 1), (61, 1), (62, 1), (63, 1)])  # fmt: skip
            value = chance.choice([*INTEGERS, chance.randrange(2**64)]) % 2 ** (8 * width)
            data[at + field : at + field + width] = value.to_bytes(width, "little")
    else:
        for _ in range(chance.choice([1, 5])):
            at, other = (first + chance.randrange(used) * SLOT for _ in range(2))
            data[at : at + SLOT] = data[other : other + SLOT]
    path.write_bytes(data)
    return f"ring: {way}"


def other_files(folder, chance):
    """Removes files beside the trace, or replaces them by something else."""
    name = chance.choice(["trace.db-wal", "trace.db-shm", "trace.db-ring.0", "trace.db-journal"])
    way = chance.choice(["missing", "empty", "folder", "text", "link"])
    path = folder / name
    path.unlink(missing_ok=True)
    if way == "empty":
        path.touch()
    elif way == "folder":
        path.mkdir()
    elif way == "text":
        path.write_text("this is none\n" * 1000)
    elif way == "link":
        path.symlink_to(folder / "trace.db")
    return f"{name}: {way}"


# --- files of other tools --------------------------------------------------------------------------------


def places(value, depth=8):
    """Yields (container, key) for each value in a snapshot. `depth` limits the search, because a changed snapshot may
    contain itself."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items if depth else ():
        yield value, key
        yield from places(item, depth - 1)


def pickled_values(folder, chance):
    """Changes, removes or duplicates values of a snapshot."""
    path = folder / "foreign.pickle"
    snapshot = pickle.loads(path.read_bytes())
    said = []
    for _ in range(chance.randrange(1, 6)):
        container, key = chance.choice(list(places(snapshot)))
        way = chance.choice(["value", "value", "value", "swap", "gone", "twice"])
        if way == "value":
            container[key] = some_value(chance)
        elif way == "swap":
            other, place = chance.choice(list(places(snapshot)))
            container[key], other[place] = other[place], container[key]
        elif way == "gone":
            del container[key]
        elif isinstance(container, list):
            container.append(container[key])
        said.append(f"{way} {key}")
    path.write_bytes(pickle.dumps(snapshot, protocol=chance.choice([2, 3, 4, 5])))
    return "; ".join(said)


def foreign_bytes(folder, chance):
    (path,) = folder.glob("foreign.*")
    return change_bytes(path, chance, 256)


def foreign_words(folder, chance):
    """Changes, removes or duplicates words of a text."""
    (path,) = folder.glob("foreign.*")
    words = re.split(r"(\W)", path.read_text())
    for _ in range(chance.randrange(1, 6)):
        place = chance.randrange(len(words))
        words[place] = chance.choice(["", "0", "-1", str(2**63), str(2**64), "0x", ",", ";", "\n", "\0", " ", words[chance.randrange(len(words))]])
    path.write_text("".join(words))
    return "words"


def foreign_cells(folder, chance):
    """Changes cells of a database."""
    (path,) = folder.glob("foreign.*")
    database = sqlite3.connect(path)
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]
    said = []
    for _ in range(chance.randrange(1, 6)):
        table = chance.choice(names[:3] + ["CUDA_GPU_MEMORY_USAGE_EVENTS"])
        column = chance.choice([row[1] for row in database.execute(f"PRAGMA table_info({table})")])
        row, value = chance.randrange(1, 8), some_value(chance)
        try:
            database.execute(f"UPDATE {table} SET {column} = ? WHERE rowid = ?", (value, row))
            said.append(f"{table}.{column} of {row} = {value!r}")
        except sqlite3.Error:
            pass
    database.commit()
    database.close()
    return "; ".join(said)


# (suffix of the file, function that corrupts it)
OF_FOREIGN_FILES = [("pickle", pickled_values), ("pickle", foreign_bytes), ("csv", foreign_words), ("csv", foreign_bytes),
                    ("txt", foreign_words), ("txt", foreign_bytes), ("sqlite", foreign_cells), ("sqlite", foreign_bytes)]  # fmt: skip
OF_A_TRACE = [cells, cells, cells, columns, columns, rows, texts, stacks, schema, schema_text, pages, pages]
OF_A_KILLED_TRACE = [ring, ring, ring, ring, written_ahead, other_files, pages]
