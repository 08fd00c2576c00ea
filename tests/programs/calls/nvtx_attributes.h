/* SPDX-License-Identifier: MIT */
/*
 * Declares the attributes of an NVTX event in the layout of NVTX 3's public header. The tests have
 * a declaration of their own, because a declaration shared with the recorder would hide mistakes in
 * it.
 */
#pragma once

#include <stdint.h>

enum { MESSAGE_ASCII = 1, MESSAGE_REGISTERED = 3 };

struct attributes {
    uint16_t version, size;
    uint32_t category, color_type, color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    const void *message;
};
