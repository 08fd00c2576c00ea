# SPDX-License-Identifier: MIT
"""A pickle is read as data, and none of its code runs. A pickle that is truncated or contradicts itself gives a
one-line error."""
import os
import pickle
import struct

import pytest

from support import torch_files
from support.run import BUILD, load_json, run_command


class Touch:
    """An object of this class creates a file when Python unpickles it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return (os.system, (f"touch {self.path}",))


class Plain:
    pass


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_every_protocol_says_the_same(tmp_path, imported, protocol):
    found = load_json("report", imported(torch_files.write(tmp_path / "a.pickle", torch_files.small(), protocol)))
    first = load_json("report", imported(torch_files.write(tmp_path / "a.pickle", torch_files.small(), 4)))
    assert found["devices"] == first["devices"]
    assert found["devices"][0]["pools"][0]["peak_live_bytes"] == 8 << 20


@pytest.mark.parametrize("protocol", [2, 5])
def test_what_would_run_is_refused_and_does_not(tmp_path, refused, protocol):
    ran = tmp_path / "ran"
    said = refused(torch_files.write(tmp_path / "a.pickle", {**torch_files.small(), "more": Touch(ran)}, protocol))
    assert ("GLOBAL" in said) and "nothing of it has run" in said
    assert not ran.exists()
    assert "GLOBAL" in refused(torch_files.write(tmp_path / "b.pickle", {"segments": [Plain()]}, protocol))


@pytest.mark.parametrize("code", ["Ros\nsystem\n", "(V1\nios\nsystem\n", "\x81", "\x92", "b", "o", "P1\n", "Q", "\x82\x01", "\x93", "\x97", "2", "I1\n", "\xff"])
def test_an_opcode_that_no_snapshot_has_is_refused(tmp_path, refused, code):
    path = tmp_path / "a.pickle"
    path.write_bytes(b"\x80\x04}" + code.encode("latin-1") + b".")
    assert "byte " in refused(path)


BROKEN = {
    "nothing behind": b"",
    "no value": b".",
    "append without a list": b"K\x01a.",
    "items without a list": b"(K\x01e.",
    "items of a dictionary": b"}(K\x01e.",
    "a key alone": b"}(K\x01u.",
    "an end alone": b"]e.",
    "a tuple of nothing": b"\x86.",
    "below the mark": b"]K\x01(\x87.",
    "below the mark, appended": b"](a.",
    "a memo that is not there": b"h\x07.",
    "a memo far away": b"]r" + struct.pack("<I", 2**31) + b".",
    "a text that is longer than the file": b"X" + struct.pack("<I", 2**31) + b"a.",
    "a text without end": b"\x8d" + struct.pack("<Q", 2**63) + b"a.",
    "too deep": b"(" * 1001 + b".",
    "no dictionary": b"].",
    "protocol 1": b"\x80\x01}.",
    "a list that is none": b"}X\x08\x00\x00\x00segmentsK\x01s.",
}


@pytest.mark.parametrize("what", BROKEN)
def test_a_pickle_that_is_broken_is_refused(tmp_path, refused, what):
    path = tmp_path / "a.pickle"
    path.write_bytes(b"\x80\x04" + BROKEN[what])
    refused(path)


def test_a_pickle_that_is_cut_anywhere_is_refused(tmp_path, refused):
    whole = pickle.dumps(torch_files.small(), protocol=2)
    path = tmp_path / "a.pickle"
    for length in [*range(2, 60), *range(60, len(whole), 37), len(whole) - 1]:
        path.write_bytes(whole[:length])
        refused(path, "--from=torch-snapshot")


def test_a_list_that_holds_itself_is_refused(tmp_path, refused):
    value = torch_files.small()
    value["segments"].append(value["segments"])
    refused(torch_files.write(tmp_path / "a.pickle", value))
    value = torch_files.small()
    value["segments"] = [value]
    refused(torch_files.write(tmp_path / "b.pickle", value))


def test_lists_that_are_shared_again_and_again_take_no_longer(tmp_path, refused, imported):
    blocks = [torch_files.block(512) for _ in range(2000)]
    shared = [torch_files.segment(torch_files.SEGMENT + i * (1 << 30), *blocks) for i in range(2)]
    shared[1]["blocks"] = shared[0]["blocks"]
    assert "two places" in refused(torch_files.write(tmp_path / "a.pickle", torch_files.snapshot(*shared)))
    frames = [{"name": f"f{i}", "filename": "deep.py", "line": i} for i in range(2000)]
    events = [torch_files.entry("alloc", torch_files.SEGMENT + 512 * i, 512, i, frames) for i in range(20_000)]
    value = torch_files.snapshot(torch_files.segment(torch_files.SEGMENT, torch_files.block(512 * len(events))), traces=[events])
    trace = imported(torch_files.write(tmp_path / "b.pickle", value))
    (site,) = load_json("peak", "--layer=pool", trace)["devices"][0]["sites"]
    assert (site["count"], len(site["frames"])) == (20_000, 2000)


def test_a_text_of_any_bytes_is_cut_and_controls_nothing(tmp_path, imported):
    for text in ("\x1b[31mred\x1b[m", "x" * 100_000, "é" * 5000, "a\0b"):
        frames = [{"name": text, "filename": text + ".py", "line": 2**70}]
        value = torch_files.snapshot(torch_files.segment(torch_files.SEGMENT, torch_files.block(512, "active_allocated", 512, frames)))
        shown = run_command("report", imported(torch_files.write(tmp_path / "a.pickle", value)))
        assert shown.returncode == 0 and "\x1b" not in shown.stdout


def test_what_is_no_file_to_import_is_refused(tmp_path, refused):
    for name, content in {"empty": b"", "text": b"hello\nworld\n", "zip": b"PK\x03\x04" + bytes(50)}.items():
        (tmp_path / name).write_bytes(content)
        assert "--from=" in refused(tmp_path / name)
    refused(tmp_path)
    refused(tmp_path / "missing")


def test_a_file_that_is_no_trace_is_not_replaced(tmp_path):
    path, other = torch_files.write(tmp_path / "a.pickle", torch_files.small()), tmp_path / "other"
    other.write_text("mine")
    for output in (path, other, tmp_path, tmp_path / "no folder" / "a.db"):
        completed = run_command("import", "-o", output, path)
        assert (completed.returncode, completed.stderr.count("\n")) == (2, 1)
    assert other.read_text() == "mine" and sorted(left.name for left in tmp_path.iterdir()) == ["a.pickle", "other"]
    assert run_command("import", "a.pickle", cwd=tmp_path).returncode == 0
    assert run_command("import", "-o", "a.pickle.db", "a.pickle", cwd=tmp_path).returncode == 0
    assert (tmp_path / "a.pickle.db").stat().st_mode & 0o777 == 0o600 and BUILD
