# SPDX-License-Identifier: MIT
"""What more than one test needs. Nothing here is a test, and nothing here imports one."""
