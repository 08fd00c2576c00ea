# SPDX-License-Identifier: MIT
"""Tests of the HTML page in a browser."""
