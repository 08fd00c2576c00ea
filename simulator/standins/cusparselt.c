/* SPDX-License-Identifier: MIT */
/* cuSPARSELt: no memory to work in. How much a real plan takes only cuSPARSELt knows. */
#include "standin.h"

STANDIN_NO_BYTES(cusparseLtMatmulGetWorkspace, size_t, 3)
