# SPDX-License-Identifier: MIT
"""Asks for a walk in a subinterpreter, without the GIL and with it, and in the main interpreter after that."""
import ctypes

import torch

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

kept = torch.zeros(1 << 20, device="cuda")
created = interpreters.create(isolated=False)
for library in ("CDLL", "PyDLL"):
    interpreters.run_string(created, f"import ctypes; ctypes.{library}(None).gpumemtrace_holders()")
    print(library, "in a subinterpreter")
interpreters.destroy(created)
ctypes.PyDLL(None).gpumemtrace_holders()
print("done")
