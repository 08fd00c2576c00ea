# SPDX-License-Identifier: MIT
"""`live` shows the same figures about a running program as `report`, and does not disturb the program."""
import os
import re
import pathlib
import shutil
import signal
import subprocess
import threading

import pytest

from live.terminals import Pty, Tmux, children_of, guard_of, live_in
from live.watched import Lines, Watched
from support.run import BUILD, LIBRARY, TIMEOUT_S, load_json, run_command, simulator_environment, wait_for
from support.tracefile import MIB, Trace

needs_tmux = pytest.mark.skipif(not shutil.which("tmux"), reason="tmux is not installed")


@pytest.fixture
def opened():
    """opened(thing) returns the thing and closes it when the test ends."""
    things = []
    yield lambda thing: things.append(thing) or thing
    for thing in reversed(things):
        thing.close()


@pytest.fixture
def watched(tmp_path, opened):
    program = opened(Watched(tmp_path))
    program.do("malloc 512", "push train", "take 0 12", "take 1 4")
    return program


def events(trace):
    return load_json("report", trace)["trace"]["events"]


def test_lines_in_a_pipe_follow_the_program_to_its_end(watched, opened):
    lines = opened(Lines(watched.pid))
    line = lines.until(r"live 16\.00 MiB")
    assert line.startswith("running ") and "device 0, pool pool:" in line and "peak 16.00 MiB at " in line
    assert ", in train, 5 events" in line
    watched.do("give 0", "take 2 16")
    assert "peak 20.00 MiB" in lines.until(r"live 20\.00 MiB")
    watched.do("give 2", "pop")
    assert "peak 20.00 MiB" in lines.until(r"live 4\.00 MiB")
    watched.end()
    last = lines.end()
    assert last.startswith("ended after ") and "live 4.00 MiB, peak 20.00 MiB" in last
    assert f" {events(watched.trace)} events, " in last and ", 0 lost" in last


def test_a_watched_trace_stands_alone_after_the_end(watched, opened):
    lines = opened(Lines(watched.trace))
    lines.until("live 16.00 MiB")
    watched.end()
    lines.end()
    assert [path.name for path in watched.trace.parent.glob("trace*")] == ["trace.db"]
    assert load_json("info", watched.trace)["trace"]["complete"]


def test_a_killed_program_is_shown_to_its_last_event(watched, opened):
    lines = opened(Lines(watched.pid))
    lines.until("live 16.00 MiB")
    watched.do("take 3 8")
    watched.kill()
    assert "stopped without an end after " in (last := lines.end()) and "live 24.00 MiB, peak 24.00 MiB" in last
    pools = load_json("report", watched.trace)["devices"][0]["pools"]
    assert pools[0]["peak_live_bytes"] == 24 << 20


def test_of_a_trace_that_ended_a_pipe_gets_one_line(watched, opened):
    watched.end()
    lines = opened(Lines(watched.trace))
    last = lines.end()
    assert len(lines.seen) == 0 and last.startswith("ended after ") and "live 16.00 MiB, peak 16.00 MiB" in last
    assert f" {events(watched.trace)} events, 0 a second, 0 lost" in last


def test_a_killed_view_leaves_the_program_and_its_trace_alone(watched, opened):
    lines = opened(Lines(watched.pid))
    lines.until("live 16.00 MiB")
    lines.process.kill()
    watched.do("take 3 8")
    watched.end()
    assert [path.name for path in watched.trace.parent.glob("trace*")] == ["trace.db"]
    assert load_json("info", watched.trace)["trace"]["complete"]
    assert load_json("report", watched.trace)["devices"][0]["pools"][0]["peak_live_bytes"] == 24 << 20


def test_without_an_operand_it_takes_the_trace_that_is_being_written_here(watched, opened):
    assert "live 16.00 MiB" in opened(Lines(cwd=watched.trace.parent)).until("live")


def test_what_a_launcher_started_is_found_by_the_launcher(watched, tmp_path, opened):
    shell = subprocess.Popen(
        ["sh", "-c", f"{BUILD}/tests/on_demand; :"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=simulator_environment("1GiB", LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=tmp_path / "other.db"),
    )  # fmt: skip
    with shell:
        shell.stdin.write("malloc 7\n")
        shell.stdin.flush()
        assert shell.stdout.readline() == "done\n"
        assert "live 7.00 MiB" in opened(Lines(shell.pid)).until("live")


@pytest.mark.parametrize("operand, words", [
    ("4194304", "there is no process 4194304"), ("gone.db", "gone.db"), (None, "no trace is being written"),
])  # fmt: skip
def test_one_line_says_what_cannot_be_watched(tmp_path, operand, words):
    completed = run_command("live", *([operand] if operand else []), cwd=tmp_path)
    assert completed.returncode == 2 and completed.stdout == ""
    assert words in completed.stderr and completed.stderr.count("\n") == 1


def test_a_process_that_is_not_recorded_is_named(tmp_path):
    with subprocess.Popen(["sleep", str(TIMEOUT_S)]) as process:
        completed = run_command("live", process.pid, cwd=tmp_path)
        process.kill()
    assert completed.returncode == 2 and f"process {process.pid} is not recorded" in completed.stderr


def test_figures_are_those_of_report_where_there_are_more_events_than_it_can_follow(tmp_path, opened):
    trace = tmp_path / "trace.db"
    program = subprocess.Popen([BUILD / "tests/pool_events", "3000000"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               env=simulator_environment("1GiB", LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=trace))  # fmt: skip
    try:
        wait_for(trace.exists, bool, "the trace")
        last = opened(Lines(trace)).end()
    finally:
        program.wait(TIMEOUT_S)
    pool = load_json("report", trace)["devices"][0]["pools"][0]
    said = load_json("timeline", trace)
    assert f" {events(trace)} events, " in last and "ended after" in last
    assert f"peak {pool['peak_live_bytes'] / 2**20:.2f} MiB" in last
    assert f"live {pool['live_at_exit_bytes'] / 2**20:.2f} MiB" in last, said


# --- a trace that its recorder is just making ---


def tables_alone(path):
    """Writes a trace whose tables have no rows, so it has no events and no end."""
    Trace(path, complete=0).write()


def first_page(path):
    tables_alone(path)
    os.truncate(path, 4096)


def write_finished(path):
    """Writes a finished trace and then renames it to `path`, so that no reader sees an unfinished file."""
    trace = Trace(path.with_suffix(".new"))
    trace.alloc(3 * MIB)
    trace.exit()
    trace.write()
    trace.path.rename(path)


@pytest.fixture
def young(tmp_path):
    """Returns a path. A thread keeps the file's modification time recent, so that `live` takes it for a new trace."""
    path, over = tmp_path / "early.db", threading.Event()

    def touch():
        while not over.wait(0.1):
            if path.exists():
                os.utime(path)

    thread = threading.Thread(target=touch)
    thread.start()
    yield path
    over.set()
    thread.join()


@pytest.mark.parametrize("begin", [pathlib.Path.touch, first_page, tables_alone])
def test_a_trace_that_is_just_being_made_is_waited_for(young, opened, begin):
    path = young
    begin(path)
    lines = opened(Lines(path))
    assert lines.until("") == "waiting for the recorder: no GPU memory was allocated yet\n"
    write_finished(path)
    assert lines.end().startswith("ended after 2.00 us: device 0, driver: live 3.00 MiB, peak 3.00 MiB")


@pytest.mark.parametrize("begin, words", [(pathlib.Path.touch, "early.db is empty, not a trace"), (first_page, "early.db is truncated")])
def test_what_was_left_half_made_is_not_waited_for(tmp_path, begin, words):
    path = tmp_path / "early.db"
    begin(path)
    os.utime(path, (0, 0))
    completed = run_command("live", path)
    assert completed.returncode == 2 and words in completed.stderr and completed.stdout == ""


def test_a_recorder_that_was_killed_before_its_first_event_is_not_waited_for(tmp_path, opened):
    path = tmp_path / "early.db"
    tables_alone(path)
    os.utime(path, (0, 0))
    assert opened(Lines(path)).end().startswith("stopped without an end after 0 ns")


# --- on a screen ---


@pytest.fixture
def screen(tmp_path, opened):
    return opened(Tmux(tmp_path))


@needs_tmux
def test_a_screen_shows_the_card_the_graph_and_the_sites(watched, screen):
    screen.live(watched.pid)
    text = screen.until("live 16.00 MiB", "100.0 %")
    lines = text.splitlines()
    assert len(lines) == 24 and all(len(line) <= 80 for line in lines)
    assert "trace.db" in lines[0] and "running" in lines[0]
    assert "device 0" in lines[1] and "in train" in lines[1] and "pool pool" in lines[1]
    assert "peak 16.00 MiB" in lines[2] and "of 1.00 GiB" in lines[2]
    assert lines[3].startswith("[█") and "|" in lines[3] and lines[3].endswith("]")
    assert "▓ cached 496.00 MiB" in lines[4]
    assert "⣿" in text and "a train" in text
    assert any("16.00 MiB  100.0 %" in line and "on_demand.c" in line for line in lines)
    assert "0 lost" in lines[-2] and lines[-1].startswith("q quit")


@needs_tmux
def test_the_parts_of_the_bar_are_the_ledgers(watched, screen):
    screen.live(watched.pid)
    text = screen.until("cached", "free")
    watched.end()
    ledger = load_json("ledger", "--at=end", watched.trace)["devices"][0]["moments"][0]
    terms = {term["owner"]: term["bytes"] for term in ledger["terms"]}
    assert f"cached {terms['pool_cached'] / 2**20:.2f} MiB" in text
    assert f"context {terms['context'] / 2**20:.2f} MiB" in text
    assert f"free {(2**30 - ledger['used_bytes']) / 2**20:.2f} MiB" in text


@needs_tmux
def test_sites_that_grow_say_by_how_much_with_each_step(watched, screen):
    screen.live(watched.pid)
    for step in range(2, 12):
        watched.do(f"take {step} 3", f"step {step}")
    text = screen.until("+3.00 MiB", "10 steps")
    watched.end()
    growing = load_json("leaks", watched.trace)["devices"][0]["leaks"]["growing"][0]
    assert "A step" in text and growing["bytes_per_step"] == 3 << 20


def is_whole(lines, columns, rows):
    """Returns True if the lines are a completely drawn screen of this size."""
    return (len(lines) == rows and all(len(line) <= columns for line in lines) and lines[2].startswith("live 16.00 MiB")
            and "0 lost" in lines[-2] and lines[-1].startswith("q quit") and len(lines[3]) == columns)  # fmt: skip


@needs_tmux
def test_a_screen_waits_for_a_trace_that_is_just_being_made(young, screen):
    path = young
    path.touch()
    screen.live(path)
    screen.until("waiting for the recorder", "q quit")
    write_finished(path)
    screen.until("ended after", "live 3.00 MiB")


@needs_tmux
def test_it_fits_any_size_and_follows_a_change(watched, screen):
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    for columns, rows in ((120, 40), (60, 15), (40, 8), (200, 50), (80, 24)):
        screen.resize(columns, rows)
        wait_for(screen.text, lambda text: is_whole(text.splitlines(), columns, rows), (columns, rows))


@needs_tmux
def test_keys_change_what_is_shown(watched, screen):
    screen.live(watched.pid)
    screen.until("pool pool", "s sort: bytes", "w all")
    screen.type("s")
    screen.until("s sort: growth")
    screen.type("s")
    screen.until("s sort: blocks")
    screen.type("w")
    screen.until("w recent", "  all ")
    screen.type("l")
    screen.until("device 0 ", ", driver", "live 512.00 MiB")
    screen.type("l")
    screen.until("pool pool", "live 16.00 MiB")
    screen.type("?")
    screen.until("write an HTML report of now")
    screen.type("?")
    screen.until("live 16.00 MiB")


@needs_tmux
def test_the_next_device_is_a_key_away(tmp_path, screen):
    trace = Trace(tmp_path / "two.db")
    for device in (0, 1):
        trace.device(device, name=f"Card {device}", total_bytes=1024 * MIB)
        trace.alloc((5 + device) * MIB, device=device, stack=trace.stack(("two.py", 10 + device, "fill")))
    trace.exit()
    screen.live(trace.write())
    screen.until("device 0 Card 0, driver", "live 5.00 MiB", "two.py:10 fill")
    screen.type("d")
    screen.until("device 1 Card 1, driver", "live 6.00 MiB", "two.py:11 fill")
    screen.type("d")
    screen.until("device 0 Card 0")


@needs_tmux
def test_a_pause_holds_the_picture_and_not_the_program(watched, screen):
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    screen.type("p")
    screen.until("paused at", "p go on")
    watched.do("take 5 9")
    wait_for(lambda: load_json("report", watched.trace)["devices"][0]["pools"][0]["peak_live_bytes"],
             lambda peak: peak == 25 << 20, "the piece")  # fmt: skip
    assert "live 16.00 MiB" in screen.text()
    screen.type("p")
    screen.until("live 25.00 MiB", "running")


@needs_tmux
def test_a_report_of_now_is_written_beside_the_trace(watched, screen):
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    screen.type("r")
    screen.until("wrote")
    (report,) = watched.trace.parent.glob("trace.db.*.html")
    assert "<html" in report.read_text(encoding="utf-8")[:1000]


@needs_tmux
def test_without_utf_8_it_is_plain_ascii(watched, tmp_path, opened):
    screen = opened(Tmux(tmp_path, locale="C"))
    screen.live(watched.pid)
    text = screen.until("live 16.00 MiB", "100.0 %")
    assert text.isascii() and "[#" in text and "= cached" in text


@needs_tmux
def test_what_the_terminal_showed_is_there_again_after_it(watched, screen):
    screen.enter("echo kept")
    screen.until("kept")
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    screen.type("q")
    text = wait_for(screen.text, lambda text: text.rstrip().endswith("ready$"), "the shell")
    assert "kept" in text and "q quit" not in text


@needs_tmux
def test_a_trace_that_ended_shows_its_last_state_and_says_so(watched, screen):
    watched.end()
    screen.live(watched.trace)
    screen.until("ended after", "live 16.00 MiB", "0 a second")


@pytest.mark.parametrize("term", ["dumb", "no-such-terminal"])
def test_a_terminal_that_cannot_place_its_cursor_gets_lines(watched, opened, term):
    terminal = opened(Pty(watched.pid, term=term))
    terminal.until("live 16.00 MiB", ", 0 lost\r\n")
    watched.end()
    status, _ = terminal.end()
    assert status == 0 and b"\x1b" not in terminal.shown and b"ended after" in terminal.shown.splitlines()[-1]
    assert terminal.process.stderr.read() == b""


ENDS = ["q", signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGKILL, signal.SIGSEGV, "program killed"]


@pytest.mark.parametrize("end", ENDS)
def test_the_terminal_is_left_as_it_was(watched, opened, end):
    terminal = opened(Pty(watched.pid))
    terminal.until("MiB", "q quit")  # waits for no figure, because `live` writes only the digits that change
    guard = guard_of(terminal)
    if end == "program killed":
        watched.kill()
        terminal.until("stopped without an end")
        end = "q"
    if end == "q":
        terminal.type("q")
    else:
        terminal.process.send_signal(end)
    status, settings = terminal.end(after=[guard])
    assert status == (0 if end == "q" else -end)
    assert settings == terminal.before
    assert terminal.shown.endswith(b"\x1b[?1l\x1b>") or b"\x1b[?1049l" in terminal.shown
    assert terminal.process.stderr.read() == b""


def test_keys_that_end_a_program_do_not_reach_the_guard(watched, opened):
    terminal = opened(Pty(watched.pid))
    terminal.until("MiB", "q quit")
    guard = guard_of(terminal)
    assert os.getsid(guard) == guard != os.getsid(terminal.process.pid)
    terminal.type("\x03")
    assert terminal.end(after=[guard]) == (-signal.SIGINT, terminal.before)


def test_a_view_whose_guard_was_killed_goes_on_and_puts_the_terminal_back_itself(watched, opened):
    terminal = opened(Pty(watched.pid))
    terminal.until("MiB", "q quit")
    os.kill(guard_of(terminal), signal.SIGKILL)
    terminal.type("?")
    terminal.until("write an HTML report of now")
    terminal.type("q")
    assert terminal.end() == (0, terminal.before)


@needs_tmux
def test_a_shell_has_its_terminal_again_after_a_kill(watched, screen):
    screen.enter("echo kept")
    screen.until("kept")
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    os.kill(live_in(screen), signal.SIGKILL)
    screen.until("kept", "gpumemtrace live was killed")
    screen.enter("")  # prints a new prompt; a fast shell may have printed the first one on the screen of `live`
    screen.until("killed; the terminal is as it was\n", "\nready$")
    screen.enter("echo a$((40 + 2))b")
    text = screen.until("a42b", "echo a$((40 + 2))b")  # the terminal echoes input, and a line feed starts a new line
    # The terminal may echo the command before the shell has written its prompt, which then stands before the output.
    assert "q quit" not in text and re.search(r"^(ready\$ )*a42b$", text, re.MULTILINE), text


@needs_tmux
def test_a_view_that_is_stopped_gives_the_terminal_back_and_goes_on_later(watched, screen):
    screen.enter("echo kept")
    screen.live(watched.pid)
    screen.until("live 16.00 MiB")
    process = live_in(screen)
    screen.key("C-z")
    assert "q quit" not in screen.until("kept", "Stopped") and children_of(process) == []
    screen.enter("echo a$((40 + 2))b")
    screen.until("a42b", "echo a$((40 + 2))b")
    screen.enter("fg")
    screen.until("live 16.00 MiB", "q quit")
    assert len(children_of(process)) == 1
    screen.type("q")
    screen.until("a42b", "ready$")
