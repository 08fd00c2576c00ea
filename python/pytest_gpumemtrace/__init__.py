# SPDX-License-Identifier: MIT
"""Limits on the GPU memory of tests: `@pytest.mark.gpu_memory("2 GiB")`, checked by gpumemtrace.

plugin.py is the interface to pytest. process.py runs one test in a process of its own, and child.py
is that process. verdict.py asks gpumemtrace about the test's traces. limits.py checks marks.
"""
