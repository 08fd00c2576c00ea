# SPDX-License-Identifier: MIT
"""Rewrites the section of doc/measurements.md that belongs to one bench, if WRITE=1 is set."""
import contextlib
import datetime
import io
import os
import pathlib
import platform
import re
import sys
import textwrap

PAGE = pathlib.Path(__file__).resolve().parent.parent.parent / "doc/measurements.md"


def machine():
    """Returns the date and the machine's description in one line."""
    text = pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8")
    model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    kernel = ".".join(platform.release().split(".")[:2])
    system = platform.freedesktop_os_release().get("PRETTY_NAME", "Linux")
    processor = " ".join(model.group(1).split()) if model else platform.machine()
    return (f"{datetime.date.today()}, {processor}, {len(os.sched_getaffinity(0))} cores,"
            f" Linux {kernel}, {system}:")


def replaced(page, name, text):
    """Returns the page with `text` between the markers called `name`."""
    pattern = rf"(<!-- {name} -->\n).*?(\n<!-- end of {name} -->)"
    body = f"{machine()}\n\n{textwrap.indent(text.strip(chr(10)), '    ')}\n"
    new, count = re.subn(pattern, lambda match: match[1] + body + match[2], page, flags=re.DOTALL)
    if count != 1:
        raise SystemExit(f"{PAGE}: no section '{name}'")
    return new


class Copy(io.StringIO):
    """Passes text on to stdout and keeps a copy."""

    def write(self, text):
        sys.__stdout__.write(text)
        sys.__stdout__.flush()
        return super().write(text)


@contextlib.contextmanager
def section(name):
    """Text that is printed in this context goes to stdout. With WRITE=1 the text also replaces the section when the
    context ends."""
    with contextlib.redirect_stdout(Copy()) as printed:
        yield
    if os.environ.get("WRITE") == "1":
        page = PAGE.read_text(encoding="utf-8")
        PAGE.write_text(replaced(page, name, printed.getvalue()), encoding="utf-8")
        print(f"{name}: written to {PAGE}")
