# SPDX-License-Identifier: MIT
"""Every way to call the functions of CUDA, with every family of calls. Each event is recorded once and in the right
account."""
import pytest

from support import matrix
from support.run import LIBRARY, NO_STACKS_IF_SLOW, PRELOAD_FIRST, simulator_environment

WAYS = [
    pytest.param(
        way,
        id=way.name,
        marks=pytest.mark.skipif(
            bool(PRELOAD_FIRST) and way.name.endswith("deepbind"), reason="a sanitizer refuses RTLD_DEEPBIND"
        ),
    )
    for way in matrix.WAYS
]
OF_ANY_RUNTIME = [way for way in WAYS if way.values[0].runtimes == "any"]


def recorded(way, folder, **options):
    environment = simulator_environment("h100", LD_PRELOAD=LIBRARY, **NO_STACKS_IF_SLOW)
    return matrix.run(way, environment, folder, **options)


@pytest.fixture(scope="module", params=WAYS)
def way(request):
    return request.param


@pytest.fixture(scope="module")
def result(way, tmp_path_factory):
    """Returns the result of the program that calls every family in this way. The program runs only once."""
    return recorded(way, tmp_path_factory.mktemp(way.name))


def problems_of_cell(result, way, family):
    runs = result.runs_of(family)
    expected = 2 if way.runtimes == "12_13" else 1
    if len(runs) != expected:
        yield f"run {len(runs)} times instead of {expected}"
    for entry in runs:
        reason = entry["reason"]
        right = not reason if matrix.reachable(way, family) else reason.endswith(": not handed out")
        if not right:
            yield f"{entry['mark']}: it ended with {reason or 'success'}"
        yield from matrix.differences(result, entry)


def test_each_event_of_a_family_is_recorded_once_and_nothing_else(result, way):
    families = matrix.families_of(way)
    problems = [
        f"{way.name}-{family.api}-{family.name}: {problem}"
        for family in families
        for problem in problems_of_cell(result, way, family)
    ]
    assert len(families) > 20
    assert not problems, "\n".join(problems)


def test_the_report_has_each_accounts_sums_as_the_program_booked_them(result):
    assert matrix.sums(result) == []


@pytest.mark.parametrize("way", OF_ANY_RUNTIME)
def test_a_way_that_takes_any_runtime_is_right_with_that_of_cuda_12(tmp_path, way, monkeypatch):
    monkeypatch.setenv("MATRIX_RUNTIME", "libcudart.so.12")
    result = recorded(way, tmp_path, program=way.executable("12"))
    assert result.books["families"]
    problems = [line for entry in result.books["families"] for line in matrix.differences(result, entry)]
    assert not problems, "\n".join(problems)
    assert matrix.sums(result) == []


def test_the_report_of_a_family_alone_has_the_bytes_that_it_booked(tmp_path):
    names = list(dict.fromkeys(family.name for family in matrix.FAMILIES))
    problems = []
    for name in names:
        folder = tmp_path / name
        folder.mkdir()
        result = recorded(matrix.WAYS[0], folder, family=name)
        lines = matrix.sums(result) if result.books["families"] else ["no books"]
        problems += [f"{name}: {line}" for line in lines]
    assert len(names) > 50
    assert not problems, "\n".join(problems)
