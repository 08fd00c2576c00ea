/* SPDX-License-Identifier: MIT */
/* cuDNN's results, with the numbers of version 9. Version 8 has other numbers for the same errors,
 * which does not matter, because callers compare only with success. */
#pragma once

enum cudnn_status {
    CUDNN_SUCCESS = 0,
    CUDNN_BAD_PARAM = 2000,
    CUDNN_BAD_PARAM_NOT_FINALIZED = 2004,
    CUDNN_NOT_SUPPORTED = 3000,
    CUDNN_HOST_ALLOCATION_FAILED = 4003,
};
