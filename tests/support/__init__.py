# SPDX-License-Identifier: MIT
"""Modules that several tests share. No file here is a test or imports a test."""
