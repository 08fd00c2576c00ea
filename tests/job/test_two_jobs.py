# SPDX-License-Identifier: MIT
"""Comparison of two jobs. Ranks are matched by number, and the rank that changed most comes first."""
import pytest

from support.run import load_json, run_command, sentences_of
from support.tracefile import MIB, Trace


@pytest.fixture
def job(tmp_path):
    """Returns job(name, {rank: [(bytes, line)]}), which makes a folder with a trace of each rank. A key of the
    dictionary may also be (rank, device)."""

    def write(name, ranks):
        folder = tmp_path / name
        folder.mkdir()
        for number, blocks in ranks.items():
            rank, device = number if isinstance(number, tuple) else (number, 0)
            trace = Trace(folder / f"rank{rank}.db", **({"rank": rank} if isinstance(rank, int) else {}))
            for size, line in blocks:
                trace.alloc(size, device=device, stack=trace.stack(("/job/train.py", line, "forward"), ("/job/train.py", 9, "main")))
            trace.write()
        return folder

    return write


LIKE = [(100 * MIB, 12), (50 * MIB, 15)]
MORE = [*LIKE, (30 * MIB, 88)]


def groups_of(document):
    return [(group["who"], group["delta_bytes"]) for group in document["jobs"]["groups"]]


def test_the_rank_that_changed_most_comes_first_with_the_line_that_holds_more(job):
    before = job("a", dict.fromkeys(range(4), LIKE))
    after = job("b", {0: LIKE, 1: LIKE, 2: [*LIKE, (9 * MIB, 40)], 3: MORE})
    document = load_json("diff", before, after)
    assert sentences_of(document) == [
        "Rank 3: the peak grew by 30.00 MiB, from 150.00 MiB to 180.00 MiB (driver).",
        "train.py:88 forward: it holds 30.00 MiB more.",
        "Among the others 1 grew, 0 fell, 2 did not change.",
    ]
    assert document["next"] == f"gpumemtrace diff {before}/rank3.db {after}/rank3.db"
    assert groups_of(document) == [("rank 3", 30 * MIB), ("rank 2", 9 * MIB), ("ranks 0-1", 0)]
    assert [group["line"] for group in document["jobs"]["groups"]] == [88, 40, None]


def test_the_page_of_the_rank_that_changed_most_follows(job):
    before, after = job("a", {0: LIKE, 1: LIKE}), job("b", {0: LIKE, 1: MORE})
    (page,) = load_json("diff", before, after)["traces"]
    assert page["schema"] == "gpumemtrace.diff/1" and page["before"]["path"] == f"{before}/rank1.db"
    assert [(row["line"], row["delta_bytes"]) for row in page["devices"][0]["sites"]] == [(88, 30 * MIB)]
    assert len(load_json("diff", before, after, "--every-trace")["traces"]) == 2


def test_ranks_that_changed_alike_are_one_row(job):
    before, after = job("a", dict.fromkeys(range(8), LIKE)), job("b", dict.fromkeys(range(8), MORE))
    document = load_json("diff", before, after)
    assert groups_of(document) == [("ranks 0-7", 30 * MIB)]
    assert document["answer"][0].startswith("Ranks 0-7: the peak grew by up to 30.00 MiB")
    assert [pair["rank"] for pair in document["jobs"]["pairs"]] == list(range(8))


def test_every_row_is_the_difference_of_the_peaks(job):
    before = job("a", {rank: [((100 + rank) * MIB, 12)] for rank in range(6)})
    after = job("b", {rank: [((100 + rank * rank) * MIB, 12)] for rank in range(6)})
    for pair in load_json("diff", before, after)["jobs"]["pairs"]:
        peaks = [load_json("report", pair[side])["devices"][0]["driver"]["peak_bytes"] for side in ("before", "after")]
        assert [pair["before_bytes"], pair["after_bytes"]] == peaks and pair["delta_bytes"] == peaks[1] - peaks[0]


def test_what_fell_most_comes_first_too(job):
    document = load_json("diff", job("a", {0: LIKE, 1: MORE}), job("b", {0: [*LIKE, (MIB, 40)], 1: LIKE}))
    assert groups_of(document) == [("rank 1", -30 * MIB), ("rank 0", MIB)]
    assert document["answer"][0] == "Rank 1: the peak fell by 30.00 MiB, from 180.00 MiB to 150.00 MiB (driver)."


def test_jobs_of_equal_peaks_say_so(job):
    document = load_json("diff", job("a", dict.fromkeys(range(3), LIKE)), job("b", dict.fromkeys(range(3), LIKE)))
    assert document["answer"] == ["Ranks 0-2: no peak changed."]


def test_ranks_that_are_in_one_job_alone_are_named(job):
    document = load_json("diff", job("a", {0: LIKE, 1: LIKE, 7: LIKE}), job("b", {0: LIKE, 1: MORE, 2: LIKE, 3: LIKE}))
    assert sentences_of(document)[-2:] == ["Rank 7 is gone.", "Ranks 2-3 are new."]


def test_traces_without_ranks_are_matched_by_the_names_of_their_files(job):
    document = load_json("diff", job("a", {"x": LIKE, "y": LIKE}), job("b", {"x": MORE, "y": LIKE}))
    assert groups_of(document)[0] == ("rankx.db", 30 * MIB)


def test_a_folder_with_one_trace_is_compared_as_that_trace(job):
    assert load_json("diff", job("a", {0: LIKE}), job("b", {0: MORE}))["schema"] == "gpumemtrace.diff/1"


def test_one_trace_is_compared_with_its_rank_in_a_job(job):
    before, after = job("a", {1: LIKE}), job("b", {0: LIKE, 1: MORE})
    assert groups_of(load_json("diff", before / "rank1.db", after)) == [("rank 1", 30 * MIB)]


@pytest.mark.parametrize("words, said", [
    (["--at=end"], "two folders are compared by the peaks"), (["--layer=pool"], "two folders are compared by the peaks"), ([], "no rank used memory in both jobs")])  # fmt: skip
def test_what_cannot_be_compared_is_refused_with_what_to_do(job, words, said):
    after = {0: LIKE, 1: MORE} if words else {2: LIKE, 3: LIKE}
    completed = run_command("diff", job("a", {0: LIKE, 1: LIKE}), job("b", after), *words)
    assert completed.returncode == 2 and said in completed.stderr


def test_one_folder_of_several_traces_needs_another(job):
    completed = run_command("diff", job("a", {0: LIKE, 1: LIKE}))
    assert completed.returncode == 2 and "give a second TRACE" in completed.stderr
