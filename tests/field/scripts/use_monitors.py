# SPDX-License-Identifier: MIT
"""gpustat and nvitop: each shows the simulated card."""
import contextlib
import io
import json
import runpy
import sys


def printed(module, *words):
    sys.argv = [module, *words]
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
        runpy.run_module(module, run_name="__main__", alter_sys=True)
    return out.getvalue()


(card,) = json.loads(printed("gpustat", "--json"))["gpus"]
assert (card["memory.used"], card["memory.total"]) == (0, 81008), card
shown = printed("nvitop", "-1", "--no-unicode")
assert " 0B / 79.11GiB" in shown, shown
print("done")
