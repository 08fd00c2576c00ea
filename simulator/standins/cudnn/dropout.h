/* SPDX-License-Identifier: MIT */
/* Dropout's descriptor. */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_DROPOUT_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_DROPOUT_H

struct cudnn_dropout {
    float probability;
};

#endif
