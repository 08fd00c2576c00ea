/* SPDX-License-Identifier: MIT */
/* Dropout's descriptor. It must not know what is dropped. */
#ifndef GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_DROPOUT_H
#define GPUMEMTRACE_SIMULATOR_STANDINS_CUDNN_DROPOUT_H

struct cudnn_dropout {
    float probability;
};

#endif
