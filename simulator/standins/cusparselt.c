/* SPDX-License-Identifier: MIT */
/* cuSPARSELt: no workspace, because only cuSPARSELt knows its real size. */
#include "standin.h"

STANDIN_NO_BYTES(cusparseLtMatmulGetWorkspace, size_t, 3)
