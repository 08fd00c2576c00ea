# SPDX-License-Identifier: MIT
from gpumemtrace import main

main()
