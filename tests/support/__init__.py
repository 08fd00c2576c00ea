# SPDX-License-Identifier: MIT
"""Shared by several tests. Nothing here is a test or imports one."""
