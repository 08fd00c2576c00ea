# SPDX-License-Identifier: MIT
"""Fixtures of the recorder's tests. They run a program with the recorder and without it."""
import pytest

from support.run import LIBRARY
from support.twice import Folder, run


@pytest.fixture
def settings(sim_env, tmp_path):
    """Returns settings(NAME=value…), which returns the environment of a recorded run and the folder in which to run the
    program."""

    def make(**extra):
        folder = tmp_path / "recorded"
        folder.mkdir()
        environment = {
            "LD_PRELOAD": LIBRARY,
            "GPUMEMTRACE_OUTPUT": folder / "trace.db",
            "TMPDIR": folder,
            **extra,
        }
        return sim_env(**environment), folder

    return make


@pytest.fixture
def twice(settings, sim_env, tmp_path):
    """Returns twice(program, *arguments), which runs the program first without and then with the recorder and returns
    (the recorded run, its Folder). Both runs must end alike with status 5, which means that the program found no
    error."""

    def both(*arguments, same_output=True, **extra):
        bare_folder = tmp_path / "bare"
        bare_folder.mkdir()
        bare = run(arguments, sim_env(), bare_folder)
        environment, folder = settings(**extra)
        recorded = run(arguments, environment, folder)
        said = bare.stderr + recorded.stderr
        assert bare.status == 5, said
        assert recorded.status == bare.status, recorded.stdout + said
        if same_output:
            assert recorded.stdout == bare.stdout, said
        return recorded, Folder(folder)

    return both
