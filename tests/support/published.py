# SPDX-License-Identifier: MIT
"""Published peaks of Llama 3.1 8B, measured on cards, for the job of samples/fsdp_llama.py."""
# Highest reserved GiB on H100s of 96 GB, by (rank, compiled): torchtitan, benchmarks/llama3_h100_202412_torchtitan.md,
# tables 1 and 3.
TORCHTITAN_GIB = {("0/8", False): 82.4, ("0/8", True): 77.0, ("0/128", False): 67.0, ("0/128", True): 62.0}
# Tolerance of a dry run: PyTorch's releases differ by as much, and so do equivalent ways to write the block in Python.
OFF_RATIO = 0.006
