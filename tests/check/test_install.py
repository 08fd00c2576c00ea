# SPDX-License-Identifier: MIT
"""`make install` installs exactly the files of the list INSTALLED, and these files work at their new place. `make
uninstall` removes exactly the same files."""
import json
import os
import re
import shlex
import shutil
import subprocess

import pytest

from support.installed_pages import links, lost_links
from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment, run_command

SIMULATOR = re.findall(
    r'^(?:DRIVER|RUNTIME|STANDIN)\("([^"]+)"', (ROOT / "simulator/libraries.def").read_text(), re.MULTILINE
)
INSTALLED = {
    "bin/gpumemtrace",
    "include/gpumemtrace/gpumemtrace.h",
    "lib/gpumemtrace/installed",
    "lib/libgpumemtrace.so",
    "share/bash-completion/completions/gpumemtrace",
    "share/doc/gpumemtrace/MODEL-FORMAT.md",
    "share/doc/gpumemtrace/NEWS",
    "share/doc/gpumemtrace/TRACE-FORMAT.md",
    "share/doc/gpumemtrace/examples/grafana.json",
    "share/doc/gpumemtrace/examples/push-rank",
    "share/doc/gpumemtrace/examples/slurm-epilog",
    "share/fish/vendor_completions.d/gpumemtrace.fish",
    "share/man/man1/gpumemtrace.1",
    "share/pkgconfig/gpumemtrace.pc",
    "share/zsh/site-functions/_gpumemtrace",
    *(
        f"share/doc/gpumemtrace/{path.relative_to(ROOT / 'doc')}"
        for path in [*(ROOT / "doc").glob("*.md"), *(ROOT / "doc/pictures").iterdir()]
    ),
    *(
        f"lib/gpumemtrace/simulator/{name}"
        for name in SIMULATOR
    ),
    *(
        f"share/gpumemtrace/families/{path.name}"
        for path in (ROOT / "analyzer/estimate/families").glob("*.json")
    ),
}
HARD_NAMES = ["plain", "inst dir", "it's \"quoted\"", "back\\slash `tick` ;semi*"]


def make(target, prefix="/usr", destdir=""):
    environment = {k: v for k, v in clean_environment().items() if not k.startswith("MAKE")}
    return subprocess.run(
        ["make", "-s", target, f"O={os.path.relpath(BUILD, ROOT)}", f"PREFIX={prefix}",
         f"DESTDIR={destdir}"],
        cwd=ROOT, env=environment, check=True, capture_output=True, text=True, timeout=TIMEOUT_S,
    )


def entries(folder):
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


def files_in(folder):
    return {name for name in entries(folder) if not (folder / name).is_dir()}


@pytest.mark.parametrize("name", HARD_NAMES)
def test_install_and_uninstall_leave_what_is_listed_and_nothing(tmp_path, name):
    source = set(os.listdir(ROOT))
    prefix = tmp_path / name
    make("install", prefix)
    assert entries(tmp_path) == {name, *(f"{name}/{entry}" for entry in entries(prefix))}
    assert files_in(prefix) == INSTALLED
    make("uninstall", prefix)
    assert entries(tmp_path) == set()
    assert set(os.listdir(ROOT)) == source


@pytest.mark.parametrize("name", HARD_NAMES)
def test_a_staged_installation_lies_below_destdir_alone(tmp_path, name):
    source = set(os.listdir(ROOT))
    make("install", "/opt/gpu tools", tmp_path / name)
    assert entries(tmp_path / name) >= {"opt", "opt/gpu tools"}
    assert files_in(tmp_path / name / "opt" / "gpu tools") == INSTALLED
    assert files_in(tmp_path) == {f"{name}/opt/gpu tools/{file}" for file in INSTALLED}
    make("uninstall", "/opt/gpu tools", tmp_path / name)
    assert files_in(tmp_path) == set()
    assert set(os.listdir(ROOT)) == source


def test_pages_lead_to_installed_files(tmp_path):
    make("install", tmp_path)
    assert lost_links(tmp_path) == []
    found = {place.name for _, place in links(tmp_path)}
    assert {"TRACE-FORMAT.md", "gpumemtrace.h", "push-rank", "settings.md", "oom.png"} <= found


def test_a_link_to_a_source_that_is_not_installed_becomes_its_path(tmp_path):
    make("install", tmp_path)
    page = (tmp_path / "share/doc/gpumemtrace/commands.md").read_text()
    assert "the rows SETTING of `analyzer/remedy/remedies.def`" in page
    assert os.access(tmp_path / "share/doc/gpumemtrace/examples/push-rank", os.X_OK)


def test_uninstall_leaves_what_others_put_beside_it_and_folders_that_were_there(tmp_path):
    foreign = ["bin/other", "lib/gpumemtrace/simulator/libother.so", "share/man/man1/other.1"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "lib").mkdir()
    make("install", tmp_path)
    make("install", tmp_path)
    for name in foreign:
        (tmp_path / name).write_text("not ours")
    make("uninstall", tmp_path)
    assert files_in(tmp_path) == set(foreign)
    for name in foreign:
        (tmp_path / name).unlink()
    assert {"bin", "lib"} <= entries(tmp_path)
    assert not entries(tmp_path) & {"include", "share/doc"}


def test_uninstall_removes_nothing_where_nothing_was_installed(tmp_path):
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "gpumemtrace").write_text("of another origin")
    with pytest.raises(subprocess.CalledProcessError) as failed:
        make("uninstall", tmp_path)
    assert "nothing to remove" in failed.value.stderr
    assert entries(tmp_path) == {"bin", "bin/gpumemtrace"}


def test_the_installed_command_records_a_dry_run_and_reports_it(tmp_path, program):
    make("install", destdir=tmp_path)
    command = tmp_path / "usr" / "bin" / "gpumemtrace"
    trace = tmp_path / "dry.db"
    completed = subprocess.run(
        [command, "run", "-o", trace, "--dry-run=16GiB", "--", program("process_end"), "return"],
        env=clean_environment(), capture_output=True, text=True, timeout=TIMEOUT_S,
    )
    assert completed.returncode == 5, completed.stderr
    assert run_command("report", trace).returncode == 0


def record_and_report(command, program, folder, **environment):
    trace = folder / "train.db"
    ran = subprocess.run([command, "run", "-o", trace, "--dry-run=16GiB", "--", program],
                         env=clean_environment(**environment), capture_output=True, text=True, timeout=TIMEOUT_S)
    assert ran.returncode == 0, ran.stderr
    reported = subprocess.run([command, "report", "--json", trace], env=clean_environment(), capture_output=True, timeout=TIMEOUT_S)
    assert reported.returncode == 0
    return json.loads(reported.stdout)["devices"][0]["driver"]["peak_bytes"]


def test_an_installed_tree_records_a_dry_run_wherever_it_is_moved_to(tmp_path, build):
    """The tree is installed for one place and moved to another. The name of the second place has every character that
    the variables of the loader cannot carry."""
    make("install", "/opt/elsewhere", tmp_path / "staged")
    moved = tmp_path / "of mine; $HOME: here"
    (tmp_path / "staged/opt/elsewhere").rename(moved)
    (tmp_path / "out").mkdir()
    peak = record_and_report(moved / "bin/gpumemtrace", build / "samples/train", tmp_path / "out", TMPDIR=tmp_path)
    assert peak == record_and_report(build / "gpumemtrace", build / "samples/train", tmp_path / "out") > 0


def test_pkg_config_finds_the_header_of_a_moved_tree(tmp_path, build):
    if not shutil.which("pkg-config"):
        pytest.skip("pkg-config is not installed")
    make("install", tmp_path / "first")
    moved = (tmp_path / "first").rename(tmp_path / "in between")

    def asked(*options):
        return subprocess.run(["pkg-config", *options, "gpumemtrace"], check=True, capture_output=True, text=True,
                              env=clean_environment(PKG_CONFIG_PATH=moved / "share/pkgconfig")).stdout  # fmt: skip

    assert f"gpumemtrace {asked('--modversion')}" == subprocess.run([build / "gpumemtrace", "--version"], capture_output=True, text=True).stdout
    source = tmp_path / "uses.c"
    source.write_text('#include <gpumemtrace/gpumemtrace.h>\nint main(void) { gpumemtrace_push("a"); return 0; }\n')
    subprocess.run(["cc", *shlex.split(asked("--cflags")), "-o", tmp_path / "uses", source], check=True, timeout=TIMEOUT_S)


def test_a_prefix_that_ld_preload_cannot_carry_is_said_at_once(tmp_path):
    assert "cannot stand in LD_PRELOAD" in make("install", tmp_path / "inst dir").stderr
    assert make("install", tmp_path / "plain").stderr == ""
