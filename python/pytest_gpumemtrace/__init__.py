# SPDX-License-Identifier: MIT
"""Limits on the GPU memory of tests: `@pytest.mark.gpu_memory("2 GiB")`, checked by gpumemtrace.

plugin.py meets pytest, process.py runs one test in a process of its own, child.py is that process,
verdict.py asks gpumemtrace about its traces, limits.py knows what a mark may say.
"""
