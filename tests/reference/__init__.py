# SPDX-License-Identifier: MIT
"""A slow, obvious reading of traces, and random traces to read. It must not know the analyzer's code."""
