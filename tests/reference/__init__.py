# SPDX-License-Identifier: MIT
"""A slow, obvious reader of traces, and a maker of random traces for it to read. The code here must not know the
analyzer's code."""
