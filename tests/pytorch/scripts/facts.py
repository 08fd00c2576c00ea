# SPDX-License-Identifier: MIT
"""Sets PyTorch's allocator by environment and by call, makes tensors on two streams; prints version and side stream."""
import json
import os

os.environ["PYTORCH_CUDA_ALLOC_CONF"] = "max_split_size_mb:256"
import torch  # noqa: E402

default = torch.empty(1 << 20, device="cuda")
torch.cuda.memory._set_allocator_settings("max_split_size_mb:128")
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    beside = torch.empty(3 << 20, device="cuda")
    try:
        torch.empty(1 << 40, device="cuda")
    except torch.cuda.OutOfMemoryError:
        pass
after = torch.zeros(5 << 20, device="cuda")
print(json.dumps({"version": torch.__version__, "side": side.cuda_stream}))
