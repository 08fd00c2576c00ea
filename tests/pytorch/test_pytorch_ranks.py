# SPDX-License-Identifier: MIT
"""If all ranks run on one machine, NCCL delivers the other ranks' data to each rank, or says in one line why it
cannot."""
import pytest

from support.run import ROOT
from test_pytorch_dry_run import looked

SCRIPT = ROOT / "tests/job/ranks.py"
PARTS = ("objects", "reductions", "exchanges", "groups", "large", "unused", "clipped", "sharded", "tensor_parallel", "pipeline",
         "context")  # fmt: skip


@pytest.fixture(params=[2, 4])
def ranks(request, dry_run):
    """Returns one {part: result} per rank, in the order of the ranks."""
    seen = looked(dry_run(SCRIPT, request.param, *PARTS, spec=f"{request.param}x16GiB", GPUMEMTRACE_STACKS="none"))
    assert seen["statuses"] == [0] * request.param
    return seen["ranks"]


def failed(dry_run, part, *more, **settings):
    """Returns the error of `part` from each of two ranks, or None for a rank that was killed."""
    seen = looked(dry_run(SCRIPT, 2, part, *more, spec="2x16GiB", GPUMEMTRACE_STACKS="none", **settings))
    return [rank and rank[part] for rank in seen["ranks"]]


def test_objects_of_all_ranks_and_of_one_come_to_each(ranks):
    for seen in ranks:
        assert seen["objects"]["gathered"] == [[rank, 10 * rank] for rank in range(len(ranks))]
        assert seen["objects"]["said"] == [{"rank": 0}, 0]


def test_reductions_are_right_in_every_type(ranks):
    count = len(ranks)
    first, second = {"SUM": 0, "PRODUCT": 1, "MAX": count, "MIN": 1, "AVG": (count + 1) / 2}, {"MAX": 2, "MIN": 2, "AVG": 2}
    for rank in range(count):
        first["SUM"] += rank + 1
        first["PRODUCT"] *= rank + 1
    second.update(SUM=2 * count, PRODUCT=2**count)
    for rank, seen in enumerate(one["reductions"] for one in ranks):
        assert seen.pop("reduce") == ([first["SUM"]] * 2 if rank == 1 else None)
        assert seen.pop("scattered") == [count * (2 * rank + i) + count * (count - 1) / 2 for i in range(2)]
        assert seen.pop("halves") == [first["SUM"] / 2] * 2
        assert len(seen) == 7 * 4 + 4
        for name, values in seen.items():
            assert values == [first[name.split()[0]], second[name.split()[0]]], name


def test_each_rank_gets_what_the_others_sent_to_it(ranks):
    count = len(ranks)
    everything = [[rank, 10 * rank] for rank in range(count)]
    for rank, seen in enumerate(one["exchanges"] for one in ranks):
        assert seen["all"] == everything
        assert seen["uneven"] == [of for of in range(count) for _ in range(rank + 1)]
        assert seen["gathered"] == (everything if rank == 0 else None)
        assert seen["scattered"] == 7 * rank
        assert seen["ring"] == everything[rank - 1]
        assert seen["sent"] == (everything[rank] if rank % 2 == 0 else [rank, 10 * rank - 9])


def test_sub_groups_reduce_among_themselves(ranks):
    for rank, seen in enumerate(ranks):
        assert seen["groups"] == [sum(one + 1 for one in range(rank % 2, len(ranks), 2)), 3 if rank < 2 else rank + 1]


def test_sub_groups_that_nccl_splits_reduce_among_themselves(dry_run):
    seen = looked(dry_run(SCRIPT, 4, "bound", "groups", spec="4x16GiB", GPUMEMTRACE_STACKS="none"))
    assert [rank["groups"] for rank in seen["ranks"]] == [[4, 3], [6, 3], [4, 3], [6, 4]]


def test_what_is_too_large_to_move_keeps_its_shape(ranks):
    assert all(seen["large"] == [1024, 1024] for seen in ranks)


def test_ddp_averages_gradients_of_parameters_that_not_every_rank_used(ranks):
    count = len(ranks)
    for seen in ranks:
        assert seen["unused"]["weights"] == ranks[0]["unused"]["weights"]
        for which, gradient in enumerate(seen["unused"]["gradients"]):
            assert gradient == [sum(rank + 1 for rank in range(which, count, 2)) / count] * 4


def test_fsdp_1_clips_by_the_norm_over_all_ranks(ranks):
    for seen in ranks:
        assert seen["clipped"] == {"norm": 8 * (len(ranks) + 1) / 2, "after": 1}


def test_fsdp_2_clips_by_the_norm_of_the_model_trained_whole(ranks):
    for seen in ranks:
        assert seen["sharded"] == {"right": True, "rows": 8 // len(ranks)}


def test_tensor_and_pipeline_parallel_models_compute_what_they_compute_whole(ranks):
    assert all(seen["tensor_parallel"] and seen["pipeline"] for seen in ranks)


def test_a_sequence_is_shared_by_context_parallel_ranks(ranks):
    count = len(ranks)
    for rank, seen in enumerate(ranks):
        assert seen["context"] == [[1, 2, 8, 16], [1, 2, 8 * count, 16], rank]


def test_a_killed_rank_is_named_to_those_that_wait_for_it(dry_run):
    first, second = failed(dry_run, "killed")
    assert second is None
    assert "rank 1 of 2 (process " in first and "has ended, while rank 0 waits for it" in first


def test_ranks_that_call_for_different_sizes_are_told_both(dry_run):
    first, second = failed(dry_run, "differing")
    assert "rank 0 calls AllReduce of 2 float, rank 1 AllReduce of 3 float" in first
    assert "rank 1 calls AllReduce of 3 float, rank 0 AllReduce of 2 float" in second


def test_a_rank_that_makes_no_call_is_not_waited_for_without_end(dry_run):
    _, second = failed(dry_run, "late")
    assert "rank 0 of 2 has not made its call for 2 s, while rank 1 waits" in second
