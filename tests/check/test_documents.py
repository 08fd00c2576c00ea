# SPDX-License-Identifier: MIT
"""Lists and texts agree: the schema, the settings, the commands, the manual."""
import re
import sqlite3

from support.run import BUILD, ROOT, run_command

FORMAT = ROOT / "include/gpumemtrace/TRACE-FORMAT.md"


def real_schema(trace):
    with sqlite3.connect(trace) as database:
        tables = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type='table'")
        ]
        views = [
            name
            for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type='view'")
        ]
        columns = {
            table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
            for table in tables
        }
        kinds = database.execute("SELECT kind, name FROM event_kind ORDER BY kind").fetchall()
        memories = database.execute("SELECT * FROM memory_kind ORDER BY memory").fetchall()
    return columns, views, kinds, memories


def documented_tables(text):
    tables = {}
    for name, body in re.findall(r"^### (\w+): [^\n]*\n(.*?)(?=^##|\Z)", text, re.M | re.S):
        rows = re.findall(r"^\| (\w+) \|", body, re.M)
        tables[name] = [row for row in rows if row != "column"]
    return tables


def section(text, heading):
    return re.search(rf"^## {heading}\n(.*?)(?=^## |\Z)", text, re.M | re.S).group(1)


def test_trace_format_names_every_table_column_view_and_kind_of_a_real_trace(record, program):
    text = FORMAT.read_text(encoding="utf-8")
    columns, views, kinds, memories = real_schema(record(program("phases")).trace)
    assert documented_tables(text) == columns
    assert re.findall(r"^\| (\w+) \| ", section(text, "Views"), re.M)[1:] == views
    rows = re.findall(r"^\| (\d+) \| ([\w-]+) \|", section(text, "Kinds of events"), re.M)
    assert [(int(kind), name) for kind, name in rows] == kinds
    rows = re.findall(r"^\| (\d+) \| ([\w -]+) \| (\w+) \| (\w+) \|",
                      section(text, "Kinds of memory"), re.M)
    assert [(int(memory), *rest) for memory, *rest in rows] == memories


def listed_texts(name, pattern):
    text = (ROOT / "include/gpumemtrace/schema" / name).read_text(encoding="utf-8")
    return re.findall(pattern, text, re.M)


def test_trace_format_explains_in_the_words_of_the_lists():
    rows = [
        *listed_texts("event_columns.def", r'^COLUMN\( (\w+), +\w+, +"([^"]*)", .*, +"(.*)"\)$'),
        *listed_texts("tables.def", r'^ +COLUMN\((\w+), +"([^"]*)", +"(.*)"\)$'),
        *listed_texts("event_kinds.def", r'^EVENT_KIND\( \w+, +"([^"]*)", +"(.*)"\)$'),
        *listed_texts("meta_keys.def", r'^META\((\w+), +(\w+), +"(.*)"\)$'),
        *listed_texts("holder_kinds.def", r'^HOLDER_KIND\("([^"]*)", +"(.*)"\)$'),
        *listed_texts("limits.def", r'^LIMIT\((\w+), +(\d+), +(\w+), +"(.*)"\)$'),
    ]
    assert len(rows) > 99
    text = FORMAT.read_text(encoding="utf-8")
    for row in rows:
        assert f"| {' | '.join(row)} |\n" in text, row
    for name, meaning in listed_texts("tables.def", r'^TABLE\((\w+), "([^"]*)"\)$'):
        assert f"### {name}: {meaning}\n" in text, name


def test_the_words_of_help_metrics_are_those_of_the_manual():
    printed = re.sub(r"\n {6,}", " ", run_command("help", "metrics").stdout)
    table = section((ROOT / "doc/counting.md").read_text(encoding="utf-8"), "Definitions")
    rows = re.findall(r"^\| (.+?) \| (.+) \|$", re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", table), re.M)[1:]
    assert len(rows) > 15 and re.findall(r"^  (.+)$", printed, re.M) == [f"{word} {meaning}" for word, meaning in rows]


def test_trace_format_says_which_context_has_no_handle():
    """The last release of a primary context makes an event that names only the device. The event of cudaDeviceReset
    does the same."""
    rows = dict(listed_texts("event_kinds.def", r'^EVENT_KIND\( \w+, +"([^"]*)", +"(.*)"\)$'))
    assert "0 for the device's primary context" in rows["context-destroy"]


def test_trace_format_names_every_key_of_meta(record, program):
    text = section(FORMAT.read_text(encoding="utf-8"), "Keys of meta")
    listed = (ROOT / "include/gpumemtrace/schema/meta_keys.def").read_text(encoding="utf-8")
    keys = re.findall(r"^META\((\w+),", listed, re.M)
    assert re.findall(r"^\| (\w+) \| (?:text|integer)", text, re.M) == keys
    recording = record(program("families"), RANK=3)
    stored = {key for (key,) in recording.rows("SELECT key FROM meta")}
    assert stored == set(keys) - {"dry_run_floats", "imported_format", "imported_from", "not_known"}


def test_trace_format_has_the_words_of_what_an_imported_trace_lacks():
    row = dict((key, words) for key, _, words in listed_texts("meta_keys.def", r'^META\((\w+), +(\w+), +"(.*)"\)$'))["not_known"]
    assert row.endswith(": " + ", ".join(listed_texts("not_known.def", r'^NOT_KNOWN\(\w+, +"(.*)"\)$')))


def test_trace_format_names_every_environment_variable_that_is_kept():
    text = section(FORMAT.read_text(encoding="utf-8"), "Environment variables")
    for table in ("job_variable", "allocator_setting"):
        names = listed_texts("environment.def", rf"^ENVIRONMENT\({table}, (\w+)\)$")
        assert len(names) > 10
        assert f"| {table} | {', '.join(names)} |\n" in text


def settings():
    text = (ROOT / "include/gpumemtrace/options.def").read_text(encoding="utf-8")
    rows = re.findall(r'^OPTION\(\w+,\s+\w+,((?:\s+"[^"]*",?)+)\)', text, re.M)
    return [re.findall(r'"([^"]*)"', row) for row in rows]


def test_every_setting_is_in_the_help_of_run_and_in_its_page():
    assert len(settings()) >= 6
    helped = " ".join(run_command("help", "run").stdout.split())
    page = (ROOT / "doc/settings.md").read_text(encoding="utf-8")
    for variable, flag, argument, default, *text in settings():
        assert f"--{flag}" in helped and f"{''.join(text)} ({variable}, default {default})" in helped, flag
        option = f"--{flag}={argument}".replace("|", "\\|") if argument else f"--{flag}"
        assert f"| {variable} | {option} | {default} | {''.join(text)} |" in page, variable


def test_every_command_is_in_the_readme():
    commands = re.findall(r"^COMMAND\((\w+),",
                          (ROOT / "analyzer/command/commands.def").read_text(encoding="utf-8"), re.M)
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(commands) > 10
    for command in commands:
        assert re.search(rf"\b{command}\b", readme), command


def test_the_version_is_one():
    header = (ROOT / "include/gpumemtrace/version.h").read_text(encoding="utf-8")
    version = re.search(r'GMT_VERSION "([\d.]+)"', header).group(1)
    assert run_command("--version").stdout.strip().endswith(version)
    assert f"## {version}" in (ROOT / "NEWS").read_text(encoding="utf-8")
    assert (BUILD / "gpumemtrace").exists()
