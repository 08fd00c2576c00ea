/* SPDX-License-Identifier: MIT */
/*
 * A trace that is being made of what another tool wrote. It grows in a file aside, which takes its place when it is
 * whole: whatever fails, what stood there stays. It must not know any format.
 */
#ifndef GPUMEMTRACE_ANALYZER_IMPORT_DRAFT_H
#define GPUMEMTRACE_ANALYZER_IMPORT_DRAFT_H

#include <stddef.h>
#include <stdint.h>

#include "gpumemtrace/event.h"
#include "trace/not_known.h"
#include "trace/store.h"

struct draft;

/* For a trace at path, where a trace may stand already. NULL: *err says why. */
struct draft *draft_begin(const char *path, struct err *err);
/* The trace stands at its path, or *err says why not. The draft is gone. */
int draft_end(struct draft *draft, uint64_t *event_count, struct err *err);
void draft_abandon(struct draft *draft);

/* --- properties; not NULL-terminated texts are cut as all texts of a trace are --- */

int draft_set_text(struct draft *draft, enum meta_key key, const char *value, struct err *err);
int draft_set_integer(struct draft *draft, enum meta_key key, int64_t value, struct err *err);
/* One more thing that the source does not know; all stand in meta.not_known. */
int draft_does_not_know(struct draft *draft, struct err *err, const char *format, ...)
    GMT_PRINTF(3, 4);
/* The same, of what commands ask for. */
int draft_lacks(struct draft *draft, enum lack lack, struct err *err);
/* A call as the source names it: the number that its events carry. */
int draft_hook(struct draft *draft, const char *name, const char *api, uint16_t *hook_id,
               struct err *err);
/* A row of allocator_setting; the value is not terminated. */
int draft_allocator_setting(struct draft *draft, const char *name, const char *value, size_t length,
                            struct err *err);
/* name and uuid may be "", total_bytes 0: not known. */
int draft_device(struct draft *draft, int device, const char *uuid, const char *name,
                 uint64_t total_bytes, struct err *err);
int draft_thread(struct draft *draft, uint32_t thread_id, uint64_t tid, const char *name,
                 struct err *err);

/* --- texts and stacks: an id, or 0: *err says why not --- */

uint32_t draft_text(struct draft *draft, const char *text, size_t length, struct err *err);

/* A place in a program, by ids of texts. */
struct draft_place {
    uint32_t function_id, file_id; /* file_id 0: not known */
    uint32_t line;                 /* 0: not known */
};
/* Frames of the caller `parent`, 0: there is none. A frame that is there already has its id. */
uint32_t draft_python_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err);
uint32_t draft_native_frame(struct draft *draft, uint32_t parent, const struct draft_place *place,
                            struct err *err);
/* Of a function of which no source is known, but the executable or library that it lies in. */
uint32_t draft_module_frame(struct draft *draft, uint32_t parent, uint32_t function_id,
                            uint32_t module_text_id, struct err *err);
uint32_t draft_label_frame(struct draft *draft, uint32_t parent, uint32_t text_id, struct err *err);

/* --- events --- */

#define DRAFT_NO_DEVICE (-1) /* of an event: not known */

/* The next one; its seq need not be set. */
int draft_event(struct draft *draft, const struct event *event, struct err *err);

#endif
