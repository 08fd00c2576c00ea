# SPDX-License-Identifier: MIT
"""The command line: accepted arguments, messages about refused ones, exit statuses."""
import json
import re

import pytest

from support.cells import each
from support.run import ROOT, clean_environment, run_command
from support.tracefile import Trace

COMMANDS = re.findall(
    r"^COMMAND\((\w+),", (ROOT / "analyzer/command/commands.def").read_text(encoding="utf-8"), re.M
)


def lines(text):
    return text.splitlines()


def assert_one_line(completed, *parts):
    """Asserts that the command exits with status 2, prints nothing to stdout, and prints one line to stderr that
    contains each part."""
    assert completed.returncode == 2, completed.stderr
    assert completed.stdout == ""
    assert len(lines(completed.stderr)) == 1, completed.stderr
    assert completed.stderr.startswith("gpumemtrace: ")
    for part in parts:
        assert part in completed.stderr


def test_the_list_of_commands_is_not_empty():
    assert "report" in COMMANDS and len(COMMANDS) >= 13


def test_without_arguments_a_short_usage_goes_to_stderr(gpumemtrace):
    completed = gpumemtrace()
    assert completed.returncode == 2
    assert completed.stdout == ""
    assert "usage: gpumemtrace" in completed.stderr


def test_version_is_printed_to_stdout(gpumemtrace):
    header = (ROOT / "include/gpumemtrace/version.h").read_text(encoding="utf-8")
    version = re.search(r'GMT_VERSION "(.*)"', header).group(1)
    completed = gpumemtrace("--version")
    assert (completed.returncode, completed.stdout) == (0, f"gpumemtrace {version}\n")


@pytest.mark.parametrize("arguments", [["help"], ["--help"], ["-h"]])
def test_help_lists_every_command(gpumemtrace, arguments):
    completed = gpumemtrace(*arguments)
    assert completed.returncode == 0
    assert completed.stderr == ""
    for command in COMMANDS:
        assert re.search(rf"^  {command} ", completed.stdout, re.M), command


@each("command", COMMANDS)
def test_help_of_a_command_has_synopsis_options_exit_status_and_example(gpumemtrace, command):
    page = gpumemtrace("help", command)
    assert page.returncode == 0
    assert page.stderr == ""
    assert page.stdout.startswith(f"usage: gpumemtrace {command} ")
    for part in ("\nOptions:\n", "--help", "\nExit status: ", "\nExample:\n  gpumemtrace "):
        assert part in page.stdout
    assert all(len(line) <= 100 for line in lines(page.stdout))


@each("command", COMMANDS)
def test_a_command_with_help_as_option_prints_the_same_page(gpumemtrace, command):
    page = gpumemtrace("help", command).stdout
    for option in ("--help", "-h"):
        completed = gpumemtrace(command, option)
        assert (completed.returncode, completed.stdout) == (0, page)


@each("command", COMMANDS)
def test_the_example_of_a_command_uses_that_command_and_its_options(gpumemtrace, command):
    page, example = gpumemtrace("help", command).stdout.split("Example:\n")
    words = example.split()
    assert words[:2] == ["gpumemtrace", command]
    own_words = words[2 : words.index("--")] if "--" in words else words[2:]
    for option in re.findall(r"(?:^| )(--?[a-z-]+)", " ".join(own_words)):
        assert re.search(rf"{option}\b", page), option


def test_help_of_run_lists_every_setting(gpumemtrace):
    settings = re.findall(
        r'^OPTION\(\w+,\s*\w+,\s*"\w+",\s*"([\w-]+)"',
        (ROOT / "include/gpumemtrace/options.def").read_text(encoding="utf-8"),
        re.M,
    )
    page = gpumemtrace("help", "run").stdout
    assert len(settings) >= 6
    for flag in settings:
        assert re.search(rf"^ +(-\w, )?--{flag}\b", page, re.M), flag


def test_help_of_run_lists_every_card(gpumemtrace):
    listed = (ROOT / "common/sim_presets.def").read_text(encoding="utf-8")
    cards = re.findall(r'^(?:PRESET|SLICE)\("([\w.-]+)"', listed, re.M)
    words = set(re.findall(r"[\w.-]+", gpumemtrace("help", "run").stdout))
    assert len(cards) >= 20 and set(cards) <= words
    assert re.findall(r"^  (\S+) +[\d.]+ GiB, compute", gpumemtrace("help", "cards").stdout, re.M) == cards


def test_help_gives_each_card_the_source_of_its_memory(gpumemtrace):
    page = gpumemtrace("help", "cards").stdout
    for figure in re.findall(r"^  \S+ +([\d.]+) GiB, compute.*\n      \S.*$", page, re.M):
        assert float(figure) > 4
    assert page.count(" GiB, compute") == len(re.findall(r" GiB, compute.*\n      \S", page))
    assert "The memory of a context is assumed" in page


@each("command", COMMANDS)
def test_help_names_the_formats_that_the_command_takes_and_no_other(gpumemtrace, command):
    said = re.search(r"how to print the result: (.*) \(default text\)", gpumemtrace("help", command).stdout)
    if said:
        named = set(re.findall(r"\w+", said.group(1))) - {"or"}
        assert named == {"text", "json", "html", "csv"} | ({"junit"} if command == "check" else set())


def test_a_format_that_the_command_does_not_take_is_refused_before_anything_is_read(gpumemtrace):
    assert_one_line(gpumemtrace("peak", "/nowhere.db", "--format=junit"), "peak does not print junit; it prints text, json, html or csv")


def test_an_unknown_command_suggests_the_nearest(gpumemtrace):
    assert_one_line(gpumemtrace("reprot", "x.db"), "unknown command 'reprot'", "'report'")
    assert_one_line(gpumemtrace("help", "chekc"), "unknown command 'chekc'", "'check'")
    assert_one_line(gpumemtrace("help", "metrcs"), "unknown command or topic 'metrcs'", "'metrics'")


def test_an_unknown_command_far_from_all_points_to_help(gpumemtrace):
    assert_one_line(gpumemtrace("xyzzy"), "unknown command 'xyzzy'", "gpumemtrace help")


def test_an_option_before_the_command_is_explained(gpumemtrace):
    assert_one_line(gpumemtrace("--json", "report"), "'--json'", "stand after it")


@each("command", [name for name in COMMANDS if name != "help"])
def test_an_unknown_option_names_itself_and_the_help(gpumemtrace, command):
    assert_one_line(
        gpumemtrace(command, "--foo", "x"),
        f"gpumemtrace: {command}: unknown option '--foo'; see 'gpumemtrace help {command}'",
    )


@pytest.mark.parametrize(
    "command, typed, meant",
    [("timeline", "--sampels=3", "--samples"), ("report", "--fromat=json", "--format"), ("run", "--dryrun", "--dry-run"),
     ("frag", "--segmets", "--segments"), ("check", "--max-leek=3", "--max-leak")],
)  # fmt: skip
def test_a_mistyped_option_suggests_the_nearest(gpumemtrace, command, typed, meant):
    name = typed.split("=")[0]
    said = f"unknown option '{name}'; did you mean '{meant}'? See 'gpumemtrace help {command}'"
    assert_one_line(gpumemtrace(command, typed, "x"), said)


@pytest.mark.parametrize(
    "arguments, part",
    [
        (["report", "--layer=pol", "x"], "'pol' is not one of driver|pool; did you mean 'pool'?"),
        (["report", "--format=jsno", "x"], "did you mean 'json'?"),
        (["timeline", "--axis=evnt", "x"], "did you mean 'event'?"),
        (["estimate", "--dtype=floot32", ROOT / "samples/train.json"], "did you mean 'float32'?"),
        (["check", "--format=jnuit", "x"], "there are text, json, html, csv, junit, github and markdown; did you mean 'junit'?"),
        (["run", "--stacks=pyton", "true"], "'pyton' is not one of all|python|native|none; did you mean 'python'?"),
        (["run", "--dry-run=2xh1000,others=1GiB", "true"], "did you mean 'h100'?"),
        (["frag", "--what-if=no-cash", "x"], "did you mean 'no-cache'?"),
    ],
)
def test_a_mistyped_value_suggests_the_nearest(gpumemtrace, arguments, part):
    assert_one_line(gpumemtrace(*arguments), part)


def test_a_mistyped_layer_type_suggests_the_nearest(gpumemtrace, tmp_path):
    model = {"schema": "gpumemtrace.model/1", "name": "m", "input": [3], "layers": [{"type": "linear", "out": 1}]}
    (tmp_path / "model.json").write_text(json.dumps(model))
    assert_one_line(gpumemtrace("estimate", tmp_path / "model.json"), "unknown layer type 'linear'; did you mean 'Linear'?")


def test_a_layer_or_device_that_the_trace_does_not_have_is_an_error(gpumemtrace, tmp_path):
    trace = Trace(tmp_path / "trace.db")
    trace.alloc(1)
    trace.alloc(1, device=3)
    trace.write()
    for command in ("report", "peak", "frag", "timeline", "phases", "leaks", "oom"):
        assert_one_line(gpumemtrace(command, trace.path, "--layer=pool"), "no framework reported a pool", "--layer=driver")
    assert_one_line(gpumemtrace("peak", trace.path, "--device=1"), "device 1 has no events; those with events: 0, 3")


def test_run_refuses_an_output_in_a_folder_that_does_not_exist_before_the_program_starts(gpumemtrace, tmp_path):
    program = ["--", "touch", tmp_path / "started"]
    for output in (tmp_path / "nowhere/a.db", tmp_path / "no%%where/%p.db"):
        assert_one_line(gpumemtrace("run", "-o", output, *program), "does not exist", str(output.parent).replace("%%", "%"))
    assert not (tmp_path / "started").exists()
    (tmp_path / "started").mkdir()
    assert_one_line(gpumemtrace("run", "-o", tmp_path / "started", "--", "touch", tmp_path / "again"), "is a folder; name a file in it")
    assert not (tmp_path / "again").exists()
    for output in (tmp_path / "a.db", tmp_path / "started/%p.db", tmp_path / "%p/a.db"):
        assert gpumemtrace("run", "-o", output, "--", "true").returncode == 0


@each("command", [name for name in COMMANDS if name not in ("help", "live", "doctor", "push", "fleet")])
def test_a_missing_operand_is_named(gpumemtrace, command):
    assert_one_line(gpumemtrace(command), f"gpumemtrace: {command}: needs ", "got 0 operands")


@pytest.mark.parametrize(
    "option, part",
    [
        ("--top=0", "'0' is out of range"),
        ("--top=many", "'many' is not a whole number"),
        ("--device=-1", "'-1' is out of range"),
        ("--layer=gpu", "'gpu' is not one of driver|pool"),
        ("--format=xml", "unknown format 'xml'; there are text, json, html and csv"),
        ("--json=yes", "'--json' takes no value"),
        ("--at", "'--at' needs a value"),
    ],
)
def test_a_bad_value_is_quoted_with_its_option(gpumemtrace, option, part):
    assert_one_line(gpumemtrace("peak", "x.db", option), part, option.split("=")[0])


def test_a_line_feed_in_an_argument_does_not_make_a_second_line(gpumemtrace):
    assert_one_line(gpumemtrace("re\nport\x1b[31m"), "re?port?[31m")


@pytest.mark.parametrize("arguments", [["--version"], ["help"], ["help", "peak"]])
def test_a_full_disk_behind_stdout_is_an_error(build, arguments):
    import subprocess

    with open("/dev/full", "w", encoding="utf-8") as full:
        completed = subprocess.run(
            [build / "gpumemtrace", *arguments],
            stdout=full,
            stderr=subprocess.PIPE,
            env=clean_environment(),
            text=True,
            check=False,
        )
    assert completed.returncode == 2
    assert "No space left on device" in completed.stderr
    assert len(lines(completed.stderr)) == 1
