# SPDX-License-Identifier: MIT
"""The HTML page in a browser."""
