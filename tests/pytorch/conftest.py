# SPDX-License-Identifier: MIT
"""Fixtures of the tests with the real PyTorch: each test runs on every installed build."""
import pytest

from support.pytorch_builds import BUILDS, Build, Lacks


@pytest.fixture(scope="session", params=BUILDS)
def torch_build(request):
    build = Build(request.param)
    if build.missing():
        pytest.skip(f"PyTorch's build '{build.name}' is not there: {build.missing()}")
    return build


@pytest.fixture(scope="session")
def dry_run(torch_build, tmp_path_factory):
    """Returns dry_run(script, *arguments, **settings), which returns a recording. Tests share the recording of equal calls."""
    recordings = {}

    def run(*words, **settings):
        key = (words, tuple(sorted(settings.items())))
        if key not in recordings:
            try:
                recordings[key] = torch_build.dry_run(tmp_path_factory.mktemp("dry_run"), *words, **settings)
            except Lacks as lacks:
                pytest.skip(str(lacks))
        return recordings[key]

    return run
