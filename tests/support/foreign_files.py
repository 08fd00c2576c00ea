# SPDX-License-Identifier: MIT
"""Writes a small valid file in each format that `import` reads. Tests then break these files."""
from support import nsys_files, torch_files


def snapshot():
    """Returns a snapshot with a truncated history, both kinds of segments, a failure and two devices."""
    value = torch_files.small()
    start = 4 * torch_files.SEGMENT
    mib = torch_files.MIB
    value["segments"].append(torch_files.segment(start, torch_files.block(8 * mib), expandable=True, device=1))
    value["device_traces"][0].append(torch_files.entry("oom", 3 * mib, 90 * mib, 40))
    value["device_traces"].append([
        torch_files.entry("segment_map", start, 20 * mib, 12), torch_files.entry("alloc", start, 20 * mib - 5, 13),
        torch_files.entry("free_requested", start, 20 * mib - 5, 14), torch_files.entry("free_completed", start, 20 * mib - 5, 15),
        torch_files.entry("segment_unmap", start + 8 * mib, 12 * mib, 16)])  # fmt: skip
    return value


RMM = """Thread,Time,Action,Pointer,Size,Stream
7,23:59:59.900000,allocate,0x7f0000000000,1048576,0x0
9,00:00:00.250000,allocate,0x7f0000100000,2097152,0x5
9,00:00:01.000000,free,0x7f0000000000,1048576,0x0
9,00:00:02.000000,allocate failure,(nil),99999999999,0x0
"""
COLLAPSED = "main (train.py:3);forward (model.py:12);cudaMalloc 1048576\nmain (train.py:3);at::empty(int) 512\n"
GOOD = {
    "pickle": lambda path: torch_files.write(path, snapshot()),
    "sqlite": lambda path: nsys_files.small(path).write(),
    "csv": lambda path: path.write_text(RMM),
    "txt": lambda path: path.write_text(COLLAPSED),
}


def write_foreign_file(folder, suffix):
    GOOD[suffix](folder / f"foreign.{suffix}")


def make_foreign_files(folder):
    for suffix, write in GOOD.items():
        write(folder / f"good.{suffix}")
