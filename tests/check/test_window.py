# SPDX-License-Identifier: MIT
"""Text fits the window that shows it. Text has colour only if it is shown in a window."""
import fcntl
import os
import pty
import shutil
import struct
import subprocess
import termios
import threading
import unicodedata

import pytest

from support.made_traces import MADE
from support.run import BUILD, ROOT, clean_environment, run_command
from support.tracefile import MIB, Trace

COMMANDS = ("report", "timeline", "timeline --by=phase", "phases")
PAGES = (
    "report", "peak", "peak --by=stack", "peak --by=file", "peak --by=op", "peak --tree", "peak --moments", "timeline",
    "timeline --by=phase", "timeline --by=category", "timeline --by=layer", "timeline --axis=step", "frag", "frag --segments",
    "frag --what-if=no-cache", "phases", "leaks", "leaks --churn", "steps", "oom", "ledger", "fit", "info",
    "check --max-peak=1KiB --max-leak=1KiB", "compare model.json",
)  # fmt: skip
END = b"\0"  # no text of a command has it


@pytest.fixture
def trace(tmp_path, monkeypatch):
    trace = Trace(tmp_path / "trace.db")
    with trace.phase("a phase with a name that is rather long"):
        with trace.phase("and another one inside of it, just as long"):
            for number in range(50):
                trace.free(trace.alloc(number * MIB))
            trace.tensor(trace.alloc(20 * MIB), 7 * MIB)
    trace.write()
    monkeypatch.chdir(tmp_path)
    return "trace.db"


def columns(text):
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def in_terminal(*arguments, width=80, **variables):
    """Returns the output of the command in a terminal of this width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
    environment = clean_environment(**{"TERM": "xterm", **variables})
    for name in ("COLUMNS", "NO_COLOR"):
        if name not in variables:
            environment.pop(name, None)
    process = subprocess.Popen([BUILD / "gpumemtrace", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL, env=environment)  # fmt: skip
    # The terminal stays open until everything is read, because a reader of a closed one may miss its last lines.
    waits = threading.Thread(target=lambda: (process.wait(), os.write(theirs, END)))
    waits.start()
    printed = b""
    while not printed.endswith(END):
        printed += os.read(ours, 65536)
    waits.join()
    os.close(theirs)
    os.close(ours)
    assert process.returncode == 0
    return printed.removesuffix(END).decode().replace("\r\n", "\n")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Makes a folder with every made-up trace and a model."""
    folder = tmp_path_factory.mktemp("made")
    shutil.copy(ROOT / "samples/train.json", folder / "model.json")
    for name, (fill, meta) in MADE.items():
        trace = Trace(folder / f"{name}.db", **meta)
        fill(trace)
        trace.write()
    return folder


def too_wide(printed, width):
    return [line for line in printed.splitlines() if columns(line) > width]


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("width", [80, 60])
def test_no_line_of_any_page_is_wider_than_the_window(made, page, width):
    name, *options = page.split()
    for trace in sorted(path.name for path in made.glob("*.db")):
        printed = run_command(name, trace, *options, env=clean_environment(COLUMNS=str(width)), cwd=made).stdout
        assert too_wide(printed, width) == [], trace


@pytest.mark.parametrize("width", [80, 60])
def test_no_line_of_an_estimate_is_wider_than_the_window(width):
    for model in ("vgg16.json", "train.json", "linear-example.json"):
        printed = run_command("estimate", ROOT / "samples" / model, env=clean_environment(COLUMNS=str(width))).stdout
        assert printed and too_wide(printed, width) == []


def test_help_fits_the_window():
    environment = clean_environment(COLUMNS="80")
    overview = run_command("help", env=environment).stdout
    commands = [line.split()[0] for line in overview.split("Commands:\n")[1].split("\n\n")[0].splitlines() if line[2] != " "]
    assert too_wide(overview, 80) == [] and len(commands) > 10
    for command in commands:
        assert too_wide(run_command("help", command, env=environment).stdout, 80) == [], command


def test_a_long_command_line_is_broken_between_its_words(tmp_path):
    words = [f"--option-{number}={number}" for number in range(30)]
    trace = Trace(tmp_path / "trace.db", command="train " + " ".join(words))
    trace.alloc(1)
    printed = run_command("info", trace.write(), env=clean_environment(COLUMNS="80")).stdout
    assert all(word in printed.split() for word in words)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("width", [80, 120])
def test_no_line_is_wider_than_the_terminal(trace, command, width):
    printed = in_terminal(*command.split(), trace, width=width, NO_COLOR="1")
    lines = [line for line in printed.splitlines() if line]
    assert max(columns(line) for line in lines) <= width


def test_columns_decides_over_the_terminal_and_for_a_file(trace):
    for printed in (in_terminal("phases", trace, width=200, NO_COLOR="1", COLUMNS="75"),
                    run_command("phases", trace, env=clean_environment(COLUMNS="75")).stdout):  # fmt: skip
        lines = [line for line in printed.splitlines() if line]
        assert 60 < max(columns(line) for line in lines) <= 75
        assert "…" in printed


def test_what_goes_to_a_file_is_not_cut(trace):
    environment = clean_environment()
    environment.pop("COLUMNS", None)
    printed = run_command("phases", trace, env=environment).stdout
    assert "and another one inside of it, just as long" in printed and "At most" in printed and "…" not in printed


def test_a_narrow_window_goes_without_what_can_be_spared(trace):
    assert "At most" in in_terminal("phases", trace, width=160)
    narrow = in_terminal("phases", trace, width=80)
    assert "At most" not in narrow and "In all" in narrow and "Kept" in narrow


@pytest.mark.parametrize("width", [40, 50, 60, 80])
def test_owners_that_differ_look_different_in_any_window_and_keep_their_bytes(tmp_path, width):
    trace = Trace(tmp_path / "trace.db")
    segment = trace.alloc(20 * MIB)
    trace.tensor(segment, 7 * MIB)
    printed = run_command("ledger", trace.write(), env=clean_environment(COLUMNS=str(width))).stdout
    table = printed.split("Owner", 1)[1].split("\n\n")[0].splitlines()
    owners = [line.strip().split("  ")[0] for line in table[1:]]
    assert len(set(owners)) == len(owners) > 3
    assert "Bytes" in table[0] and any("7.00 MiB" in line for line in table) and any("13.00 MiB" in line for line in table)


def test_names_that_no_half_window_could_tell_apart_do_not_cost_the_figures(tmp_path):
    trace = Trace(tmp_path / "trace.db")
    for name in ("first", "second"):
        with trace.phase("a" * 60 + name + "b" * 60):
            trace.alloc(MIB)
    printed = run_command("phases", trace.write(), env=clean_environment(COLUMNS="60")).stdout
    (head,) = [line for line in printed.splitlines() if line.startswith("  Phase ")]
    assert "Peak" in head and "Allocates" in head


def test_the_answer_alone_is_bold_and_only_on_a_terminal(trace):
    printed = in_terminal("phases", trace, width=300)
    assert printed.startswith("\x1b[1mThe pytorch pool peaked at 7.00 MiB")
    answer, rest = printed.split("\n\n", 1)
    assert all(line.startswith("\x1b[1m") and line.endswith("\x1b[0m") for line in answer.splitlines())
    assert "\x1b" not in rest
    assert "\x1b" not in run_command("phases", trace).stdout


@pytest.mark.parametrize("variables", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_color_and_a_dumb_terminal_have_no_colour(trace, variables):
    assert "\x1b" not in in_terminal("phases", trace, **variables)


BRAILLE = "".join(map(chr, range(0x2801, 0x2900)))
BLOCKS = "█▉▊▋▌▍▎▏"


def drawn_with(printed, letters):
    return [line for line in printed.splitlines() if any(letter in line for letter in letters)]


@pytest.mark.parametrize("page", ["peak", "peak --by=line", "peak --tree", "ledger", "report"])
def test_a_terminal_with_utf_8_has_bars_where_rows_are_compared(made, monkeypatch, page):
    monkeypatch.chdir(made)
    name, *options = page.split()
    printed = in_terminal(name, "exhausted_card.db", *options, width=120, LC_ALL="C.UTF-8", NO_COLOR="1")
    assert drawn_with(printed, BLOCKS) and too_wide(printed, 120) == []


def test_a_bar_is_as_long_as_its_share(trace):
    printed = in_terminal("peak", trace, width=200, LC_ALL="C.UTF-8", NO_COLOR="1")
    assert [line.count("█") for line in printed.splitlines() if "100.0 %" in line] == [20]
    plain = in_terminal("peak", trace, width=200, LC_ALL="C", NO_COLOR="1")
    assert [line.count("#") for line in plain.splitlines() if "100.0 %" in line] == [20]


def test_timeline_draws_its_curve_with_braille_where_the_terminal_can(trace):
    printed = in_terminal("timeline", trace, width=80, LC_ALL="C.UTF-8", NO_COLOR="1")
    curve = drawn_with(printed, BRAILLE)
    assert 1 <= len(curve) <= 8 and too_wide(printed, 80) == [] and drawn_with(printed, BLOCKS)
    plain = in_terminal("timeline", trace, width=80, LC_ALL="C")
    assert not drawn_with(plain, BRAILLE + BLOCKS) and drawn_with(plain, "#")


# If no variable names a character set, Python sets LC_CTYPE to UTF-8. The last case therefore clears LC_CTYPE.
@pytest.mark.parametrize("variables", [{"LC_ALL": "C"}, {"TERM": "linux"}, {"TERM": "dumb"}, {"LC_ALL": "", "LC_CTYPE": "", "LANG": "C"}])
def test_a_terminal_that_cannot_show_them_gets_no_blocks(trace, variables):
    for command in COMMANDS:
        printed = in_terminal(*command.split(), trace, **{"LC_ALL": "C.UTF-8", "NO_COLOR": "1", **variables})
        assert not drawn_with(printed, BRAILLE + BLOCKS)


def test_a_file_has_the_bars_of_timeline_alone_and_no_curve(trace):
    environment = clean_environment(LC_ALL="C.UTF-8")
    environment.pop("COLUMNS", None)
    for command in ("peak", "report", "ledger"):
        assert not drawn_with(run_command(command, trace, env=environment).stdout, BLOCKS + BRAILLE + "#")
    printed = run_command("timeline", trace, env=environment).stdout
    assert drawn_with(printed, "#") and not drawn_with(printed, BLOCKS + BRAILLE)
