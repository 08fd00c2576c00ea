# SPDX-License-Identifier: MIT
"""Fixtures of the tests of the HTML page."""

from web.browser import browser  # noqa: F401
