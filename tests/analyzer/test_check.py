# SPDX-License-Identifier: MIT
"""`check` as a gate in continuous integration: which limits hold, and with which status the command exits."""
import json
import sqlite3
import subprocess
import xml.etree.ElementTree

import pytest

from support.run import BUILD, TIMEOUT_S, clean_environment, run_command
from support.tracefile import MIB, Trace


@pytest.fixture
def trace(tmp_path):
    """Makes a trace with a peak of 30 MiB, of which 20 MiB are allocated in forward. At the exit 10 MiB are live."""
    trace = Trace(tmp_path / "trace.db")
    trace.alloc(10 * MIB, stack=trace.stack("weights"))
    with trace.phase("forward"):
        passing = trace.alloc(10 * MIB, stack=trace.stack("activation"))
    trace.alloc(10 * MIB, stack=trace.stack("late"))
    trace.free(passing)
    trace.free(trace.next_address - 10 * MIB)
    trace.exit()
    trace.write()
    return trace


def check(*arguments):
    return run_command("check", *arguments)


def checks(*arguments):
    completed = check(*arguments, "--json")
    document = json.loads(completed.stdout)
    assert document["passed"] == (completed.returncode == 0)
    return [(c["subject"], c["passed"], c["measured_bytes"], c["limit_bytes"]) for c in document["checks"]]


def test_a_peak_within_its_limit_passes(trace):
    assert checks(trace.path, "--max-peak=30MiB") == [
        ("device 0 driver peak", True, 30 * MIB, 30 * MIB)
    ]


def test_one_byte_above_the_limit_is_broken_and_exits_1(trace):
    limit = 30 * MIB - 1
    completed = check(trace.path, f"--max-peak={limit}")
    assert completed.returncode == 1
    assert "BROKEN" in completed.stdout and "weights" in completed.stdout
    assert completed.stderr == ""


@pytest.mark.parametrize("option", ["--max-peak=", "--max-peak=phase:forward=", "--max-leak="])
def test_a_limit_that_no_trace_could_reach_is_refused(trace, option):
    assert check(trace.path, f"{option}9223372036854775807").returncode == 0
    completed = check(trace.path, f"{option}9223372036854775808")
    assert (completed.returncode, completed.stdout) == (2, "")
    assert "the most is 9223372036854775807 bytes" in completed.stderr
    assert len(completed.stderr.splitlines()) == 1


def test_it_opens_with_the_limit_that_is_broken_by_most_and_who_holds_it(trace):
    def opening(*options):
        document = json.loads(check(trace.path, *options, "--json").stdout)
        return document["answer"], (document["next"] or "").replace(str(trace.path), "FILE")

    peak = "device 0 driver peak is 30.00 MiB, the limit is"
    who = "Most of the memory live at the peak is held by weights (10.00 MiB)."
    assert opening("--max-peak=30MiB") == ([f"The limit holds: {peak} 30.00 MiB."], "")
    assert opening("--max-peak=3MiB") == ([f"The limit is broken: {peak} 3.00 MiB.", who], "gpumemtrace peak FILE")
    assert opening("--max-peak=60MiB", "--max-leak=1GiB") == (
        ["All 2 limits hold, nearest: device 0 driver peak is 30.00 MiB, limit 60.00 MiB."], "")  # fmt: skip
    assert opening("--max-peak=3MiB", "--max-peak=1GiB") == (
        [f"1 of 2 limits are broken: {peak} 3.00 MiB.", who], "gpumemtrace peak FILE")  # fmt: skip
    assert opening("--max-peak=29MiB", "--max-leak=0") == (
        ["2 of 2 limits are broken, worst: device 0 driver live at exit is 10.00 MiB, limit 0 B.",
         "Most of the memory live at the exit is held by weights (10.00 MiB)."],
        "gpumemtrace peak --at=end FILE")  # fmt: skip


def test_limits_may_be_repeated_and_name_a_phase(trace):
    assert checks(trace.path, "--max-peak=1GiB", "--max-peak=phase:forward=20MiB", "--max-peak=phase:forward=19MiB") == [
        ("device 0 driver peak", True, 30 * MIB, 1 << 30),
        ("device 0 driver peak in forward", True, 20 * MIB, 20 * MIB),
        ("device 0 driver peak in forward", False, 20 * MIB, 19 * MIB),
    ]  # fmt: skip


def test_max_leak_limits_what_is_live_at_exit(trace):
    assert checks(trace.path, "--max-leak=10MiB") == [
        ("device 0 driver live at exit", True, 10 * MIB, 10 * MIB)
    ]
    assert check(trace.path, "--max-leak=10485759").returncode == 1


def test_a_gate_guards_the_live_bytes_of_the_leading_layer(tmp_path):
    trace = Trace(tmp_path / "pool.db")
    segment = trace.alloc(100 * MIB)
    trace.tensor(segment, 3 * MIB)
    trace.write()
    assert checks(trace.path, "--max-peak=4MiB") == [("device 0 pytorch pool peak", True, 3 * MIB, 4 * MIB)]
    assert checks(trace.path, "--max-peak=4MiB", "--layer=driver") == [
        ("device 0 driver peak", False, 100 * MIB, 4 * MIB)
    ]


def test_each_device_is_held_against_the_limit_unless_one_is_named(tmp_path):
    trace = Trace(tmp_path / "two.db")
    trace.alloc(5, device=0)
    trace.alloc(9, device=1)
    trace.write()
    assert [c[1:3] for c in checks(trace.path, "--max-peak=7")] == [(True, 5), (False, 9)]
    assert [c[1:3] for c in checks(trace.path, "--max-peak=7", "--device=0")] == [(True, 5)]


# --- baseline ---


def write(path, *blocks):
    trace = Trace(path)
    for size, *frames in blocks:
        trace.alloc(size, stack=trace.stack(*frames))
    trace.write()
    return path


def test_a_baseline_may_be_exceeded_by_the_tolerance(tmp_path):
    base = write(tmp_path / "base.db", (1000, "a"))
    for size, options, passed in [
        (1020, (), True), (1021, (), False), (1100, ("--tolerance=10%",), True),
        (1101, ("--tolerance=0.1",), False), (1001, ("--tolerance=0%",), False), (1, (), True),
    ]:  # fmt: skip
        path = write(tmp_path / f"{size}.db", (size, "a"))
        ((subject, result, measured, _),) = checks(path, f"--baseline={base}", *options)
        assert (subject, result, measured) == ("device 0 driver peak against the baseline", passed, size)


def test_the_stacks_that_grew_are_named_the_most_first(tmp_path):
    base = write(tmp_path / "base.db", (100, "a", "main"), (50, "b", "main"), (10, "gone"))
    now = write(tmp_path / "now.db", (70, "b", "main"), (100, "a", "main"), (500, "new"))
    completed = check(now, f"--baseline={base}", "--json")
    assert completed.returncode == 1
    (device,) = json.loads(completed.stdout)["devices"]
    assert [(g["frames"][0]["function"], g["before_bytes"], g["after_bytes"], g["delta_bytes"]) for g in device["grown"]] == [
        ("new", 0, 500, 500), ("b", 50, 70, 20),
    ]  # fmt: skip
    assert json.loads(completed.stdout)["answer"][1:3] == [
        "None of its blocks was live before; 1 is now.", "The largest growth since the baseline is at new: it holds 500 B more."]  # fmt: skip


def test_a_stack_is_compared_as_a_whole_whatever_phases_it_was_in(tmp_path):
    paths = []
    for name, sizes in (("base", (100, 100)), ("now", (100, 150))):
        trace = Trace(tmp_path / f"{name}.db")
        for phase, size in zip(("a", "b"), sizes):
            with trace.phase(phase):
                trace.alloc(size, stack=trace.stack("site"))
        paths.append(trace.write())
    completed = check(paths[1], f"--baseline={paths[0]}", "--json")
    ((grown,),) = [device["grown"] for device in json.loads(completed.stdout)["devices"]]
    assert (grown["before_bytes"], grown["after_bytes"]) == (200, 250)


def test_a_device_the_baseline_did_not_use_has_a_limit_of_nothing(tmp_path):
    base = write(tmp_path / "base.db", (100, "a"))
    trace = Trace(tmp_path / "now.db")
    trace.alloc(1, device=1)
    ((_, passed, measured, limit),) = checks(trace.write(), f"--baseline={base}")
    assert (passed, measured, limit) == (False, 1, 0)


# --- comparisons that cannot be made ---


def assert_refused(completed, *parts):
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert len(completed.stderr.splitlines()) == 1
    for part in parts:
        assert part in completed.stderr


def test_without_a_limit_there_is_nothing_to_check(trace):
    assert_refused(check(trace.path), "nothing to check", "no allocation failed", "--max-peak")


@pytest.mark.parametrize("limit", ["x", "-1", "phase:=1", "phase:forward", "phase:forward=x", "1XB", ""])
def test_a_limit_that_is_no_size_is_refused(trace, limit):
    assert_refused(check(trace.path, f"--max-peak={limit}"))


def test_a_phase_that_does_not_exist_cannot_pass(trace):
    assert_refused(check(trace.path, "--max-peak=phase:warmup=1GiB"), "warmup")


@pytest.mark.parametrize("meta", [{"complete": 0}, {"lost_events": 1}])
def test_a_trace_that_is_not_whole_exits_2_unless_allowed(tmp_path, meta):
    trace = Trace(tmp_path / "part.db", **meta)
    trace.alloc(5)
    trace.write()
    assert_refused(check(trace.path, "--max-peak=1GiB"), "--allow-incomplete")
    assert check(trace.path, "--max-peak=1GiB", "--allow-incomplete").returncode == 0
    assert check(trace.path, "--max-peak=1", "--allow-incomplete").returncode == 1


def test_a_baseline_that_is_not_whole_is_refused_too(trace, tmp_path):
    base = Trace(tmp_path / "base.db", complete=0)
    base.alloc(1 << 30)
    base.write()
    assert_refused(check(trace.path, f"--baseline={base.path}"), "base.db")


def test_a_baseline_that_is_no_trace_is_refused(trace):
    assert_refused(check(trace.path, "--baseline=/etc/passwd"), "/etc/passwd")


def test_asking_for_a_pool_where_there_is_none_cannot_pass(trace):
    assert_refused(check(trace.path, "--max-peak=1GiB", "--layer=pool"), "pool")


# --- formats ---


def test_junit_has_a_test_case_per_check(trace):
    completed = check(trace.path, "--max-peak=1", "--max-leak=1GiB", "--format=junit")
    assert completed.returncode == 1
    suite = xml.etree.ElementTree.fromstring(completed.stdout)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    (failure,) = suite.iter("failure")
    assert failure.get("message") == (
        "device 0 driver peak is 30.00 MiB (31457280 bytes), the limit is 1 B (1 bytes); most by weights"
    )


def test_several_traces_are_checked_in_one_go(trace, tmp_path):
    other = write(tmp_path / "other.db", (5, "a"))
    completed = check(trace.path, other, "--max-peak=1MiB", "--json")
    document = json.loads(completed.stdout)
    assert completed.returncode == 1
    assert [(c["trace"], c["passed"]) for c in document["checks"]] == [
        (str(trace.path), False), (str(other), True),
    ]  # fmt: skip


def test_a_program_that_used_no_gpu_is_within_any_limit(tmp_path):
    trace = Trace(tmp_path / "idle.db")
    trace.exit()
    assert check(trace.write(), "--max-peak=0").returncode == 0


def growing_trace(path, per_step, steps=10):
    trace = Trace(path)
    stack = trace.stack(("train.py", 4, "keep"))
    for step in range(1, steps + 1):
        trace.alloc(per_step(step), stack=stack)
        trace.step(step)
    trace.exit()
    trace.write()
    return path


def test_growth_per_step_is_limited(tmp_path):
    trace = growing_trace(tmp_path / "trace.db", lambda _: 1000)
    assert checks(trace, "--max-growth-per-step=1000") == [("device 0 driver growth per step", True, 1000, 1000)]
    assert checks(trace, "--max-growth-per-step=999") == [("device 0 driver growth per step", False, 1000, 999)]
    assert check(trace, "--max-growth-per-step=999").returncode == 1


def test_growth_that_a_trace_cannot_tell_is_exit_2(tmp_path):
    completed = check(growing_trace(tmp_path / "trace.db", lambda _: 1000, steps=3), "--max-growth-per-step=1GiB")
    assert completed.returncode == 2
    assert completed.stderr.endswith("cannot tell how much memory grows per step: it has too few steps\n")


# --- other limits ---


def test_max_leak_is_another_name_of_max_live_at_exit(trace):
    assert checks(trace.path, "--max-live-at-exit=9MiB") == checks(trace.path, "--max-leak=9MiB")


@pytest.fixture
def failing(tmp_path):
    trace = Trace(tmp_path / "failing.db")
    trace.alloc(MIB, stack=trace.stack(("/me/train.py", 4, "load")))
    trace.fail(64 * MIB, stack=trace.stack(("/me/train.py", 9, "forward")))
    trace.exit()
    return trace.write()


def test_a_failed_allocation_breaks_the_check_unless_it_is_allowed(failing):
    completed = check(failing, "--max-peak=1GiB", "--json")
    document = json.loads(completed.stdout)
    assert completed.returncode == 1
    assert document["answer"] == [
        "1 of 2 limits are broken: device 0 driver count of failed allocations is 1, the limit is 0.",
        "The last failure was at train.py:9 forward.",
        "--allow-oom accepts failures."]  # fmt: skip
    (broken,) = [row for row in document["checks"] if not row["passed"]]
    assert (broken["kind"], broken["measured_count"], broken["line"]) == ("failures", 1, 9)
    assert check(failing, "--max-peak=1GiB", "--allow-oom").returncode == 0


def test_a_failed_allocation_breaks_a_check_without_a_limit(failing):
    completed = check(failing)
    assert (completed.returncode, completed.stderr) == (1, "")
    assert "count of failed allocations is 1, the limit is 0" in " ".join(completed.stdout.split())
    assert_refused(check(failing, "--allow-oom"), "nothing to check")


def test_all_failures_count_though_only_the_first_and_the_last_hundred_are_listed(tmp_path):
    trace = Trace(tmp_path / "many.db")
    stack = trace.stack(("/me/serve.py", 9, "forward"))
    for _ in range(350):
        trace.alloc(MIB, stack=stack)
        trace.fail(64 * MIB, stack=stack)
    trace.exit()
    completed = check(trace.write(), "--max-retries=0", "--json")
    document = json.loads(completed.stdout)
    (broken,) = [row for row in document["checks"] if not row["passed"]]
    assert (completed.returncode, broken["kind"], broken["measured_count"]) == (1, "failures", 350)
    assert document["more"][-1]["text"] == "'gpumemtrace oom' lists the first and the last 100 failures."
    page = run_command("oom", trace.path).stdout
    assert "The first and the last 100 of 350 failed allocations are shown." in page


def test_fragmentation_is_limited_at_the_peak(tmp_path):
    trace = Trace(tmp_path / "frag.db")
    segment = trace.alloc(8 * MIB)
    trace.tensor(segment, MIB)
    trace.tensor(segment + 4 * MIB, MIB)
    trace.exit()
    path = trace.write()  # two holes of 3 MiB: the largest is half of the free bytes
    for limit, status in (("50%", 0), ("0.49", 1)):
        completed = check(path, f"--max-fragmentation={limit}", "--json")
        (row,) = json.loads(completed.stdout)["checks"]
        assert (completed.returncode, row["measured_ratio"], row["measured_bytes"]) == (status, 0.5, None)


def test_the_evidence_of_a_phase_is_who_held_the_phases_own_peak(trace):
    document = json.loads(check(trace.path, "--max-peak=phase:forward=1MiB", "--json").stdout)
    ((evidence,),) = [device["evidence"] for device in document["devices"]]
    held = [(row["site"], row["bytes"]) for row in evidence["sites"]]
    # "late" is missing, because it is live only at the peak of the trace.
    assert held == [("weights", 10 * MIB), ("activation", 10 * MIB)]


def test_the_evidence_of_a_leak_is_what_was_never_freed(trace):
    document = json.loads(check(trace.path, "--max-leak=1MiB", "--json").stdout)
    ((evidence,),) = [device["evidence"] for device in document["devices"]]
    assert [(row["site"], row["bytes"]) for row in evidence["sites"]] == [("weights", 10 * MIB)]


# --- a committed baseline ---


def write_lines(path, *blocks):
    return write(path, *[(size, (f"{path.parent}/train.py", line, name)) for size, line, name in blocks])


def test_a_written_baseline_stands_for_its_trace(tmp_path):
    base = write_lines(tmp_path / "base.db", (4 * MIB, 4, "load"), (8 * MIB, 9, "forward"))
    kept = tmp_path / "memory.json"
    assert check(base, f"--write-baseline={kept}").returncode == 0
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    now = write_lines(folder / "now.db", (4 * MIB, 5, "load"), (8 * MIB, 11, "forward"), (2 * MIB, 12, "forward"))
    by_file, by_trace = (json.loads(check(now, f"--baseline={b}", "--json").stdout) for b in (kept, base))
    assert by_file["devices"][0]["grown"] == by_trace["devices"][0]["grown"]
    (row,) = by_file["devices"][0]["grown"]
    assert (row["file"], row["line"], row["delta_bytes"]) == ("train.py", 12, 2 * MIB)
    assert check(base, f"--baseline={kept}", "--tolerance=0%").returncode == 0


def test_a_written_baseline_holds_names_in_sorted_lines_and_no_address(tmp_path):
    blocks = [(4 * MIB, 4, "load"), (8 * MIB, 9, "forward")]
    texts = []
    for name, order in (("one", blocks), ("two", blocks[::-1])):
        folder = tmp_path / name
        folder.mkdir()
        check(write_lines(folder / "base.db", *order), f"--write-baseline={folder / 'memory.json'}")
        texts.append((folder / "memory.json").read_text())
    assert texts[0] == texts[1]
    lines = [line for line in texts[0].splitlines() if line.startswith('{"call_path"')]
    assert lines == sorted(lines) and len(lines) == 2
    assert str(tmp_path) not in texts[0]


def test_two_branches_that_each_changed_a_site_merge(tmp_path):
    names = [(MIB, line, f"part{line}") for line in range(1, 9)]

    def baseline(name, blocks):
        folder = tmp_path / name
        folder.mkdir()
        check(write_lines(folder / "x.db", *blocks), f"--write-baseline={folder / 'memory.json'}")
        return folder / "memory.json"

    def changed(number):
        return [(size * (2 if i == number else 1), *rest) for i, (size, *rest) in enumerate(names)]

    files = [baseline(name, blocks) for name, blocks in (("ours", changed(1)), ("base", names), ("theirs", changed(6)))]
    merged = subprocess.run(["git", "merge-file", "-p", *files], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert merged.returncode == 0
    (tmp_path / "merged.json").write_text(merged.stdout)
    now = write_lines(tmp_path / "now.db", *[(size * (2 if i in (1, 6) else 1), *rest) for i, (size, *rest) in enumerate(names)])
    ((_, passed, measured, limit),) = checks(now, f"--baseline={tmp_path / 'merged.json'}", "--tolerance=0%")
    assert (passed, measured, limit) == (True, 10 * MIB, 10 * MIB)


@pytest.mark.parametrize("text", ["{", '{"schema": "x"}', '{"schema": "gpumemtrace.baseline/1", "accounts": [{}]}',
    '{"schema": "gpumemtrace.baseline/1", "accounts": [{"device": 0, "layer": "driver", "sites": [{"bytes": -1}]}]}'])  # fmt: skip
def test_a_baseline_that_is_broken_is_refused(trace, tmp_path, text):
    (tmp_path / "bad.json").write_text(text)
    assert_refused(check(trace.path, f"--baseline={tmp_path / 'bad.json'}"), "bad.json")


# --- formats of CI servers ---


@pytest.fixture
def grown_line(tmp_path):
    """Makes a baseline, and a trace in which line 9 holds more memory than in the baseline."""
    base = write_lines(tmp_path / "base.db", (4 * MIB, 4, "load"))
    return base, write_lines(tmp_path / "now.db", (4 * MIB, 4, "load"), (4 * MIB, 9, "forward"))


def test_github_gets_one_annotation_on_the_line(grown_line, tmp_path):
    base, now = grown_line
    environment = {**clean_environment(), "GITHUB_WORKSPACE": str(tmp_path)}
    completed = run_command("check", now, f"--baseline={base}", "--max-peak=1GiB", "--format=github", env=environment)
    (line,) = completed.stdout.splitlines()
    assert completed.returncode == 1
    assert line.startswith("::error file=train.py,line=9,title=gpumemtrace%3A device 0 driver peak against the baseline::")
    completed = check(now, "--max-peak=1GiB", "--format=github")
    assert completed.stdout == "::notice title=gpumemtrace::1 limit holds\n"


def test_junit_names_file_and_line(grown_line):
    base, now = grown_line
    suite = xml.etree.ElementTree.fromstring(check(now, f"--baseline={base}", "--format=junit").stdout)
    (case,) = suite.iter("testcase")
    assert (case.get("file").endswith("train.py"), case.get("line")) == (True, "9")


def test_markdown_has_the_verdict_and_a_row_for_each_limit(grown_line):
    base, now = grown_line
    lines = check(now, f"--baseline={base}", "--max-peak=1GiB", "--format=markdown").stdout.splitlines()
    assert lines[0] == "### GPU memory: 1 of 2 limits broken"
    assert [line.split(" | ")[0] for line in lines[4:]] == ["| ok", "| **BROKEN**"]
    assert "train.py:9" in lines[5]


STRANGE = "a,b|c:d%e<f>\n\x01.py"


@pytest.fixture
def strange(tmp_path):
    """Returns strange("github"), which is the output of `check --format=github` for a trace in which a line of a file
    named STRANGE breaks a limit."""
    trace = Trace(tmp_path / "strange.db")
    trace.alloc(4 * MIB, stack=trace.stack((f"/home/me/{STRANGE}", 9, "forward")))
    trace.exit()
    trace.write()
    return lambda name: check(trace.path, "--max-peak=1MiB", f"--format={name}").stdout


def test_github_escapes_what_would_end_a_property_or_the_line(strange):
    (line,) = strange("github").splitlines()
    name, _, _ = line.partition(",line=9,title=")
    assert name.startswith("::error file=") and name.endswith("a%2Cb|c%3Ad%25e<f>%0A\x01.py")
    assert line.count("::") == 2


def test_markdown_escapes_what_would_end_a_cell_or_the_row(strange):
    *_, line = strange("markdown").splitlines()
    assert len(strange("markdown").splitlines()) == 5
    cells = line.split(" | ")
    assert len(cells) == 4 and "a,b&#124;c:d%e&#60;f&#62; " in cells[2]


def test_junit_is_xml_whatever_a_file_is_called(strange):
    suite = xml.etree.ElementTree.fromstring(strange("junit"))
    (case,) = suite.iter("testcase")
    assert case.get("file").endswith("a,b|c:d%e<f>\n\ufffd.py")
    assert (suite.get("tests"), suite.get("failures")) == ("1", "1")


def test_junit_holds_no_byte_that_is_no_utf8(tmp_path):
    trace = Trace(tmp_path / "strange.db")
    trace.alloc(4 * MIB, stack=trace.stack(("/home/me/a?b.py", 9, "forward")))
    trace.exit()
    trace.write()
    with sqlite3.connect(trace.path) as database:
        database.execute("UPDATE string SET text = CAST(replace(CAST(text AS BLOB), '?', x'ff') AS TEXT) WHERE text LIKE '%a?b.py'")
    output = subprocess.run([BUILD / "gpumemtrace", "check", trace.path, "--max-peak=1MiB", "--format=junit"], capture_output=True).stdout
    (case,) = xml.etree.ElementTree.fromstring(output).iter("testcase")
    assert case.get("file").endswith("a\ufffdb.py")


@pytest.mark.parametrize("code", [*range(1, 32), 0xFFFE, 0xFFFF], ids=hex)
def test_junit_holds_no_character_that_xml_lacks(code, tmp_path):
    trace = Trace(tmp_path / "strange.db")
    trace.alloc(4 * MIB, stack=trace.stack((f"/home/me/a{chr(code)}b.py", 9, "forward")))
    trace.exit()
    trace.write()
    output = check(trace.path, "--max-peak=1MiB", "--format=junit").stdout
    (case,) = xml.etree.ElementTree.fromstring(output).iter("testcase")
    shown = chr(code) if chr(code) in "\t\n" else "\ufffd"
    assert case.get("file").endswith(f"a{shown}b.py")
    assert shown == chr(code) or chr(code) not in output


def test_growth_within_the_tolerance_is_named_though_the_limit_holds(tmp_path):
    paths = []
    for name, lines in (("before", [12]), ("after", [12, 88])):
        trace = Trace(tmp_path / f"{name}.db")
        for line in lines:
            trace.alloc((1000 if line == 12 else 10) * MIB, stack=trace.stack(("train.py", line, "main")))
        paths.append(trace.write())
    completed = run_command("check", paths[1], f"--baseline={paths[0]}", "--json")
    answer = json.loads(completed.stdout)["answer"]
    assert completed.returncode == 0 and answer[1] == "Within the tolerance, train.py:88 main: it holds 10.00 MiB more."
    assert "::error" not in run_command("check", paths[1], f"--baseline={paths[0]}", "--format=github").stdout
    assert len(json.loads(run_command("check", paths[0], f"--baseline={paths[0]}", "--json").stdout)["answer"]) == 1


@pytest.mark.parametrize("option", ["--max-live-at-exit=phase:forward=1GiB", "--max-fragmentation=phase:forward=2%",
                                    "--max-retries=phase:forward=1", "--max-growth-per-step=phase:forward=1MiB"])  # fmt: skip
def test_a_limit_that_a_phase_cannot_have_says_which_one_it_can(tmp_path, option):
    trace = Trace(tmp_path / "phase.db")
    trace.alloc(1)
    completed = run_command("check", trace.write(), option)
    assert completed.returncode == 2 and completed.stderr.rstrip().endswith("a phase can be given to --max-peak only")
