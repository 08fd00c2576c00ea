# SPDX-License-Identifier: MIT
"""Phases reach the report from the public API, from NVTX and from libnvToolsExt's functions."""

MIB = 1 << 20


def phases(recording):
    return {row["path"]: row for row in recording.report()["devices"][0]["phases"]}


def test_phases_of_every_source_are_in_the_report(record, program):
    recording = record(program("phases"))
    assert recording.completed.stdout == "injected 1\npush 0\npop 0\n"
    rows = phases(recording)
    assert set(rows) == {None, "setup", "step", "step/forward", "step/backward", "tools"}
    assert rows["setup"]["source"] == "nvtx"
    assert rows["tools"]["source"] == "nvtx"
    assert rows["step"]["source"] == "api"


def test_bytes_of_nested_phases_are_in_the_outer_one_too(record, program):
    rows = phases(record(program("phases")))
    figures = ("entry_bytes", "peak_bytes", "allocated_bytes", "freed_bytes", "kept_bytes")
    expected = {
        "setup": (0, 1, 1, 0, 1),
        "step": (1, 7, 6, 2, 4),
        "step/forward": (1, 3, 2, 0, 2),
        "step/backward": (3, 7, 4, 2, 4),
        "tools": (5, 13, 8, 0, 8),
    }
    for path, values in expected.items():
        assert tuple(rows[path][key] for key in figures) == tuple(v * MIB for v in values), path


def test_nvtx_0_leaves_nvtx_alone(record, program):
    recording = record(program("phases"), GPUMEMTRACE_NVTX=0)
    assert recording.completed.stdout.startswith("injected 0\n")
    assert "setup" not in phases(recording)


def test_without_the_recorder_the_public_header_does_nothing(program, sim_env):
    import subprocess

    completed = subprocess.run(
        [program("phases")], env=sim_env(), capture_output=True, text=True, timeout=60
    )
    assert completed.returncode == 0
    assert completed.stdout == "injected 0\npush -2\npop -2\n"


def test_a_phase_opened_before_the_first_call_belongs_to_the_thread_that_opened_it(record, program):
    recording = record(program("process_end"), "early-phase", check=False)
    rows = phases(recording)
    assert rows["train"]["allocated_bytes"] == 6 * MIB
    assert rows[None]["allocated_bytes"] == 1 * MIB
    names = [name for (name,) in recording.rows("SELECT name FROM thread ORDER BY thread_id")]
    assert len(names) == 2 and "process_end" in names
