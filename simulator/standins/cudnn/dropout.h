/* SPDX-License-Identifier: MIT */
/* Dropout's descriptor. */
#pragma once

struct cudnn_dropout {
    float probability;
};
