# SPDX-License-Identifier: MIT
"""Fixtures for the tests of the HTML page, and the selection of these tests. All tests run if the command line names
this folder or a part of it, as `make check-browser` does. In all other cases only the smoke tests run."""
import pathlib

import pytest

from web.browser import browser  # noqa: F401
from web.pages import a_run, html_of

FOLDER, SMOKE = pathlib.Path(__file__).parent, "test_smoke.py"


def pytest_ignore_collect(collection_path, config):
    asked = [pathlib.Path(word.partition("::")[0]).resolve() for word in config.args]
    is_asked = any(FOLDER in (path, *path.parents) for path in asked)
    return True if collection_path.name.startswith("test_") and collection_path.name != SMOKE and not is_asked else None


@pytest.fixture(scope="module")
def run_page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    trace = a_run(folder / "run.db")
    return trace, html_of(folder, trace)
