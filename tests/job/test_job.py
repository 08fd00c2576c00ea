# SPDX-License-Identifier: MIT
"""Several traces of one job: groups of similar ranks, the rank that stands out, and the sum of processes on one card."""
import json
import shlex
import sqlite3

import pytest

from support.run import load_json, run_command, sentences_of, texts_of
from support.tracefile import Trace

MIB, BOOT_NS = 1 << 20, 1_700_000_000_000_000_000
COMMANDS = ["report", "peak", "timeline", "frag", "phases", "leaks", "steps", "oom", "ledger", "info"]


@pytest.fixture
def rank(tmp_path):
    """Returns rank(number, [(bytes, line)]), which writes the trace of a rank with these allocations. Each line is a
    line of train.py."""

    def write(number, blocks, device=0, name=None, **meta):
        trace = Trace(tmp_path / (name or f"rank{number}.db"), **({} if number is None else {"rank": number}), **meta)
        trace.device(device, uuid=f"GPU-{number}", name="H100", total_bytes=80 << 30)
        for size, line in blocks:
            trace.alloc(size, device=device, stack=trace.stack(("/job/train.py", line, "forward"), ("/job/train.py", 9, "main")))
        return trace.write()

    return write


def groups_of(document):
    return [(group["who"], group["peak_bytes"], group["replayed"]) for group in document["job"]["groups"]]


LIKE = [(100 * MIB, 12), (50 * MIB, 15)]


def test_the_rank_that_stands_out_is_named_with_the_line_that_holds_more(rank, tmp_path):
    for number in range(7):
        rank(number, LIKE)
    rank(7, [*LIKE, (30 * MIB, 88)])
    document = load_json("report", tmp_path)
    assert sentences_of(document) == [
        "Rank 7 peaks at 180.00 MiB, 30.00 MiB above ranks 0-6.",
        "train.py:88 forward: it holds 30.00 MiB more.",
        "Ranks 0-6 peak at 150.00 MiB (driver).",
    ]
    assert document["next"] == f"gpumemtrace diff {tmp_path}/rank0.db {tmp_path}/rank7.db"
    assert groups_of(document) == [("rank 7", 180 * MIB, 1), ("ranks 0-6", 150 * MIB, 1)]
    first = document["job"]["groups"][0]
    assert (first["file"], first["line"], first["more_bytes"]) == ("train.py", 88, 30 * MIB)
    assert document["job"]["imbalance_ratio"] == pytest.approx(180 / ((7 * 150 + 180) / 8), rel=1e-4)


def failing(number, folder, size, fails_at, goes_on=False, **meta):
    """Makes a rank that holds `size` bytes. After `fails_at` freed blocks, the rank is refused 90 GiB. With goes_on, it
    allocates afterwards."""
    trace = Trace(folder / f"rank{number}.db", rank=number, **meta)
    trace.device(0, uuid=f"GPU-{number}", name="H100", total_bytes=80 << 30)
    trace.alloc(size, stack=trace.stack(("/job/train.py", 12, "forward")))
    for _ in range(fails_at):
        trace.free(trace.alloc(MIB))
    trace.fail(90 << 30, stack=trace.stack(("/job/train.py", 88, "forward")))
    for _ in range(goes_on * 3):
        trace.alloc(MIB)
    return trace.write()


def test_a_job_opens_with_the_rank_that_died_and_not_with_the_highest(rank, tmp_path):
    for number in range(2):
        rank(number, LIKE)
    rank(3, [*LIKE, (900 * MIB, 88)])
    died = failing(2, tmp_path, 150 * MIB, 0, exit_status=1)
    document = load_json("report", tmp_path)
    own = next(page for page in document["traces"] if page["trace"]["rank"] == 2)
    assert own["answer"][0].startswith("Out of memory, and the program died: train.py:88 forward asked for 90.00 GiB")
    assert document["answer"][0] == "Rank 2: " + own["answer"][0]
    assert document["verdict"][1:3] == own["verdict"][1:3] and [one["role"] for one in own["verdict"][1:3]] == ["why", "who"]
    assert " Rank 3 peaks at" in texts_of(document, "what")
    assert document["next"] == f"gpumemtrace oom {died}" == own["next"]
    assert document["job"]["failed_trace"] == str(died)
    text = run_command("report", tmp_path).stdout
    assert text.startswith("Rank 2: Out of memory, and the program died") and f"Next: {own['next']}" in " ".join(text.split("\nJob\n")[0].split())
    assert list(document) == ["schema", "answer", "verdict", "next", "more", "job", "traces"]


def test_of_several_that_failed_the_one_that_died_first_opens_the_job(rank, tmp_path):
    rank(0, LIKE)
    failing(1, tmp_path, 60 * MIB, 0)  # its exit status is not known
    failing(2, tmp_path, 60 * MIB, 9, exit_status=1)
    failing(3, tmp_path, 60 * MIB, 5, exit_status=1)
    failing(4, tmp_path, 60 * MIB, 1, goes_on=True, exit_status=0)
    answer = sentences_of(load_json("report", tmp_path))
    assert answer[0].startswith("Rank 3: Out of memory, and the program died") and "Allocations of ranks 1-2 failed, too." in answer


def test_what_a_rank_went_on_after_is_no_failure_of_the_job(rank, tmp_path):
    for number in range(3):
        rank(number, LIKE)
    failing(3, tmp_path, 900 * MIB, 0, goes_on=True, exit_status=0)
    document = load_json("report", tmp_path)
    assert document["answer"][0].startswith("Rank 3 peaks at") and document["job"]["failed_trace"] is None


def test_the_rank_that_died_has_its_page_among_many(rank, tmp_path):
    for number in range(30):
        if number != 20:
            rank(number, [((100 + 10 * number) * MIB, 12)])
    failing(20, tmp_path, 300 * MIB, 2, exit_status=1)
    document = load_json("report", tmp_path)
    assert len(document["traces"]) == 8 and document["answer"][0].startswith("Rank 20: Out of memory")


def test_ranks_that_died_alike_are_named_together(tmp_path):
    for number in range(4):
        failing(number, tmp_path, 300 * MIB, 2, exit_status=1)
    answer = load_json("report", tmp_path)["answer"]
    assert answer[0].startswith("Ranks 0-3: Out of memory") and not any("too" in sentence.split()[-1] for sentence in answer)


def test_of_ranks_that_are_alike_one_is_read_and_the_page_says_so(rank, tmp_path):
    for number in range(12):
        rank(number, LIKE)
    document = load_json("peak", tmp_path)
    assert (document["job"]["traces"], document["job"]["replayed_traces"]) == (12, 1)
    assert [page["trace"]["rank"] for page in document["traces"]] == [0]
    assert [(peak["rank"], peak["peak_bytes"]) for peak in document["job"]["peaks"]] == [(n, 150 * MIB) for n in range(12)]
    assert "1 of 12 traces were replayed" in " ".join(run_command("peak", tmp_path).stdout.split())


def test_every_trace_is_read_and_shown_if_that_is_asked_for(rank, tmp_path):
    for number in range(12):
        rank(number, LIKE)
    document = load_json("peak", tmp_path, "--every-trace")
    assert document["job"]["replayed_traces"] == len(document["traces"]) == 12
    assert groups_of(document) == [("ranks 0-11", 150 * MIB, 12)]


@pytest.mark.parametrize("other", [
    {"complete": 0}, {"lost_events": 3}, {"command": "python other.py"}, {"name": "again.db", "number": 0}, {"number": None}])  # fmt: skip
def test_who_may_have_done_something_else_is_read(rank, other):
    paths = [rank(0, LIKE), rank(**{"number": 1, "blocks": LIKE, **other})]
    assert load_json("peak", *paths)["job"]["replayed_traces"] == 2


@pytest.mark.parametrize("blocks", [
    [(100 * MIB, 12), (50 * MIB, 15), (0, 15)], [(100 * MIB, 12), (50 * MIB - 1, 15)], [(101 * MIB, 12), (49 * MIB, 15)]])  # fmt: skip
def test_who_allocated_something_else_is_read(rank, blocks):
    assert load_json("peak", rank(0, LIKE), rank(1, blocks))["job"]["replayed_traces"] == 2


def test_sums_that_the_recorder_wrote_tell_alike_ranks_without_their_events(rank):
    paths = [rank(0, LIKE), rank(1, LIKE), rank(2, LIKE)]
    for path, sums in zip(paths, ("2 9 9 0", "2 9 9 0", "2 9 9 1")):
        with sqlite3.connect(path) as database:
            database.execute("INSERT INTO meta VALUES ('allocation_sums', ?)", (sums,))
    assert [peak["replayed"] for peak in load_json("peak", *paths)["job"]["peaks"]] == [str(paths[i]) for i in (0, 0, 2)]


def test_the_recorder_writes_the_sums_of_what_it_stored(record, program):
    recording = record(program("families"))
    ((text,),) = recording.rows("SELECT value FROM meta WHERE key = 'allocation_sums'")
    ((count, largest),) = recording.rows("SELECT count(*), max(size_bytes) FROM event WHERE kind = 1")
    ((refused,),) = recording.rows("SELECT count(*) FROM event WHERE kind = 1 AND result IS NOT 0")
    sizes = [size for (size,) in recording.rows("SELECT size_bytes FROM event WHERE kind = 1")]
    assert count > 9 and [int(word) for word in text.split()] == [count, sum(sizes) % 2**64, largest, refused]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_opens_with_the_job(rank, tmp_path, command):
    for number in range(4):
        rank(number, LIKE)
    rank(4, [*LIKE, (30 * MIB, 88)])
    text = run_command(command, tmp_path).stdout
    assert text.startswith("Rank 4 peaks at 180.00 MiB, 30.00 MiB above ranks 0-3.\nWho: train.py:88 forward")
    assert text.index("Ranks that are alike") < text.index("rank      0") < text.index("rank      4")


def test_a_rank_without_memory_comes_last_and_is_named(rank, tmp_path):
    rank(0, [])
    rank(1, LIKE)
    rank(2, LIKE)
    document = load_json("report", tmp_path)
    assert document["answer"] == ["Ranks 1-2 peak at 150.00 MiB (driver).", "Rank 0 used no GPU memory."]
    assert [sentence["role"] for sentence in document["verdict"]] == ["what", "who"]
    assert [page["trace"]["rank"] for page in document["traces"]] == [1, 0]


def test_a_job_without_memory_says_so(rank, tmp_path):
    for number in range(3):
        rank(number, [])
    document = load_json("report", tmp_path)
    assert document["answer"] == ["No GPU memory was allocated."] and document["job"]["groups"] == []


def test_ranks_of_many_peaks_have_eight_pages_and_all_are_in_the_table(rank, tmp_path):
    for number in range(20):
        rank(number, [((100 + 10 * number) * MIB, 12)])
    document = load_json("peak", tmp_path)
    shown = [page["trace"]["rank"] for page in document["traces"]]
    assert len(shown) == document["job"]["shown_traces"] == 8 and 19 in shown
    assert [peak["peak_bytes"] // MIB for peak in document["job"]["peaks"]] == [100 + 10 * n for n in range(20)]
    assert "8 of them are shown" in run_command("peak", tmp_path).stdout


def test_peaks_within_two_per_cent_are_one_group(rank, tmp_path):
    for number, size in enumerate((1000, 1010, 1020, 1021)):
        rank(number, [(size * MIB, 12)])
    document = load_json("peak", tmp_path)
    assert [(group["who"], group["lowest_peak_bytes"] // MIB, group["peak_bytes"] // MIB) for group in document["job"]["groups"]] == [
        ("rank 3", 1021, 1021), ("ranks 0-2", 1000, 1020)]  # fmt: skip


def test_of_three_different_peaks_none_is_typical(rank, tmp_path):
    for number, size in enumerate((640, 1890, 2510)):
        rank(number, [(size * MIB, 12)])
    document = load_json("peak", tmp_path)
    assert sentences_of(document) == ["Rank 2 peaks at 2.45 GiB (driver).", "The lowest: rank 0 at 640.00 MiB."]
    assert document["next"] is None and not [group for group in document["job"]["groups"] if group["is_typical"]]


def test_devices_of_one_process_are_told_apart(tmp_path, rank):
    trace = Trace(tmp_path / "parallel.db", rank=0)
    for device, size in enumerate((300, 100, 100)):
        trace.alloc(size * MIB, device=device, stack=trace.stack(("train.py", 12 + device, "main")))
    document = load_json("peak", trace.write(), rank(1, [], name="idle.db"))
    assert groups_of(document) == [("rank 0 device 0", 300 * MIB, 1), ("rank 0 device 1; rank 0 device 2", 100 * MIB, 2)]
    assert document["answer"][0] == "Rank 0 device 0 peaks at 300.00 MiB, 200.00 MiB above rank 0 device 1; rank 0 device 2."
    assert document["job"]["imbalance_ratio"] == pytest.approx(300 / (500 / 3), rel=1e-4)


def test_a_rank_that_is_alike_has_its_own_device(tmp_path, rank):
    paths = [rank(number, LIKE, device=number) for number in range(4)]
    assert [(peak["device"], peak["uuid"]) for peak in load_json("peak", *paths)["job"]["peaks"]] == [
        (number, f"GPU-{number}") for number in range(4)]  # fmt: skip


def test_ranks_come_from_the_variables_of_the_launcher(tmp_path):
    paths = []
    for number, (name, value) in enumerate([("SLURM_PROCID", "3"), ("OMPI_COMM_WORLD_RANK", "4"), ("RANK", "5")]):
        trace = Trace(tmp_path / f"t{number}.db")
        trace.alloc(MIB)
        paths.append(trace.write())
        with sqlite3.connect(paths[-1]) as database:
            database.execute("INSERT INTO job_variable VALUES (?, ?)", (name, value))
            database.execute("INSERT INTO job_variable VALUES ('SLURM_NTASKS', '8')")
    document = load_json("peak", *paths)
    assert [peak["rank"] for peak in document["job"]["peaks"]] == [3, 4, 5]
    assert groups_of(document) == [("ranks 3-5", MIB, 1)]


def test_traces_without_ranks_go_by_their_names(rank):
    paths = [rank(None, LIKE, name=f"{name}.db") for name in ("train", "eval")]
    assert groups_of(load_json("peak", *paths)) == [("train.db, eval.db", 150 * MIB, 2)]


def test_a_list_of_names_is_cut_between_two_names(rank):
    paths = [rank(None, LIKE, name=f"resume.1974{i}.db") for i in range(3)]
    high = rank(None, [*LIKE, (30 * MIB, 88)], name="resume.20630.db")
    said = sentences_of(load_json("peak", *paths, high))
    assert said[0] == "resume.20630.db peaks at 180.00 MiB, 30.00 MiB above resume.19740.db, resume.19741.db …."
    assert "resume.19740.db … peak at 150.00 MiB (driver)." in said


def test_a_list_of_numbers_is_cut_between_two_numbers(rank, tmp_path):
    for number in range(100, 118, 2):
        rank(number, LIKE)
    rank(99, [*LIKE, (30 * MIB, 88)])
    assert "Ranks 100,102,104,106,108 … peak at 150.00 MiB (driver)." in sentences_of(load_json("peak", tmp_path))


# --- processes on one card ---


def on_card(path, start_ns, steps, uuid="GPU-one", boot_ns=BOOT_NS, **meta):
    """Records a process that holds one block at a time. steps: [(ns after the start, MiB that are live from then
    on)]."""
    trace = Trace(path, start_monotonic_ns=start_ns, start_unix_ns=boot_ns + start_ns, end_ns=steps[-1][0], **meta)
    trace.device(0, uuid=uuid, name="H100", total_bytes=80 << 30)
    live = None
    for time_ns, size in steps:
        if live is not None:
            trace.free(live)
        live = trace.alloc(size * MIB) if size else None
    path = trace.write()
    times = [time_ns for (time_ns, size), before in zip(steps, [(0, 0), *steps]) for _ in range(bool(before[1]) + bool(size))]
    with sqlite3.connect(path) as database:
        for seq, time_ns in enumerate(times, 1):
            database.execute("UPDATE event SET time_ns = ? WHERE seq = ?", (time_ns, seq))
    return path


FIRST, SECOND = [(10, 8), (50, 0)], [(10, 5), (50, 6), (60, 0)]


def test_processes_on_one_card_are_summed_at_one_moment(tmp_path):
    """The second process starts at 1010. The 8 MiB of the first process end at 1050, while the second process holds 5
    MiB. The two processes never hold 8 + 6 MiB at the same time."""
    paths = [on_card(tmp_path / "a.db", 1000, FIRST, rank=0), on_card(tmp_path / "b.db", 1010, SECOND, rank=1)]
    cards = load_json("peak", *paths)["job"]["cards"]
    assert [card["bytes"] // MIB for card in cards] == [8, 5]
    assert {(card["sum_bytes"] // MIB, card["sum_of_peaks_bytes"] // MIB, card["at_unix_ns"]) for card in cards} == {
        (13, 14, BOOT_NS + 1020)}  # fmt: skip
    said = sentences_of(load_json("peak", *paths))
    assert "2 processes on GPU-one held 13.00 MiB of its 80.00 GiB together at one moment, without their contexts." in said


def test_bytes_that_go_from_process_to_process_in_one_nanosecond_count_once(tmp_path):
    paths = [on_card(tmp_path / f"{rank}.db", start, [(10, 8), (50, 0)], rank=rank) for rank, start in ((0, 1040), (1, 1000))]
    assert {card["sum_bytes"] // MIB for card in load_json("peak", *paths)["job"]["cards"]} == {8}


@pytest.mark.parametrize("meta", [{"host": "node2"}, {"uuid": "GPU-two"}, {"simulated": 1}, {"boot_ns": 0}])
def test_processes_elsewhere_share_no_card(tmp_path, meta):
    paths = [on_card(tmp_path / "a.db", 1000, FIRST, rank=0), on_card(tmp_path / "b.db", 1010, SECOND, rank=1, **meta)]
    assert load_json("peak", *paths)["job"]["cards"] == []


@pytest.mark.parametrize("runs, count", [(("a", "a"), 2), (("a", "b"), 0)])
def test_dry_runs_share_a_card_only_in_one_run(tmp_path, runs, count):
    paths = [on_card(tmp_path / f"{i}.db", 1000, FIRST, rank=i, simulated=1, run_id=run) for i, run in enumerate(runs)]
    assert len(load_json("peak", *paths)["job"]["cards"]) == count


def test_a_process_that_is_over_holds_nothing(tmp_path):
    paths = [on_card(tmp_path / "a.db", 1000, [(10, 8), (40, 8)], rank=0), on_card(tmp_path / "b.db", 2000, SECOND, rank=1)]
    document = load_json("peak", *paths)
    assert {card["sum_bytes"] // MIB for card in document["job"]["cards"]} == {8}
    assert not [said for said in sentences_of(document) if "at one moment" in said]


def test_a_process_that_is_over_is_not_counted_among_those_of_one_moment(tmp_path):
    """The third process begins after the first one has ended, so only two of the three hold memory together."""
    paths = [on_card(tmp_path / "a.db", 1000, [(10, 8), (40, 8)], rank=0), on_card(tmp_path / "b.db", 2000, SECOND, rank=1),
             on_card(tmp_path / "c.db", 2000, SECOND, rank=2)]  # fmt: skip
    said = sentences_of(load_json("peak", *paths))
    assert "2 processes on GPU-one held 12.00 MiB of its 80.00 GiB together at one moment, without their contexts." in said


SECOND_NS = 1_000_000_000


@pytest.fixture
def said(tmp_path):
    """Returns said(), which returns the sentences of `oom` about other processes on the card. Process 10 fails 2 us
    after its start at 5 s. Process 11 holds 8 MiB of the card, from 20 ns to 80 us after its own start."""

    def answer(own_device=0, start_ns=5 * SECOND_NS - 1000, end_ns=80_000, **meta):
        failed = Trace(
            tmp_path / "a.db", pid=10, exit_status=1, start_monotonic_ns=5 * SECOND_NS, start_unix_ns=BOOT_NS + 5 * SECOND_NS
        )
        failed.device(0, uuid="GPU-one", name="H100", total_bytes=80 << 30)
        failed.device(1, uuid="GPU-three", name="H100", total_bytes=80 << 30)
        failed.alloc(8 * MIB)
        failed.fail(80 << 30, device=own_device)
        other = on_card(tmp_path / "b 1.db", start_ns, [(20, 8), (end_ns, 0)], pid=11, **meta)
        return [one for one in sentences_of(load_json("oom", failed.write(), other)) if one.startswith("Process ")]

    return answer


def test_a_failure_names_the_processes_on_its_card_with_the_command_that_shows_their_memory_then(said, tmp_path):
    (sentence,) = said()
    command = f"gpumemtrace ledger --at=3000ns '{tmp_path}/b 1.db'"
    assert sentence == f"Process 11 ran on the same card then; its memory: {command}"
    (device,) = load_json(*shlex.split(command)[1:])["devices"]
    assert device["moments"][0]["process_bytes"] == 8 * MIB


@pytest.mark.parametrize(
    "told",
    [{"uuid": "GPU-two"}, {"own_device": 1}, {"host": "node2"}, {"start_ns": 5 * SECOND_NS + 3000}, {"end_ns": 2999}],
    ids=["another card", "the failure is on another card", "another machine", "not yet started", "over by then"],
)
def test_a_failure_names_no_process_that_did_not_run_on_its_card_then(said, told):
    assert said(**told) == []


# --- memory on the card of another rank ---


@pytest.fixture
def two_ranks(tmp_path):
    """Returns two_ranks(...), which writes two ranks that each use a card of their own. Rank 1 has 30 MiB on the card of
    rank 0, too. Each allocation of rank 1 begins at the same time as one of rank 0, and `start_ns` moves rank 1."""

    def write(frames=(("/job/train.py", 31, "resume"),), start_ns=1000, stray=30, own=100):
        paths = []
        for number, blocks in ((0, [(0, 100, 12)]), (1, [(0, stray, None), (1, own, 12)])):
            trace = Trace(tmp_path / f"rank{number}.db", rank=number, start_monotonic_ns=start_ns if number else 1000,
                          start_unix_ns=BOOT_NS + (start_ns if number else 1000), end_ns=500_000)  # fmt: skip
            for device in range(2):
                trace.device(device, uuid=f"GPU-{device}", name="H100", total_bytes=80 << 30)
            for device, size, line in blocks:
                stack = trace.stack(("/job/train.py", line, "forward")) if line else trace.stack(*frames)
                trace.alloc(size * MIB, device=device, stack=stack)
            paths.append(trace.write())
        return paths

    return write


def test_memory_on_the_card_of_another_rank_opens_the_job_and_is_in_no_group(two_ranks):
    paths = two_ranks()
    document = load_json("report", *paths)
    assert sentences_of(document)[:4] == [
        "Rank 1 holds 30.00 MiB on device 0, which rank 0 uses.",
        "Made by train.py:31 resume.",
        "Call cudaSetDevice with the rank's own device before the first CUDA call.",
        "Ranks 0-1 peak at 100.00 MiB (driver).",
    ]
    assert document["next"] == f"gpumemtrace peak --device=0 {paths[1]}"
    assert groups_of(document) == [("ranks 0-1", 100 * MIB, 2)] and document["job"]["imbalance_ratio"] == 1
    assert len(document["job"]["peaks"]) == 3


def test_map_location_is_advised_only_if_a_frame_of_torch_load_made_the_memory(two_ranks):
    frames = (("/usr/lib/python3/torch/serialization.py", 1500, "load"), ("/job/train.py", 31, "resume"))
    said = sentences_of(load_json("report", *two_ranks(frames)))
    assert said[1] == "Made by train.py:31 resume, through torch.load."
    assert said[2] == 'Give torch.load a map_location: "cpu", or the rank\'s own device.'


@pytest.mark.parametrize("changed", [{"start_ns": 2_000_000}, {"own": 20}], ids=["not at the same time", "its main card"])
def test_memory_that_is_not_held_beside_the_owner_of_the_card_is_not_astray(two_ranks, changed):
    assert not [one for one in sentences_of(load_json("report", *two_ranks(**changed))) if "which rank 0 uses" in one]


# --- folders ---


def test_a_folder_stands_for_its_traces_in_the_order_of_their_numbers(rank, tmp_path):
    paths = [rank(number, LIKE) for number in (0, 2, 10)]
    (tmp_path / "notes.txt").write_text("no trace")
    assert [peak["trace"] for peak in load_json("info", tmp_path)["job"]["peaks"]] == [str(path) for path in paths]


def test_a_folder_with_one_trace_is_that_trace(rank, tmp_path):
    rank(0, LIKE)
    assert load_json("peak", tmp_path)["schema"] == "gpumemtrace.peak/1"


def test_a_folder_without_traces_is_refused(tmp_path):
    completed = run_command("peak", tmp_path)
    assert completed.returncode == 2 and "has no trace (*.db)" in completed.stderr


def test_check_takes_each_trace_of_a_folder(rank, tmp_path):
    for number in range(3):
        rank(number, LIKE)
    completed = run_command("check", tmp_path, "--max-peak=1MiB", "--json")
    document = json.loads(completed.stdout)
    assert completed.returncode == 1 and len(document["traces"]) == 3
    assert len([check for check in document["checks"] if not check["passed"]]) == 3
