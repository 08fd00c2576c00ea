/* SPDX-License-Identifier: MIT */
/* Writes a new trace from the data of another tool. The trace grows in a temporary file beside its
 * path and is renamed when it is complete. After an error, the file at that path is unchanged. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/event.h"
#include "trace/not_known.h"
#include "trace/store.h"

struct draft;

/* Begins a trace at path, where another trace may exist. Returns NULL and *err on failure. */
struct draft *draft_begin(const char *path, struct err *err);
/* Completes the trace and renames it to its path; -1 and *err on failure. Frees the draft
 * in any case. */
int draft_end(struct draft *draft, uint64_t *event_count, struct err *err);
void draft_abandon(struct draft *draft);

/* --- properties --- */

int draft_set_text(struct draft *draft, enum meta_key key, const char *value, struct err *err);
int draft_set_integer(struct draft *draft, enum meta_key key, int64_t value, struct err *err);
/* Adds one more sentence on facts that the source does not know; all of them go into
 * meta.not_known. */
int draft_does_not_know(struct draft *draft, struct err *err, const char *format, ...)
    GMT_PRINTF(3, 4);
/* Does the same as draft_does_not_know, for a gap that commands look up by its enum. */
int draft_lacks(struct draft *draft, enum lack lack, struct err *err);
/* Defines a hooked call by the source's name for it. Its events carry *hook_id. */
int draft_hook(struct draft *draft, const char *name, const char *api, uint16_t *hook_id,
               struct err *err);
/* Adds a row of allocator_setting. The value has no 0 at its end. */
int draft_allocator_setting(struct draft *draft, const char *name, const char *value, size_t length,
                            struct err *err);
/* Adds a device. An unknown name or uuid is "", and unknown total_bytes are 0. */
int draft_device(struct draft *draft, int device, const char *uuid, const char *name,
                 uint64_t total_bytes, struct err *err);
int draft_thread(struct draft *draft, uint32_t thread_id, uint64_t tid, const char *name,
                 struct err *err);

/* --- texts and stacks; each function returns an id, or 0 and *err --- */

uint32_t draft_text(struct draft *draft, const char *text, size_t length, struct err *err);

/* A line of a program, by the ids of its texts. */
struct draft_place {
    uint32_t function_id, file_id; /* file_id 0: unknown */
    uint32_t line;                 /* 0: unknown */
};
/* Both return the id of the frame that frame `parent` calls; parent 0: the frame has no caller.
 * They add the frame if it is new. */
uint32_t draft_python_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err);
uint32_t draft_native_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err);
/* Does this for a function without a source file, in a known executable or library. */
uint32_t draft_module_frame(struct draft *draft, uint32_t parent, uint32_t function_id,
                            uint32_t module_text_id, struct err *err);
uint32_t draft_label_frame(struct draft *draft, uint32_t parent, uint32_t text_id, struct err *err);

/* --- events --- */

#define DRAFT_NO_DEVICE (-1) /* device of an event: unknown */

/* Adds the next event; its seq is set here. */
int draft_event(struct draft *draft, const struct event *event, struct err *err);
