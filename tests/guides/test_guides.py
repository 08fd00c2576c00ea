# SPDX-License-Identifier: MIT
"""The manual page and the shell completion agree with `help`. The tests read the page with groff, and use the
completion in the shells."""
import os
import pty
import re
import select
import shutil
import subprocess

import pytest

from support.cells import each
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, run_command

COMMANDS = re.findall(r"^COMMAND\((\w+),", (ROOT / "analyzer/command/commands.def").read_text(encoding="utf-8"), re.M)
MANUAL = BUILD / "share/man/man1/gpumemtrace.1"
COMPLETIONS = {
    "bash": BUILD / "share/bash-completion/completions/gpumemtrace",
    "zsh": BUILD / "share/zsh/site-functions/_gpumemtrace",
    "fish": BUILD / "share/fish/vendor_completions.d/gpumemtrace.fish",
}


def options_in_help(command):
    page = run_command("help", command).stdout
    return set(re.findall(r"^ +(?:-\w, )?--([a-z-]+)", page[: page.index("Exit status")], re.M)) - {"help"}


# --- the manual -----------------------------------------------------------------------------------


def manual_sections(macro):
    """Returns {heading: text without roff escapes} of the sections that begin with this macro, SH or SS."""
    text = re.sub(r"\\f[BIR]|\\&", "", MANUAL.read_text(encoding="utf-8").replace("\\-", "-"))
    parts = re.split(rf"^\.{macro} (.*)$", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def manual_options(text):
    return set(re.findall(r"^\.TP\n(?:-\w, )?--([a-z-]+)", text, re.M))


def test_the_manual_has_every_command_and_no_other():
    assert [heading.split()[0] for heading in manual_sections("SS")] == COMMANDS


@each("command", COMMANDS)
def test_the_manual_has_every_option_of_the_command_and_no_other(command):
    [body] = [text for heading, text in manual_sections("SS").items() if heading.split()[0] == command]
    body = re.split(r"^\.SH", body, flags=re.M)[0]
    common = re.search(r"^Common options: (.*)\.$", body, re.M)
    named = set(re.findall(r"--([a-z-]+)", common.group(1))) if common else set()
    assert named <= manual_options(manual_sections("SH")["COMMON OPTIONS"])
    assert manual_options(body) | named == options_in_help(command)


def test_the_manual_is_one_page_that_groff_reads_without_a_warning():
    if not shutil.which("groff"):
        pytest.skip("groff is not installed")
    completed = subprocess.run(["groff", "-K", "utf8", "-man", "-Tutf8", "-ww", MANUAL], capture_output=True, text=True, timeout=TIMEOUT_S)
    assert completed.stderr == ""
    assert "EXAMPLES" in re.sub(".\x08", "", completed.stdout)


# --- shells ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_what_is_installed_is_what_help_prints(shell):
    assert COMPLETIONS[shell].read_text(encoding="utf-8") == run_command("help", f"--as={shell}").stdout


@pytest.mark.parametrize("arguments", [["help", "--as=csh"], ["peak", "--help=csh"], ["peak", "--help=1"]])
def test_another_guide_is_refused(arguments):
    completed = run_command(*arguments)
    assert (completed.returncode, completed.stdout, completed.stderr.count("\n")) == (2, "", 1)


def in_terminal(words, lines):
    """Returns the output of a shell on a terminal, up to the text END."""
    ours, theirs = pty.openpty()
    shell = subprocess.Popen(words, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
                             env=clean_environment(TERM="dumb", PS1="", HISTFILE="/dev/null"))  # fmt: skip
    os.close(theirs)
    os.write(ours, ("\n".join([*lines, 'echo "E""ND"']) + "\n").encode())
    printed = b""
    while b"END\r\n" not in printed:
        if not select.select([ours], [], [], TIMEOUT_S)[0]:
            break
        printed += os.read(ours, 65536)
    shell.kill()
    shell.wait()
    os.close(ours)
    return printed.decode(errors="replace")


STARTED = {
    "bash": (["bash", "--noprofile", "--norc", "-i"], ["bind 'set bell-style none'", "source '{file}'"]),
    "zsh": (["zsh", "-f", "-i"], ["unsetopt zle_bracketed_paste", "autoload -Uz compinit", "compinit -D -u", "source '{file}'"]),
}
# (typed text, arguments that the program gets after completion)
TYPED = [
    ("timel\t x.db", ["timeline", "x.db"]),
    ("timeline --ax\tst\t x.db", ["timeline", "--axis=step", "x.db"]),
    ("peak --form\tjs\t x.db", ["peak", "--format=json", "x.db"]),
    ("check --form\tjun\t x.db", ["check", "--format=junit", "x.db"]),
    ("report a-tra\t", ["report", "a-trace.db"]),
    ("report -o a-tra\t", ["report", "-o", "a-trace.db"]),
    ("help timel\t", ["help", "timeline"]),
    ("run --dry-run=h20\t -- ./a-pro\t", ["run", "--dry-run=h200", "--", "./a-program"]),
    ("estimate --gpu=h20\t", ["estimate", "--gpu=h200"]),
    ("run --stack\tpy\t -- ./a-pro\t --axi\t", ["run", "--stacks=python", "--", "./a-program", "--axi"]),
]


@pytest.mark.parametrize("shell", STARTED)
def test_a_shell_completes_commands_options_values_and_files(shell, tmp_path):
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "a-trace.db").touch()
    (tmp_path / "a-program").touch()
    (tmp_path / "a-program").chmod(0o755)
    words, prepare = STARTED[shell]
    lines = [f"cd '{tmp_path}'", *(line.format(file=COMPLETIONS[shell]) for line in prepare)]
    lines += ["gpumemtrace() { printf '<%s>' GOT \"$@\"; echo; }", *(f"gpumemtrace {typed}" for typed, _ in TYPED)]
    printed = in_terminal(words, lines)
    got = [re.findall(r"<(.*?)>", line)[1:] for line in re.findall(r"^<GOT>.*$", printed.replace("\r", "\n"), re.M)]
    assert got == [meant for _, meant in TYPED], printed


@pytest.mark.parametrize("typed, offered", [
    ("timel", {"timeline"}), ("timeline --axis=", {"--axis=time", "--axis=event", "--axis=step"}),
    ("check --format=j", {"--format=json", "--format=junit"}), ("peak --format=j", {"--format=json"}), ("help timel", {"timeline"}),
    ("run --dry-run=h20", {"--dry-run=h200"}), ("estimate --gpu=an", set()),
])  # fmt: skip
def test_fish_completes_commands_options_and_values(typed, offered):
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    script = f"source {COMPLETIONS['fish']}; complete -C 'gpumemtrace {typed}'"
    completed = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S,
                               env=clean_environment())  # fmt: skip
    assert {line.split("\t")[0] for line in completed.stdout.splitlines()} == offered, completed.stderr


def test_fish_says_what_each_command_and_option_is():
    if not shutil.which("fish"):
        pytest.skip("fish is not installed")
    for typed in ("", "help ", "peak -", "check --format="):
        script = f"source {COMPLETIONS['fish']}; complete -C 'gpumemtrace {typed}'"
        completed = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, timeout=TIMEOUT_S,
                                   env=clean_environment())  # fmt: skip
        lines = completed.stdout.splitlines()
        assert lines and not [line for line in lines if not line.partition("\t")[2].strip()], typed


def test_every_card_completes_a_dry_run():
    cards = re.findall(r'^(?:PRESET|SLICE)\("([^"]+)"', (ROOT / "common/sim_presets.def").read_text(encoding="utf-8"), re.M)
    listed = re.search(r"_gpumemtrace_values\[run--dry-run\]='(.*)'", COMPLETIONS["bash"].read_text(encoding="utf-8")).group(1)
    assert listed.split() == ["any", *cards]


@pytest.mark.parametrize("shell", COMPLETIONS)
def test_completion_has_every_option_of_every_command(shell):
    text = COMPLETIONS[shell].read_text(encoding="utf-8")
    patterns = {
        "bash": (r"_gpumemtrace_options\[{}\]='(.*)'", r"--([a-z-]+)"),
        "zsh": (r"(?s)_gpumemtrace_{}\(\) \{{\n(.*?)\n\}}", r"'\*?--([a-z-]+)"),
        "fish": (r"(?s)(.*)", r"__fish_seen_subcommand_from {}' -l ([a-z-]+)"),
    }
    for command in COMMANDS:
        part, option = (pattern.format(command) if "{}" in pattern else pattern for pattern in patterns[shell])
        found = set(re.findall(option, re.search(part, text).group(1))) - {"help"}
        assert found == options_in_help(command), command
