# SPDX-License-Identifier: MIT
"""Prints the properties of the device that PyTorch sees, and the paths of NVIDIA's libraries in the process."""
import json
import re

import torch

x = torch.ones(4, 4, device="cuda")
print(json.dumps({
    "version": torch.__version__,
    "devices": torch.cuda.device_count(),
    "name": torch.cuda.get_device_name(0),
    "total_bytes": torch.cuda.get_device_properties(0).total_memory,
    "capability": torch.cuda.get_device_capability(0),
    "cudnn": torch.backends.cudnn.is_available() and torch.backends.cudnn.enabled,
    "sum": (x @ x).sum().item(),
    "libraries": sorted(set(re.findall(
        r"/\S*/lib(?:cuda|cudart|cublas|cublasLt|cudnn|nccl|cufft|cusparse)\.so\S*", open("/proc/self/maps").read()))),
}))
