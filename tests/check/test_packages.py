# SPDX-License-Identifier: MIT
"""make check-packages: every page in the package of `make deb` and in the wheel of `make wheel` leads to files that lie in it."""
import subprocess
import zipfile

import pytest

from support.installed_pages import links, lost_links
from support.run import BUILD, TIMEOUT_S


def made(pattern, command):
    found = sorted(BUILD.glob(pattern))
    if not found:
        pytest.skip(f"there is no {BUILD / pattern}; {command} makes it")
    return found[-1]


def names(folder):
    """Returns {name of a page: names of the files that it names}."""
    found = {}
    for page, place in links(folder):
        found.setdefault(page.name, set()).add(place.name)
    return found


def test_pages_of_the_package_lead_to_files_in_it(tmp_path):
    package = made("gpumemtrace_*.deb", "make deb")
    subprocess.run(["dpkg-deb", "--extract", package, tmp_path], check=True, timeout=TIMEOUT_S)
    assert lost_links(tmp_path) == []
    found = names(tmp_path)
    assert found["changelog.gz"] == {"NEWS.gz"}
    assert "settings.md" in found["gpumemtrace.1.gz"] and "push-rank" in found["fleet.md"]


def test_pages_of_the_wheel_lead_to_files_in_it(tmp_path):
    zipfile.ZipFile(made("gpumemtrace-*.whl", "make wheel")).extractall(tmp_path)
    assert lost_links(tmp_path) == []
    found = names(tmp_path)
    assert "settings.md" in found["gpumemtrace.1"] and "push-rank" in found["fleet.md"]
    assert found["METADATA"] == {"gpumemtrace", "pytest.md"}
