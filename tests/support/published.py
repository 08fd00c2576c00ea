# SPDX-License-Identifier: MIT
"""Peaks of Llama 3.1 8B that were measured on cards and published. They belong to the job of samples/fsdp_llama.py."""
# Highest reserved GiB on H100s of 96 GB, by (rank, compiled): torchtitan, benchmarks/llama3_h100_202412_torchtitan.md,
# tables 1 and 3.
TORCHTITAN_GIB = {("0/8", False): 82.4, ("0/8", True): 77.0, ("0/128", False): 67.0, ("0/128", True): 62.0}
# A dry run may differ from a published peak by this ratio. PyTorch's releases differ by as much from each other, and so
# do equivalent ways to write the block in Python.
OFF_RATIO = 0.006
