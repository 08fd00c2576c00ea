# SPDX-License-Identifier: MIT
"""The interpreters on which tests/python runs. `make check` uses Debian's own interpreter. `make check-pythons` uses
all interpreters that it finds, and those in a folder of unpacked Debian packages."""
import os
import pathlib
import re
import subprocess
import sys

from support.run import BUILD, ROOT, TIMEOUT_S, clean_environment

FIRST, LAST = (3, 8), (3, 15)
VERSIONS = ROOT / ".ci" / "versions"


class Interpreter:
    """A Python interpreter. command: the words that start it; version: for example (3, 11); environment: the variables
    that it needs."""

    def __init__(self, name, command, environment=None):
        self.name, self.command, self.environment = name, command, environment or {}
        self.version = None

    def ask(self, code):
        """Returns the output of a line of Python code, or None if the interpreter does not run."""
        try:
            completed = subprocess.run(
                [*self.command, "-c", code],
                env={**clean_environment(), **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=TIMEOUT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError):
            return None
        return completed.stdout.strip()

    def greenlet(self, folder):
        """Returns the environment in which the interpreter can import greenlet, or None if there is no greenlet for it.
        make check-pythons installs a missing greenlet into `folder`."""
        if self.ask("import greenlet; print(1)") == "1":
            return {}
        (versions,) = re.findall('greenlet_versions="(.*)"', VERSIONS.read_text())
        for version in versions.split() if os.environ.get("GPUMEMTRACE_PYTHONS") else []:
            wanted = ["install", "--quiet", "--no-deps", "--target", folder, f"greenlet=={version}"]
            fetched = subprocess.run(
                [*self.command, "-m", "pip", *map(str, wanted)],
                env={**clean_environment(), **self.environment},
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=TIMEOUT_S,
            )
            if fetched.returncode == 0:
                return {"PYTHONPATH": str(folder)}
        return None

    def is_free_threaded(self):
        return self.ask("import sysconfig; print(sysconfig.get_config_var('Py_GIL_DISABLED'))") == "1"

    def is_known(self):
        return FIRST <= self.version <= LAST

    def find_version(self):
        said = self.ask("import sys; print('%d %d' % sys.version_info[:2])")
        self.version = tuple(map(int, said.split())) if said else None
        return self.version


def in_folder(folder):
    """Yields the interpreters of an unpacked Debian. Each interpreter runs with the loader and the libraries of that
    Debian, without chroot."""
    root = pathlib.Path(folder)
    loaders = sorted(root.glob("usr/lib*/ld-linux-*.so.*"))
    libraries = sorted(root.glob("usr/lib/*-linux-gnu"))
    for path in sorted(root.glob("usr/bin/python3.*")):
        if not loaders or not libraries or not re.fullmatch(r"python3\.\d+d?", path.name):
            continue
        # With --library-path the loader ignores LD_LIBRARY_PATH.
        search = f"{BUILD}/simulator:{libraries[0]}:{root}/usr/lib"
        command = [str(loaders[0]), "--argv0", str(path), "--library-path", search, str(path)]
        yield Interpreter(f"folder-{path.name}", command, {"PYTHONHOME": str(root / "usr")})


def in_path():
    seen = {os.path.realpath(sys.executable)}
    for folder in os.environ.get("PATH", "").split(":"):
        for path in sorted(pathlib.Path(folder or ".").glob("python3.*")):
            if re.fullmatch(r"python3\.\d+t?", path.name) and os.path.realpath(path) not in seen:
                seen.add(os.path.realpath(path))
                yield Interpreter(f"path-{path.name}", [str(path)])


def of_pyenv():
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv"))
    for version in sorted(root.glob("versions/*/bin/python")):
        yield Interpreter(f"pyenv-{version.parent.parent.name}", [str(version)])


def found():
    own = Interpreter("debian", [sys.executable])
    own.version = sys.version_info[:2]
    if not os.environ.get("GPUMEMTRACE_PYTHONS"):
        return [own]
    others = [*of_pyenv(), *in_path()]
    if os.environ.get("GPUMEMTRACE_PYTHON_FOLDER"):
        others += in_folder(os.environ["GPUMEMTRACE_PYTHON_FOLDER"])
    # The list leaves out those commands of pyenv whose interpreter is missing, because they do not run.
    return [own, *(each for each in others if each.find_version())]
