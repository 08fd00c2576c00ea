/* SPDX-License-Identifier: MIT */
/*
 * The list of open captures. See open_captures.h.
 */
#include "open_captures.h"

static struct capture *captures;
static uint64_t last_id;
/* The address of this variable identifies the thread. */
static _Thread_local CUstreamCaptureMode thread_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

struct capture *open_captures_first(void)
{
    return captures;
}

void open_captures_add(struct capture *capture)
{
    capture->id = ++last_id;
    capture->thread = &thread_mode;
    capture->next = captures;
    captures = capture;
}

void open_captures_remove(struct capture *capture)
{
    struct capture **link = &captures;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
}

bool open_captures_began_here(const struct capture *capture)
{
    return capture->thread == &thread_mode;
}

static bool is_in_the_way(const struct capture *capture)
{
    if (thread_mode == CU_STREAM_CAPTURE_MODE_RELAXED)
        return false;
    if (open_captures_began_here(capture))
        return capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_mode == CU_STREAM_CAPTURE_MODE_GLOBAL &&
           capture->mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
}

bool open_captures_permit(void)
{
    bool permitted = true;
    for (struct capture *capture = captures; capture; capture = capture->next)
        if (is_in_the_way(capture)) {
            capture->is_invalid = true;
            permitted = false;
        }
    return permitted;
}

CUstreamCaptureMode open_captures_exchange_mode(CUstreamCaptureMode mode)
{
    const CUstreamCaptureMode before = thread_mode;
    thread_mode = mode;
    return before;
}
