# SPDX-License-Identifier: MIT
"""Has a list of more objects than a walk may meet."""
import ctypes

import torch

kept = torch.zeros(1 << 14, device="cuda")
others = [[] for _ in range(1_500_000)]
ctypes.CDLL(None).gpumemtrace_holders()
