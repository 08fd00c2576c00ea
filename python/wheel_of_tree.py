# SPDX-License-Identifier: MIT
"""Builds the wheel for pip. setuptools builds the Python packages, and `make install` puts the command, the library and
the simulator into the package gpumemtrace. The environment variable `O` names the build folder of make (default:
build/wheel). If that folder has a finished build, the build is not repeated."""

import os
import pathlib
import re
import shutil
import subprocess

from setuptools.build_meta import *  # noqa: F401,F403  the hooks that pip calls
from setuptools.command.build_py import build_py
from setuptools.command.egg_info import egg_info

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # for setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
VERSION = re.search(r'GMT_VERSION "(.*)"', (ROOT / "include/gpumemtrace/version.h").read_text()).group(1)


class Notes(egg_info):
    """Puts egg-info into build/wheel. Beside the packages, Python would take it for an installed distribution."""

    def initialize_options(self):
        super().initialize_options()
        folder = ROOT / "build/wheel"
        folder.mkdir(parents=True, exist_ok=True)
        self.egg_base = str(folder)


class BuildTree(build_py):
    def run(self):
        shutil.rmtree(self.build_lib, ignore_errors=True)  # remove files of an earlier build
        super().run()
        package = pathlib.Path(self.build_lib, "gpumemtrace").resolve()
        settings = ["PREFIX=", f"DESTDIR={package}", f"O={os.environ.get('O', 'build/wheel')}"]
        subprocess.run(["make", f"-j{os.cpu_count()}", "all", *settings], cwd=ROOT, check=True)
        subprocess.run(["make", "install", *settings], cwd=ROOT, check=True)
        (package / "lib/gpumemtrace/installed").unlink()


class Wheel(bdist_wheel):
    """Makes one wheel for any Python 3 on this kind of machine, because no file is linked to an interpreter."""

    def finalize_options(self):
        self.distribution.has_ext_modules = lambda: True
        super().finalize_options()

    def get_tag(self):
        return ("py3", "none", super().get_tag()[2])
