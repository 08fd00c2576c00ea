# SPDX-License-Identifier: MIT
"""Fixtures of the recorder's tests: a program that is run with and without the recorder."""
import pytest

from support.run import LIBRARY
from support.twice import Folder, run


@pytest.fixture
def settings(sim_env, tmp_path):
    """settings(NAME=value…) is the environment of a recorded run, and the folder to run in."""

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
    """twice(program, *arguments) runs it with and without the recorder: (what it did, Folder). Both
    runs must end alike, and the program must have found nothing wrong itself."""

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
