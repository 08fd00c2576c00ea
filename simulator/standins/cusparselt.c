/* SPDX-License-Identifier: MIT */
/* cuSPARSELt: no workspace, whose real size only cuSPARSELt knows. */
#include "standin.h"

STANDIN_NO_BYTES(cusparseLtMatmulGetWorkspace, size_t, 3)
