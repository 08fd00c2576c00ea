# SPDX-License-Identifier: MIT
"""The interface to pytest: the mark and the fixture `gpu_memory`, the options, the report at the end. A test with the
mark or the fixture runs in a process of its own, which gpumemtrace records. The test fails if it breaks a limit."""

import pathlib

import pytest
from _pytest._code.code import ExceptionChainRepr, ReprEntryNative, ReprFileLocation, ReprTraceback

from pytest_gpumemtrace import child, limits, process, verdict

MARK = "gpu_memory"
OFF = "off"
PEAK, SITE, LIMIT = "gpu_memory_peak_bytes", "gpu_memory_site", "gpu_memory_limit"


def pytest_addoption(parser):
    group = parser.getgroup("gpumemtrace", "limits on GPU memory")
    where = (
        "where tests with a limit on GPU memory run: auto (the card, or a dry run where there is none), card, "
        "off (unrecorded, without limits), or the card of a dry run, such as 16GiB or h100"
    )
    group.addoption("--gpu-memory", metavar="WHERE", default=None, help=where + " (default: auto)")
    group.addoption("--gpu-memory-report", action="store_true", help="print the peak of each recorded test")
    parser.addini("gpu_memory", where, default="auto")
    parser.addini("gpu_memory_command", "the command gpumemtrace, if it is not in PATH", default="")


def pytest_configure(config):
    config.addinivalue_line(
        "markers",
        "gpu_memory(max_peak, *, max_live_at_exit, max_growth_per_step, max_fragmentation, max_retries, allow_oom, "
        "baseline, tolerance, device, layer, dry_run): run this test in a process of its own, recorded by "
        "gpumemtrace, and fail if it breaks a limit.",
    )


# --- in the test's process -------------------------------------------------------------------------------------


class GpuMemory:
    """The value of the fixture. Its method `limit` takes the arguments of the mark, for limits that the test
    computes."""

    def __init__(self, recorder):
        self._recorder = recorder

    @property
    def is_recorded(self):
        """False with --gpu-memory=off. In that case no limit is checked."""
        return self._recorder is not None

    def limit(self, *args, **keywords):
        """Sets limits for this test. They replace the limits of the test's marks and are checked when the test ends.
        Raises ValueError."""
        asked = limits.collected(args, keywords)
        if limits.DRY_RUN in asked:
            raise limits.LimitError("dry_run is for the mark: the test runs already")
        if self._recorder:
            self._recorder.limits.update(asked)


@pytest.fixture
def gpu_memory(request):
    """Records this test: `gpu_memory.limit("2 GiB")` limits its peak."""
    return GpuMemory(child.of(request.config))


# --- in the parent process -------------------------------------------------------------------------------------


def where_of(config):
    return config.getoption("--gpu-memory") or config.getini("gpu_memory")


def is_recorded(item):
    return item.get_closest_marker(MARK) is not None or MARK in getattr(item, "fixturenames", ())


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item):
    if child.of(item.config) or where_of(item.config) == OFF or not is_recorded(item):
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    for report in recorded_reports(item):
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def failed(item, when, text):
    """Makes a report for a test that has no report."""
    return pytest.TestReport(item.nodeid, item.location, {MARK: 1}, "failed", as_failure(item, text), when)


def as_failure(item, text):
    """Makes a failure whose first line is shown in pytest's summary. xdist can send it between processes."""
    path, line, _ = item.location
    crash = ReprFileLocation(path, (line or 0) + 1, text.partition("\n")[0])
    return ExceptionChainRepr([(ReprTraceback([ReprEntryNative([text + "\n"])], None, "native"), crash, None)])


def recorded_reports(item):
    """Runs one test in a process of its own, checks its limits and returns its reports."""
    marks = [mark for mark in item.iter_markers(MARK)][::-1]
    try:
        asked = limits.merged(marks)
        command = process.find_command(item.config.getini("gpu_memory_command"))
        options = process.card_options(where_of(item.config), asked.get(limits.DRY_RUN))
        run = process.run(item, command, options, folder_for(item))
    except (limits.LimitError, process.ProcessError) as error:
        return [failed(item, "setup", f"gpu_memory: {error}")]
    from_data = item.config.hook.pytest_report_from_serializable
    reports = [from_data(config=item.config, data=each) for each in run.reports]
    judge(item, reports, run, command, {**asked, **run.limits})
    return reports


def folder_for(item):
    """Makes a folder below pytest's temporary folder. pytest keeps the temporary folders of the last three runs."""
    return pathlib.Path(item.config._tmp_path_factory.mktemp("gpu-memory"))


def judge(item, reports, run, command, asked):
    """Adds the test's peak to its reports. Fails the test if its process died or a limit is broken."""
    call = next((each for each in reports if each.when == "call"), None)
    if run.ended or not reports:
        text = run.error or f"gpu_memory: the test's process {run.ended or 'ran no test'}\n{run.printed}"
        reports.append(failed(item, "call", text))
        call = reports[-1]
    if not call:
        return  # the test was skipped, or its set-up failed
    peak = verdict.peak_of(command, run.traces)
    if peak:
        limit = str(asked.get("max_peak", ""))
        for report in reports:  # --junitxml takes the properties of the last report
            report.user_properties += [(PEAK, peak["bytes"]), (SITE, peak["site"]), (LIMIT, limit)]
    if call.passed:
        broken = broken_by(run, command, asked)
        if broken:
            call.outcome, call.longrepr = "failed", as_failure(item, broken)
    elif call.failed:
        for trace in run.traces:
            call.sections.append((f"GPU memory: {trace}", verdict.opening_of(command, trace)))


def broken_by(run, command, asked):
    """Returns the message with which a passed test fails, or "" if no limit is broken."""
    options = limits.check_options(asked)
    if not options:
        return ""  # the test has the fixture, but sets no limit
    if not run.traces:
        return "gpu_memory: the test made no CUDA call that can be recorded, so its limits were not checked"
    broken = verdict.broken_limits(command, run.traces, options)
    return f"gpu_memory: {broken}\nTraces: {' '.join(map(str, run.traces))}" if broken else ""


# --- the report at the end -------------------------------------------------------------------------------------


def pytest_terminal_summary(terminalreporter, config):
    if not config.getoption("--gpu-memory-report"):
        return
    rows = []
    for outcome in ("passed", "failed"):
        for report in terminalreporter.getreports(outcome):
            said = dict(report.user_properties)
            if PEAK in said:
                rows.append((said[PEAK], said[LIMIT], outcome, report.nodeid, said[SITE]))
    terminalreporter.section("GPU memory")
    if not rows:
        terminalreporter.write_line("no test was recorded")
    for peak, limit, outcome, nodeid, site in sorted(rows, key=lambda row: -row[0]):
        bound = f" of {limit}" if limit else ""
        terminalreporter.write_line(f"{verdict.in_words(peak):>12}{bound:<12} {outcome}  {nodeid}  (most by {site})")
