/* SPDX-License-Identifier: MIT */
/* Batch normalization and CTC loss. Only cuDNN knows the size of their workspaces; 0 is assumed. */
#include "simulator/standins/standin.h"

STANDIN_NO_BYTES(cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize, size_t, 9)
STANDIN_NO_BYTES(cudnnGetBatchNormalizationBackwardExWorkspaceSize, size_t, 11)
STANDIN_NO_BYTES(cudnnGetBatchNormalizationTrainingExReserveSpaceSize, size_t, 6)
STANDIN_NO_BYTES(cudnnGetCTCLossWorkspaceSize, size_t, 9)
STANDIN_NO_BYTES(cudnnGetCTCLossWorkspaceSize_v8, size_t, 6)
