# SPDX-License-Identifier: MIT
"""Every way to CUDA's functions × every family of calls: each event once, in the right account."""
import sys

import pytest

from conftest import BUILD, NO_STACKS_IF_SLOW, PRELOAD_FIRST, ROOT, simulator_environment

sys.path.insert(0, str(ROOT / "tests/gpu"))
import matrix  # noqa: E402

REFUSED = "a sanitizer refuses RTLD_DEEPBIND"


def is_refused(way):
    return bool(PRELOAD_FIRST) and way.name.endswith("deepbind")


CELLS = [(way, family) for way, family in matrix.cells() if not is_refused(way)]


@pytest.fixture(scope="module")
def result_of(tmp_path_factory):
    """result_of(way) runs the way's program with every family, once."""
    results = {}

    def run(way):
        if way.name not in results:
            environment = simulator_environment(
                "h100", LD_PRELOAD=BUILD / "libgpumemtrace.so", **NO_STACKS_IF_SLOW
            )
            results[way.name] = matrix.run(way, environment, tmp_path_factory.mktemp(way.name))
        return results[way.name]

    return run


@pytest.mark.parametrize(
    "way, family", CELLS, ids=[f"{way.name}-{family.api}-{family.name}" for way, family in CELLS]
)
def test_each_event_of_a_family_is_recorded_once_and_nothing_else(result_of, way, family):
    result = result_of(way)
    runs = result.runs_of(family)
    assert len(runs) == (2 if way.runtimes == "12_13" else 1)
    for entry in runs:
        if matrix.reachable(way, family):
            assert entry["reason"] == ""
        else:
            assert entry["reason"].endswith(": not handed out")
        assert matrix.differences(result, entry) == []


@pytest.mark.parametrize("way", matrix.WAYS, ids=[way.name for way in matrix.WAYS])
def test_the_report_has_each_accounts_sums_as_the_program_booked_them(result_of, way):
    if is_refused(way):
        pytest.skip(REFUSED)
    result = result_of(way)
    assert matrix.sums(result) == []


ANY = [way for way in matrix.WAYS if way.runtimes == "any" and not is_refused(way)]


@pytest.mark.parametrize("way", ANY, ids=[way.name for way in ANY])
def test_a_way_that_takes_any_runtime_is_right_with_that_of_cuda_12(tmp_path, way):
    environment = simulator_environment(
        "h100",
        LD_PRELOAD=BUILD / "libgpumemtrace.so",
        MATRIX_RUNTIME="libcudart.so.12",
        **NO_STACKS_IF_SLOW,
    )
    result = matrix.run(way, environment, tmp_path, way.executable("12"))
    assert result.books["families"]
    assert [matrix.differences(result, entry) for entry in result.books["families"]] == [
        [] for _ in result.books["families"]
    ]
    assert matrix.sums(result) == []


@pytest.mark.parametrize("name", dict.fromkeys(family.name for family in matrix.FAMILIES))
def test_the_report_of_a_family_alone_has_the_bytes_that_it_booked(tmp_path, name):
    way = matrix.WAYS[0]
    environment = simulator_environment("h100", LD_PRELOAD=BUILD / "libgpumemtrace.so")
    result = matrix.run(way, environment, tmp_path, family=name)
    assert result.books["families"]
    assert matrix.sums(result) == []
