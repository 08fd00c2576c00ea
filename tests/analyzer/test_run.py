# SPDX-License-Identifier: MIT
"""gpumemtrace run: exit statuses, signals, the child's environment, programs that cannot be recorded."""
import ctypes
import os
import re
import pathlib
import pty
import shutil
import signal
import subprocess

import pytest

from support.run import BUILD, PRELOAD_FIRST, TIMEOUT_S, clean_environment, load_json

COMMAND = str(BUILD / "gpumemtrace")


def run(*arguments, stdin=subprocess.DEVNULL, cwd=None, preexec_fn=None, **environment):
    return subprocess.run(
        [COMMAND, "run", *map(str, arguments)],
        env=clean_environment(**environment),
        stdin=stdin,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        cwd=cwd,
        preexec_fn=preexec_fn,
        check=False,
    )


def environment_of(*options, **kwargs):
    completed = run(*options, "--", "env", "-0", **kwargs)
    assert completed.returncode == 0, completed.stderr
    return dict(entry.split("=", 1) for entry in completed.stdout.split("\0") if entry)


def compile_c(folder, source, *flags):
    path = folder / "compiled"
    command = ["cc", "-x", "c", "-", "-x", "none", "-o", path, *flags]
    subprocess.run(command, input=source, text=True, check=True)
    return path


def assert_refused(completed, status, *parts):
    assert completed.returncode == status, completed.stderr
    assert completed.stdout == ""
    assert len(completed.stderr.splitlines()) == 1, completed.stderr
    assert completed.stderr.startswith("gpumemtrace: run: ")
    for part in parts:
        assert part in completed.stderr


# --- exit statuses --------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [0, 1, 2, 7, 255])
def test_run_exits_as_the_program_did(status):
    assert run("--", "sh", "-c", f"exit {status}").returncode == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV])
def test_run_exits_with_128_plus_the_signal_that_ended_the_program(number):
    assert run("--", "sh", "-c", f"kill -{int(number)} $$").returncode == 128 + number


@pytest.mark.parametrize("pattern", ["trace.db", "trace.%p.db"])
@pytest.mark.parametrize(
    "program, mode, status, how",
    [
        ("process_end", "signal", 128 + signal.SIGTERM, "was killed by signal 15"),
        ("process_children", "system-call", 5, "ended by a raw exit_group"),
        ("process_end", "return", 5, None),
        ("process_end", "exec", 5, None),
    ],
)
def test_run_knows_a_kill_from_a_raw_exit_group(tmp_path, program, mode, status, how, pattern):
    path = BUILD / "tests" / program
    completed = run("-o", tmp_path / pattern, "--dry-run", "--", path, mode)
    assert completed.returncode == status, completed.stderr
    trace = next(tmp_path.glob("trace*.db"))
    said = f"gpumemtrace: run: '{path}' {how}; {trace} has the calls up to then"
    assert (said in completed.stderr.splitlines()) == bool(how), completed.stderr
    quiet = run("-o", tmp_path / "quiet.db", "--quiet", "--dry-run", "--", path, mode)
    assert "gpumemtrace:" not in quiet.stderr


NO_TRACE = "gpumemtrace: run: no CUDA call was recorded in '{}' or in what it started, so there is no trace"


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_a_program_without_cuda_is_said_to_have_left_no_trace(tmp_path, dry_run):
    (tmp_path / "trace.db").touch()  # the file comes from an earlier run
    os.utime(tmp_path / "trace.db", (1, 1))
    completed = run("-o", tmp_path / "trace.db", *dry_run, "--", "/bin/sh", "-c", "exit 3")
    assert (completed.returncode, completed.stderr) == (3, NO_TRACE.format("/bin/sh") + "\n")
    assert run("-o", tmp_path / "trace.db", "--quiet", *dry_run, "--", "/bin/sh", "-c", "exit 3").stderr == ""


@pytest.mark.parametrize("output", ["trace.db", "trace.%p.db", "%h", "taken.db", "[x]*.db"])
def test_a_trace_of_a_process_that_the_program_started_is_found_whatever_its_name(tmp_path, output):
    (tmp_path / "taken.db").touch()
    os.utime(tmp_path / "taken.db", (1, 1))
    program = BUILD / "tests" / "process_end"
    completed = run("-o", tmp_path / output, "--dry-run", "--", "/bin/sh", "-c", f"{program} return; exit 0")
    assert completed.returncode == 0
    assert "no CUDA call" not in completed.stderr and "gpumemtrace: peak" in completed.stderr


@pytest.mark.parametrize("count, options, is_said", [
    (1, [], True), (1, ["--quiet"], False), (1, ["--no-resolve"], False), (2, [], False)])  # fmt: skip
def test_a_run_that_left_one_trace_ends_with_the_finding_of_its_report(tmp_path, count, options, is_said):
    leak = " && ".join([str(BUILD / "samples/leak")] * count)
    completed = run("--dry-run=4GiB", "-o", tmp_path / "trace.%p.db", *options, "--", "/bin/sh", "-c", leak)
    (finding, *_), said = load_json("report", next(tmp_path.glob("*.db")))["answer"], completed.stderr.splitlines()
    assert completed.returncode == 0 and finding.startswith("Leak: 1.00 MiB per step by leak.c:22")
    assert (f"gpumemtrace: run: {finding}" in said[-1:]) == is_said


def test_a_run_whose_trace_is_too_large_to_be_judged_at_once_ends_as_the_recorder_does(tmp_path):
    trace = tmp_path / "trace.db"
    program = f"{BUILD}/samples/leak && head -c 9M /dev/zero >> {trace}"
    completed = run("--dry-run=4GiB", "-o", trace, "--", "/bin/sh", "-c", program)
    assert completed.returncode == 0 and completed.stderr.splitlines()[-1].startswith("gpumemtrace: peak ")


def test_a_program_that_is_not_in_path_exits_127():
    assert_refused(run("no-such-program-here"), 127, "'no-such-program-here' is not in PATH")


def obey_permissions():
    """Drops capabilities, so that a program that is started afterwards obeys file permissions even as root."""
    prctl, drop_from_bounding_set = ctypes.CDLL(None).prctl, 24
    for capability in (1, 2):  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH
        prctl(drop_from_bounding_set, capability, 0, 0, 0)


def test_a_folder_of_path_that_may_not_be_searched_is_passed_over(tmp_path):
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    extra = {"PATH": f"{closed}:{os.environ['PATH']}:{closed}", "preexec_fn": obey_permissions}
    assert_refused(run("no-such-program-here", **extra), 127, "'no-such-program-here' is not in PATH")
    assert run("true", **extra).returncode == 0
    refused = run(closed / "program", **extra)
    assert_refused(refused, 126, "Permission denied")


def test_a_file_that_does_not_exist_exits_127():
    assert_refused(run("./no-such-file"), 127, "./no-such-file", "No such file")


def test_a_file_that_may_not_be_executed_exits_126(tmp_path):
    path = tmp_path / "data"
    path.write_text("data")
    assert_refused(run(path), 126, "Permission denied")
    assert_refused(run(tmp_path), 126, "Is a directory")


def test_a_script_whose_interpreter_is_missing_exits_127(tmp_path):
    path = tmp_path / "script"
    path.write_text("#!/no/such/interpreter\n")
    path.chmod(0o755)
    assert_refused(run(path), 127, "interpreter")


def test_a_script_without_first_line_is_run_by_the_shell(tmp_path):
    path = tmp_path / "script"
    path.write_text("exit 5\n")
    path.chmod(0o755)
    assert run(path).returncode == 5


def test_options_of_the_program_are_its_own():
    completed = run("echo", "--json", "-o", "--", "x")
    assert completed.stdout == "--json -o -- x\n"


@pytest.mark.parametrize(
    "option, part",
    [
        ("--ring-max=4XB", "'4XB' is not a size"),
        ("--depth=deep", "'deep' is not a whole number"),
        ("--nvtx=2", "'2' is neither 0 nor 1"),
        ("--output=", "the value is empty"),
        ("--dry-run=16Gib0", "16Gib0"),
    ],
)
def test_a_setting_that_makes_no_sense_exits_2(option, part):
    assert_refused(run(option, "true"), 2, part)


# --- streams and signals --------------------------------------------------------------------------


def test_streams_pass_through_untouched():
    completed = subprocess.run(
        [COMMAND, "run", "--quiet", "--", "sh", "-c", "cat; echo words >&2"],
        env=clean_environment(),
        input=b"\x00\xff bytes\n",
        capture_output=True,
        check=False,
    )
    assert (completed.stdout, completed.stderr) == (b"\x00\xff bytes\n", b"words\n")


TRAPPING = "trap 'echo caught; exit 9' {name}; echo ready; while :; do sleep 0.05; done"


@pytest.mark.parametrize("name", ["TERM", "INT", "HUP", "USR1"])
def test_a_signal_sent_to_run_reaches_the_program(name):
    process = subprocess.Popen(
        [COMMAND, "run", "--", "sh", "-c", TRAPPING.format(name=name)],
        env=clean_environment(),
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    process.send_signal(getattr(signal, f"SIG{name}"))
    assert process.stdout.read() == "caught\n"
    assert process.wait(TIMEOUT_S) == 9


def test_run_waits_when_the_program_survives_an_interrupt_from_the_terminal():
    """Both processes get SIGINT. The program decides whether to exit, as it does when a shell starts it."""
    script = "trap 'caught=$((caught+1))' INT; echo ready; until [ $caught ]; do sleep 0.05; done; exit 1$caught"
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(COMMAND, [COMMAND, "run", "--", "bash", "-c", script], clean_environment())
    said = b""
    while b"ready" not in said:
        said += os.read(terminal, 100)
    os.write(terminal, b"\x03")
    _, status = os.waitpid(pid, 0)
    os.close(terminal)
    assert os.waitstatus_to_exitcode(status) == 11


def test_a_signal_that_was_ignored_stays_ignored_for_the_program():
    script = "trap '' HUP; exec \"$0\" run -- sh -c 'kill -HUP $$; exit 4'"
    completed = subprocess.run(
        ["sh", "-c", script, COMMAND], env=clean_environment(), timeout=TIMEOUT_S, check=False
    )
    assert completed.returncode == 4


def test_the_exit_status_is_seen_even_where_sigchld_is_ignored():
    script = "trap '' CHLD; exec \"$0\" run -- sh -c 'exit 6'"
    completed = subprocess.run(
        ["bash", "-c", script, COMMAND], env=clean_environment(), timeout=TIMEOUT_S, check=False
    )
    assert completed.returncode == 6


# --- the environment ------------------------------------------------------------------------------


def test_the_recorder_is_preloaded_before_what_was_there(tmp_path):
    other = compile_c(tmp_path, "int nothing;", "-shared", "-fPIC")
    # The command itself is also started with this LD_PRELOAD, which AddressSanitizer would refuse without the option.
    environment = environment_of(LD_PRELOAD=other, ASAN_OPTIONS="verify_asan_link_order=0")
    before = [path for path in (PRELOAD_FIRST, str(other)) if path]
    assert environment["LD_PRELOAD"].split(":") == [f"{BUILD}/libgpumemtrace.so", *before]
    assert "LD_LIBRARY_PATH" not in environment or "simulator" not in environment["LD_LIBRARY_PATH"]


def test_settings_become_variables():
    environment = environment_of("--quiet", "--nvtx=0", "--ring-max=64MiB", "--stacks=none")
    assert environment["GPUMEMTRACE_QUIET"] == "1"
    assert environment["GPUMEMTRACE_NVTX"] == "0"
    assert environment["GPUMEMTRACE_RING_MAX"] == "64MiB"
    assert environment["GPUMEMTRACE_STACKS"] == "none"
    assert "GPUMEMTRACE_DEPTH" not in environment


def test_settings_of_the_environment_stay_unless_an_option_says_otherwise():
    environment = environment_of("--depth=5", GPUMEMTRACE_DEPTH="7", GPUMEMTRACE_STACKS="none")
    assert environment["GPUMEMTRACE_DEPTH"] == "5"
    assert environment["GPUMEMTRACE_STACKS"] == "none"


def test_a_relative_output_is_meant_from_where_run_was_called(tmp_path):
    folder = tmp_path / "50%p off"
    folder.mkdir()
    environment = environment_of("-o", "t.%p.db", cwd=folder)
    assert environment["GPUMEMTRACE_OUTPUT"] == f"{tmp_path}/50%%p off/t.%p.db"


def test_an_absolute_output_is_kept(tmp_path):
    environment = environment_of("-o", tmp_path / "%h.db")
    assert environment["GPUMEMTRACE_OUTPUT"] == f"{tmp_path}/%h.db"


def test_a_dry_run_loads_the_simulator_under_its_public_names():
    environment = environment_of("--dry-run=2x80GiB", LD_LIBRARY_PATH="/somewhere")
    simulator = f"{BUILD}/simulator"
    assert environment["GPUMEMTRACE_SIM"] == "2x80GiB"
    assert environment["LD_LIBRARY_PATH"] == f"{simulator}:/somewhere"
    preloads = environment["LD_PRELOAD"].split(":")
    assert preloads[:4] == [
        f"{BUILD}/libgpumemtrace.so",
        f"{simulator}/libcuda.so.1",
        f"{simulator}/libcudart.so.12",
        f"{simulator}/libcudart.so.13",
    ]
    others = [path for path in preloads[4:] if path != PRELOAD_FIRST]
    assert sorted(preloads[1:4] + others) == sorted(map(str, (BUILD / "simulator").iterdir()))


@pytest.mark.parametrize("spec", ["any", "8xany", "any,others=3GiB"])
def test_a_dry_run_may_have_no_limit(spec):
    assert environment_of(f"--dry-run={spec}")["GPUMEMTRACE_SIM"] == spec


def test_a_dry_run_without_spec_has_one_device_of_16_gib():
    assert environment_of("--dry-run")["GPUMEMTRACE_SIM"] == "16GiB"


def test_a_dry_run_without_spec_keeps_the_one_of_the_environment():
    assert environment_of("--dry-run", GPUMEMTRACE_SIM="h100")["GPUMEMTRACE_SIM"] == "h100"


# --- places of files ------------------------------------------------------------------------------


def copy_build(target):
    """Copies the command, the library and the simulator to folders below `target`, where `make install` places them."""
    (target / "bin").mkdir(parents=True)
    (target / "lib/gpumemtrace").mkdir(parents=True)
    shutil.copy(BUILD / "gpumemtrace", target / "bin")
    shutil.copy(BUILD / "libgpumemtrace.so", target / "lib")
    shutil.copytree(BUILD / "simulator", target / "lib/gpumemtrace/simulator")
    return target / "bin/gpumemtrace"


def run_copy(command, *arguments, **environment):
    return subprocess.run(
        [command, "run", *arguments],
        env=clean_environment(**environment),
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )


def test_an_installed_command_finds_what_is_below_lib(tmp_path):
    command = copy_build(tmp_path / "prefix")
    completed = run_copy(command, "--dry-run", "--", "env")
    assert completed.returncode == 0, completed.stderr
    assert f"LD_PRELOAD={tmp_path}/prefix/lib/libgpumemtrace.so:{tmp_path}/prefix/lib/" in (
        completed.stdout
    )


def test_a_command_without_its_library_says_so(tmp_path):
    command = copy_build(tmp_path / "prefix")
    (tmp_path / "prefix/lib/libgpumemtrace.so").unlink()
    assert_refused(run_copy(command, "true"), 2, "libgpumemtrace.so", str(tmp_path))


@pytest.mark.parametrize("folder", ["with space", "with:colon", "with$dollar"])
def test_a_path_that_ld_preload_cannot_carry_is_reached_through_a_link_of_ones_own(tmp_path, folder):
    command = copy_build(tmp_path / folder)
    (tmp_path / "links").mkdir()
    first, again = (run_copy(command, "--dry-run", "--", "env", TMPDIR=tmp_path / "links") for _ in range(2))
    assert first.returncode == 0, first.stderr
    preloaded = re.search(r"^LD_PRELOAD=(.*)$", first.stdout, re.M).group(1).split(":")
    assert f"LD_PRELOAD={':'.join(preloaded)}\n" in again.stdout
    assert os.path.realpath(preloaded[0]) == str(tmp_path / folder / "lib/libgpumemtrace.so")
    assert os.path.realpath(preloaded[1]).startswith(str(tmp_path / folder / "lib/gpumemtrace/simulator/lib"))
    [links] = (tmp_path / "links").iterdir()
    assert links.stat().st_mode & 0o777 == 0o700 and len(list(links.iterdir())) == 2


def test_a_folder_of_links_that_others_may_write_to_is_not_used(tmp_path):
    command = copy_build(tmp_path / "with space")
    (tmp_path / f"gpumemtrace-{os.geteuid()}").mkdir()
    (tmp_path / f"gpumemtrace-{os.geteuid()}").chmod(0o777)
    completed = run_copy(command, "--", "env", TMPDIR=tmp_path)
    assert completed.returncode == 0, completed.stderr
    assert not list((tmp_path / f"gpumemtrace-{os.geteuid()}").iterdir())
    assert re.search(r"^LD_PRELOAD=/(tmp|dev/shm)/gpumemtrace-", completed.stdout, re.M)


# --- programs that cannot be recorded -------------------------------------------------------------


def test_a_static_program_is_refused(tmp_path):
    path = compile_c(tmp_path, "int main(void) { return 0; }", "-static")
    assert_refused(run(path), 2, str(path), "linked statically")


def test_a_program_with_another_users_rights_is_refused(tmp_path):
    path = compile_c(tmp_path, "int main(void) { return 0; }")
    if os.getuid() != 0:
        pytest.skip("only root can make such a program")
    os.chown(path, 12345, 12345)
    path.chmod(0o4755)
    assert_refused(run(path), 2, str(path), "another user's rights")


# Every program with a static CUDA runtime contains these texts, whatever its version.
RUNTIME_TEXTS = """
#include <stdio.h>
int main(int argc, char **argv)
{
    (void)argv;
    puts(argc > 5 ? "cudaErrorMixedDeviceExecution" : argc > 4 ? "libcuda.so.1" : "ran");
    return 0;
}
"""

KERNELS = """
__attribute__((section(".nv_fatbin"), used)) static const char kernels[16] = {1};
int main(void) { return 0; }
"""


@pytest.mark.parametrize("source", [RUNTIME_TEXTS, KERNELS])
def test_a_program_with_nvidias_runtime_inside_cannot_dry_run(tmp_path, source):
    path = compile_c(tmp_path, source, "-s")
    assert_refused(run("--dry-run", path), 2, str(path), "linked in statically")
    assert run(path).returncode == 0


def test_a_program_with_a_shared_runtime_can_dry_run(tmp_path):
    source = KERNELS.replace(
        "int main", "int cudaDriverGetVersion(int *);\nint main"
    ).replace("return 0", "int version; return cudaDriverGetVersion(&version)")
    path = compile_c(tmp_path, source, str(BUILD / "simulator/libcudart.so.12"))
    completed = run("--dry-run", path)
    assert completed.returncode == 0, completed.stderr


def test_nvidias_static_runtime_is_recognised(tmp_path):
    libraries = [
        folder
        for folder in ("/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu", "/usr/lib/cuda/lib64")
        if pathlib.Path(folder, "libcudart_static.a").exists()
    ]
    if not libraries:
        pytest.skip("libcudart_static.a is not installed")
    source = "int cudaFree(void *); int main(void) { return cudaFree(0) == 0; }"
    flags = ["-L" + libraries[0], "-lcudart_static", "-lpthread", "-ldl", "-lrt", "-lm", "-s"]
    path = compile_c(tmp_path, source, *flags)
    assert_refused(run("--dry-run", path), 2, "linked in statically")
