# SPDX-License-Identifier: MIT
"""The process in which one test runs: `python child.py REQUEST`. It starts pytest with the arguments of the parent
process, runs only that test, and writes the test's reports. The parent process checks the limits.

REQUEST is a JSON file: "arguments" of pytest, the test's "nodeid" and its "place" for the command
line, "reports" (the file to write), "basetemp", "worker" (xdist's name for it), "has_cov" (pytest-cov
is active) and "path" (sys.path).
"""

import json
import sys

import pytest
from _pytest.config import _prepareconfig

NAME = "gpumemtrace-child"


class Child:
    """A plugin that only this process registers, so that plugin.py can tell it from the parent."""

    def __init__(self, config, nodeid, file):
        self.config, self.nodeid, self.file = config, nodeid, file
        self.limits = {}

    def write(self, **line):
        # Flush each line, so that a killed test leaves its earlier lines.
        print(json.dumps(line, default=repr), file=self.file, flush=True)

    @pytest.hookimpl(trylast=True)
    def pytest_configure(self):
        """Removes the terminal reporter, because the parent prints the reports."""
        terminal = self.config.pluginmanager.get_plugin("terminalreporter")
        if terminal:
            self.config.pluginmanager.unregister(terminal)

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if item.nodeid == self.nodeid]

    def pytest_collectreport(self, report):
        if report.failed:
            self.write(error=str(report.longrepr))

    def pytest_runtest_logreport(self, report):
        self.write(report=self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_sessionfinish(self):
        self.write(limits=self.limits)


def of(config):
    """Returns the Child of this process, or None in any other process."""
    return config.pluginmanager.get_plugin(NAME)


def configured(request):
    """Configures pytest for one test in one process. To plugins the process looks like a worker of xdist, so that they
    leave the writing of files to the parent process."""
    config = _prepareconfig([*request["arguments"], *(["--no-cov"] if request["has_cov"] else [])])
    config.args = [request["place"]]
    config.workerinput = {"workerid": request["worker"]}
    config.option.basetemp = request["basetemp"]
    for option, value in (("numprocesses", None), ("dist", "no"), ("tx", []), ("lf", False), ("failedfirst", False)):
        if hasattr(config.option, option):
            setattr(config.option, option, value)
    return config


def run(request):
    config = configured(request)
    with open(request["reports"], "w", encoding="utf-8") as file:
        config.pluginmanager.register(Child(config, request["nodeid"], file), NAME)
        return config.hook.pytest_cmdline_main(config=config)


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as asked:
        request = json.load(asked)
    sys.path[:] = request["path"]
    from pytest_gpumemtrace import child  # import it under the name that plugin.py uses, not as __main__

    sys.exit(child.run(request))
