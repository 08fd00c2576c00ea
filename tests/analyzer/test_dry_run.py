# SPDX-License-Identifier: MIT
"""The output of a dry run says, beside its figures, which things a dry run cannot know."""
import sqlite3

import pytest

from support.run import BUILD, clean_environment, load_json, run_command, sentences_of
from support.tracefile import MIB, Trace


def write_trace(path, *libraries, **meta):
    trace = Trace(path, **meta)
    for i, library in enumerate(libraries, 1):
        trace.rows["module"].append((i, f"/opt/torch/lib/{library}", None, 0x1000 * i, 0x1000 * i, 0x1000 * (i + 1)))
    trace.alloc(MIB)
    trace.write()


def warnings(path, *libraries, **meta):
    write_trace(path, *libraries, **meta)
    return [w for w in load_json("report", path)["warnings"] if "dry run" in w]


def test_the_report_of_pytorchs_dry_run_says_what_it_does_not_know(tmp_path):
    (warning,) = warnings(tmp_path / "trace.db", "libc10_cuda.so.2.6", "libtorch_python.so.2.6", simulated=1, dry_run_values="small")
    for part in ("values of small tensors", "inside kernels", "NCCL", "cuBLAS and cuDNN"):
        assert part in warning


def test_of_a_program_of_libtorch_without_python_the_report_says_that_no_values_are_computed(tmp_path):
    (warning,) = warnings(tmp_path / "trace.db", "libc10_cuda.so", simulated=1, dry_run_values="small")
    assert "no values are computed in a program without Python" in warning and "values of small tensors" not in warning


@pytest.mark.parametrize("meta", [{}, {"dry_run_values": "none"}])
def test_without_values_the_report_says_that_they_are_zeros(tmp_path, meta):
    (warning,) = warnings(tmp_path / "trace.db", "libc10_cuda.so", simulated=1, **meta)
    assert "values are zeros" in warning and "computed" not in warning


def test_the_text_says_it_once_in_the_heading_at_the_end(gpumemtrace, tmp_path):
    write_trace(tmp_path / "trace.db", "libc10_cuda.so", simulated=1)
    text = gpumemtrace("report", tmp_path / "trace.db").stdout
    assert text.count("a dry run:") == 1
    assert text.index("a dry run:") > text.index("\nMemory ")


def test_a_line_that_reads_values_makes_guesses_of_no_shape_but_those_that_follow_from_them(tmp_path):
    trace = Trace(tmp_path / "trace.db", simulated=1, dry_run_values="small")
    trace.rows["read_back"] = [("/me/train.py:12", 64)]
    trace.rows["module"].append((1, "/opt/torch/lib/libc10_cuda.so", None, 0x1000, 0x1000, 0x2000))
    trace.alloc(MIB)
    text = " ".join(run_command("report", trace.write()).stdout.split())
    assert ("train.py:12 reads values that the dry run could not compute (64 times); shapes that follow from them are "
            "guesses") in text  # fmt: skip


@pytest.mark.parametrize("simulated", [1, 0])
def test_the_ledger_of_a_dry_run_says_that_the_context_is_assumed(gpumemtrace, tmp_path, simulated):
    trace = Trace(tmp_path / "trace.db", simulated=simulated)
    trace.rows["device"] = [(0, None, None, 16384 * MIB, 16000 * MIB)]
    trace.alloc(MIB)
    text = " ".join(gpumemtrace("ledger", trace.write()).stdout.split())
    assert ("the size of the context is assumed" in text) is bool(simulated)


def test_a_recording_on_a_card_has_no_such_warning(tmp_path):
    assert warnings(tmp_path / "trace.db", "libc10_cuda.so", simulated=0) == []


def test_a_dry_run_without_pytorch_has_no_such_warning(tmp_path):
    assert warnings(tmp_path / "trace.db", "libcuda.so.1", simulated=1) == []


# --- cards without limit ---


def made_without_limit(path, spec="any", total=1 << 40, context=300 * MIB):
    """Writes a trace with a context, 700 MiB live at the peak and 100 MiB at the end."""
    trace = Trace(path, simulated=1, dry_run=spec)
    trace.device(total_bytes=total)
    trace.device_memory(total - context, total)
    first, second = trace.alloc(600 * MIB), trace.alloc(100 * MIB)
    trace.free(first)
    assert second
    return trace.write()


def answer_of(command, path):
    page = load_json(command, path)
    return sentences_of(page), page["next"]


def test_the_report_says_which_card_a_program_without_limit_needs(tmp_path):
    path = made_without_limit(tmp_path / "trace.db")
    (peak, need), following = answer_of("report", path)
    assert "Peak 700.00 MiB on device 0" in peak
    assert need == (
        "The run on device 0 needs a card of 1000.00 MiB: 700.00 MiB of the program's own, 300.00 MiB of the context "
        "(assumed) and other processes; it fits on t4 (14.75 GiB); as a MIG slice on a100-1g.5gb."
    )
    assert following.startswith("gpumemtrace fit ")


def test_it_is_the_size_that_fit_finds(tmp_path):
    path = made_without_limit(tmp_path / "trace.db")
    (device,) = load_json("fit", path)["devices"]
    assert [row["card_bytes"] for row in device["fit"]] == [1000 * MIB]
    assert [row["memory_fraction"] for row in device["fit"]] == [None]


def test_what_no_known_card_has_is_said(tmp_path):
    path = made_without_limit(tmp_path / "trace.db", context=(1 << 40) - (1 << 30))
    (_, need), _ = answer_of("report", path)
    assert need.endswith("; it fits on no card known here, not on b200 (178.35 GiB); as a MIG slice on none.")


@pytest.mark.parametrize(
    ("mib", "said"),
    [
        (16160 * 98 // 100, "it fits on v100-16 (15.78 GiB), not on t4 (14.75 GiB); as a MIG slice on a100-2g.20gb."),
        (16160 * 98 // 100 + 2, "it fits on a10 (21.99 GiB), just on v100-16 (15.78 GiB), where a driver may leave 2 % less; "),
        (16162, "it fits on a10 (21.99 GiB), not on v100-16 (15.78 GiB); "),
    ],
)
def test_the_cards_nearest_to_what_is_needed_are_named_from_both_sides(tmp_path, mib, said):
    mib -= mib % 2
    (_, need), _ = answer_of("report", made_without_limit(tmp_path / "trace.db", context=(mib - 700) * MIB))
    assert said in need


def test_of_many_ranks_what_nccl_takes_is_said_to_be_missing(tmp_path):
    path = made_without_limit(tmp_path / "trace.db")
    with sqlite3.connect(path) as trace:
        trace.execute("INSERT INTO job_variable (name, value) VALUES ('WORLD_SIZE', '8')")
    (_, need), _ = answer_of("report", path)
    assert "NCCL takes 0.5 to 1.7 GB more" in need


def run_without_limit(tmp_path, *words):
    """Returns the last line that `run` prints to stderr, and the last sentence of the report."""
    command = ["run", "-o", tmp_path / "any.db", "--dry-run=any", "--", BUILD / "tests/takes_batch", *words]
    completed = run_command(*command, env=clean_environment())
    assert completed.returncode == 0, completed.stderr
    return completed.stderr.splitlines()[-1], sentences_of(load_json("report", tmp_path / "any.db"))[-1]


def test_a_run_without_limit_says_at_exit_what_its_report_says(tmp_path):
    last, need = run_without_limit(tmp_path, "--batch=20000")
    assert "needs a card of 19.92 GiB: 19.63 GiB of the program's own" in need
    assert "it fits on a10 (21.99 GiB), not on v100-16 (15.78 GiB)" in need
    assert last == "gpumemtrace: run: " + need.removeprefix("The run on device 0 ").removesuffix(".")


def test_a_run_with_a_limit_says_nothing_of_other_cards(tmp_path):
    command = ["run", "-o", tmp_path / "a.db", "--dry-run=16GiB", "--", BUILD / "tests/takes_batch"]
    assert "needs a card" not in run_command(*command, env=clean_environment()).stderr


def test_a_report_on_a_card_says_of_how_much_and_nothing_of_other_cards(tmp_path):
    path = made_without_limit(tmp_path / "trace.db", spec="16GiB", total=16 << 30)
    (peak,), following = answer_of("report", path)
    assert "Peak 700.00 MiB of 16.00 GiB on device 0" in peak
    assert following.startswith("gpumemtrace peak ")


@pytest.mark.parametrize("command", ["report", "peak", "ledger", "oom", "timeline", "phases"])
def test_no_answer_speaks_of_a_limit_that_there_is_not(tmp_path, command):
    answer, _ = answer_of(command, made_without_limit(tmp_path / "trace.db"))
    assert answer
    assert not any("1.00 TiB" in sentence or "1024" in sentence for sentence in answer)


def test_the_heading_says_that_there_was_no_limit(gpumemtrace, tmp_path):
    path = made_without_limit(tmp_path / "trace.db")
    assert "device    simulated, without limit\n" in gpumemtrace("report", path).stdout
    assert load_json("report", path)["trace"]["dry_run"] == "any"


# --- completed events and late ones ---


def made_with(path, events, megabytes, command="python train.py", **meta):
    trace = Trace(path, simulated=1, dry_run="16GiB", dry_run_events=events, command=command, **meta)
    trace.alloc(megabytes * MIB)
    return trace.write()


def bounds_of(*paths):
    return [(row["device"], row["done_bytes"], row["late_bytes"]) for row in load_json("report", *paths)["job"]["bounds"]]


def test_two_runs_of_a_program_are_bounds_in_either_order(tmp_path, gpumemtrace):
    done, late = made_with(tmp_path / "done.db", "done", 40), made_with(tmp_path / "late.db", "late", 120)
    assert bounds_of(done, late) == bounds_of(late, done) == [(0, 40 * MIB, 120 * MIB)]
    text = " ".join(gpumemtrace("report", late, done).stdout.split())
    assert (
        "The driver's peak on device 0 is 40.00 MiB if events complete at once (a lower bound), and 120.00 MiB if they "
        "complete only when the host waits for them; on a card expect a peak between the two."
    ) in text
    assert "device simulated, events late" in text


def test_where_both_need_the_same_that_is_said(tmp_path, gpumemtrace):
    done, late = made_with(tmp_path / "done.db", "done", 40), made_with(tmp_path / "late.db", "late", 40)
    text = " ".join(gpumemtrace("report", done, late).stdout.split())
    assert "The driver's peak on device 0 is 40.00 MiB, whether events complete at once or only when the host waits" in text


@pytest.mark.parametrize("other", [{"command": "python other.py"}, {"rank": 1}, {"events": "done"}, {"events": None}])
def test_other_runs_are_no_bounds(tmp_path, other):
    done = made_with(tmp_path / "done.db", "done", 40, rank=0)
    assert bounds_of(done, made_with(tmp_path / "late.db", **{"events": "late", "megabytes": 120, "rank": 0, **other})) == []
