# SPDX-License-Identifier: MIT
"""Fixtures of the recorder's tests: they run a program with and without the recorder."""
import pytest

from support.run import LIBRARY
from support.twice import Folder, run


@pytest.fixture
def settings(sim_env, tmp_path):
    """settings(NAME=value…) returns the environment of a recorded run and the folder to run in."""

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
    """twice(program, *arguments) runs the program without and with the recorder and returns (the recorded run, its Folder).
    Both runs must end alike with status 5, which says that the program found no error."""

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
