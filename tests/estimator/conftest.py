# SPDX-License-Identifier: MIT
"""Fixtures that run `gpumemtrace estimate` on a model."""
import json

import pytest


@pytest.fixture
def write(tmp_path):
    """Returns write(model) and write(text), which return the path of a file with the model or the text."""

    def write(content):
        path = tmp_path / "model.json"
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    return write


@pytest.fixture
def estimate(gpumemtrace, write):
    """Returns estimate(model or path, options …), which returns the JSON of a successful run of the command."""

    def estimate(source, *options):
        path = write(source) if isinstance(source, dict) else source
        completed = gpumemtrace("estimate", path, *options, "--json")
        assert completed.returncode == 0, completed.stderr
        return json.loads(completed.stdout)

    return estimate


@pytest.fixture
def refused(gpumemtrace, write):
    """Returns refused(model, parts …), which expects exit status 2, empty stdout, and one error line with all parts."""

    def refused(source, *parts, options=()):
        path = source if hasattr(source, "exists") else write(source)
        completed = gpumemtrace("estimate", path, *options)
        assert completed.returncode == 2, completed.stdout
        assert completed.stdout == ""
        assert len(completed.stderr.splitlines()) == 1, completed.stderr
        assert completed.stderr.startswith("gpumemtrace: estimate: ")
        for part in parts:
            assert part in completed.stderr

    return refused
