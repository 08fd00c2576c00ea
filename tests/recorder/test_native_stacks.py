# SPDX-License-Identifier: MIT
"""Native stacks are compared, frame by frame, with the stacks that the unwinder of libgcc finds at the same moment."""
import pytest

from support.run import BUILD, PRELOAD_FIRST


class Stacks:
    def __init__(self, recording):
        self.frames = {row[0]: row[1:] for row in recording.rows("SELECT frame_id, parent_id, address FROM frame")}
        self.of_bytes = dict(recording.rows("SELECT size_bytes, stack_id FROM event WHERE kind=1"))

    def __getitem__(self, size_bytes):
        addresses, frame_id = [], self.of_bytes[size_bytes]
        while frame_id:
            frame_id, address = self.frames[frame_id]
            addresses.append(address)
        return addresses


@pytest.fixture(params=["libunwind", "libgcc"])
def unwinder(request, tmp_path):
    """Returns the name of the unwinder and a folder for LD_LIBRARY_PATH. For libgcc, the folder hides libunwind, as in
    most CUDA images, which lack libunwind."""
    if request.param == "libgcc":
        (tmp_path / "libunwind.so.8").write_text("no library")
    return request.param, tmp_path


@pytest.mark.skipif(bool(PRELOAD_FIRST), reason="a sanitizer unwinds in libgcc's place")
def test_every_layout_of_frames_gives_the_stack_that_another_unwinder_finds(record, program, unwinder):
    name, folder = unwinder
    recording = record(program("stack_shapes"), 300, GPUMEMTRACE_STACKS="native", spec="64GiB",
                       LD_LIBRARY_PATH=f"{folder}:{BUILD / 'simulator'}")
    assert recording.rows("SELECT value FROM meta WHERE key = 'unwinder'") == [(name,)]
    stacks = Stacks(recording)
    differing, compared = [], 0
    for line in recording.completed.stdout.splitlines():
        size_bytes, *expected = (int(word, 10 if number == 0 else 16) for number, word in enumerate(line.split()))
        # The innermost frame is left out, because the unwinders start at different places of one function.
        found = stacks[size_bytes][1:]
        shared = min(len(found), len(expected))
        compared += 1
        # One of the unwinders may find one more frame at the start of the stack, in the hand-written code of libc.
        if found[:shared] != expected[:shared] or abs(len(found) - len(expected)) > 1:
            differing.append((size_bytes, expected, found))
    assert compared > 2000
    assert differing == []
