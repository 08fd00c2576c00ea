# SPDX-License-Identifier: MIT
"""Under every RLIMIT_NOFILE, a recorded program behaves as without the recorder: its CUDA calls have the same results,
its descriptors have the same numbers, and it ends in the same way. Its traces can be read."""
import resource

import pytest

from support.endings import complaint, difference, end_of
from support.run import BUILD, LIBRARY, simulator_environment

LIMITS = range(3, 65)
SOME = (3, 4, 5, 7, 9, 12, 20, 33, 40)


def ending(folder, limit, inherited, **settings):
    arguments = [] if inherited else [limit]
    return end_of(
        [BUILD / "tests/few_descriptors", *arguments],
        env=simulator_environment(**settings),
        cwd=folder,
        preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))) if inherited else None,
    )


def wrong_with(folder, limit, inherited):
    """Returns the difference between the program alone and the recorded program, "" if there is none. With a limit of 3
    the loader cannot open a library, so the program does not start in either case."""
    alone = ending(folder, limit, inherited)
    recorded = ending(
        folder, limit, inherited, LD_PRELOAD=LIBRARY, GPUMEMTRACE_OUTPUT=folder / "trace.%p.db", TMPDIR=folder
    )
    assert alone.status in (5, 127), alone.stderr
    if recorded.late or (recorded.status, recorded.stdout) != (alone.status, alone.stdout):
        return f"{recorded.status} instead of {alone.status}, {difference(alone.stdout, recorded.stdout)}, {recorded.stderr}"
    for trace in folder.glob("trace.*.db"):
        read = end_of([BUILD / "gpumemtrace", "report", trace], env=simulator_environment())
        if complaint(read) or read.status:
            return f"its trace: {complaint(read)} {read.stderr}"
    return ""


@pytest.mark.parametrize("inherited", [True, False], ids=["inherited", "set"])
def test_a_program_is_unharmed_under_any_limit_of_descriptors(tmp_path, effort, inherited):
    wrong = []
    for limit in effort(SOME, LIMITS):
        folder = tmp_path / str(limit)
        folder.mkdir()
        said = wrong_with(folder, limit, inherited)
        if said:
            wrong.append(f"RLIMIT_NOFILE {limit}: {said}")
    assert not wrong, f"{len(wrong)}:\n" + "\n".join(wrong[:5])
