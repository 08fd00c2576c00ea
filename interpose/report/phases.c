/* SPDX-License-Identifier: MIT */
/*
 * Turns phases of every source into events. See phases.h.
 */
#include "phases.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "gpumemtrace/compiler.h"
#include "interpose/recording/event_slot.h"
#include "interpose/recording/recording.h"
#include "interpose/recording/string_ids.h"
#include "interpose/recording/thread.h"

struct phase_call {
    enum event_kind kind;
    enum phase_source source;
    uint64_t number; /* range id, or number of a step */
    const char *name;
    const char *domain; /* name of the NVTX domain; NULL: the default one */
};

static void write_phase(struct thread *thread, const struct phase_call *call)
{
    const bool step = call->kind == EVENT_STEP;
    const struct event_args args = {
        .kind = call->kind,
        .device = DEVICE_UNKNOWN,
        .address = step ? 0 : call->number,
        .size_bytes = step ? call->number : (uint64_t)call->source,
        .object = strings_intern_name(thread, call->name),
        .stream = call->domain ? strings_intern_name(thread, call->domain) : 0,
    };
    event_write(thread, call->source == PHASE_SOURCE_NVTX ? HOOK_nvtx : HOOK_api, &args);
}

/* --- before the first CUDA call --- */

#define EARLY_LIMIT 256
#define EARLY_NAME_BYTES 112

struct early {
    struct phase_call call;
    int64_t tid;
    char name[EARLY_NAME_BYTES];
};

/* Protects early[] and early_count. */
static pthread_mutex_t early_lock = PTHREAD_MUTEX_INITIALIZER;
static struct early early[EARLY_LIMIT];
static unsigned early_count;

static void write_early(void)
{
    struct thread *thread = thread_current();
    pthread_mutex_lock(&early_lock);
    for (unsigned i = 0; thread && i < early_count; i++) {
        early[i].call.name = early[i].name;
        const uint32_t owner = thread_reserve(thread, early[i].tid);
        thread_speak_for(thread, owner ? owner : thread->thread_id);
        write_phase(thread, &early[i].call);
    }
    if (thread && early_count)
        thread_speak_for(thread, thread->thread_id);
    early_count = 0;
    pthread_mutex_unlock(&early_lock);
}

static void free_early_lock(void)
{
    pthread_mutex_init(&early_lock, NULL);
}

static const struct recording_early early_phases = {write_early, free_early_lock};

/* A pop removes its push from the list, because a closed range without memory in it says nothing,
 * and a program that never calls CUDA must not fill the list. */
static void keep_early(const struct phase_call *call)
{
    const int64_t tid = syscall(SYS_gettid);
    atomic_store(&recording.early, &early_phases);
    pthread_mutex_lock(&early_lock);
    if (call->kind == EVENT_PHASE_POP) {
        for (unsigned i = early_count; i-- > 0;) {
            if (early[i].call.source != call->source || early[i].call.number != call->number ||
                (!call->number && early[i].tid != tid))
                continue;
            memmove(&early[i], &early[i + 1], (--early_count - i) * sizeof *early);
            break;
        }
    } else if (early_count < EARLY_LIMIT) {
        struct early *kept = &early[early_count++];
        kept->call = *call;
        kept->tid = tid;
        snprintf(kept->name, sizeof kept->name, "%s", call->name ? call->name : "");
    }
    pthread_mutex_unlock(&early_lock);
}

/* --- phases, marks and steps --- */

static void note_phase(const struct phase_call *call)
{
    struct thread *thread = thread_current();
    if (thread)
        write_phase(thread, call);
    else if (recording_is_idle() && call->kind != EVENT_MARK)
        keep_early(call);
}

void phases_push(enum phase_source source, const char *name, uint64_t range_id)
{
    note_phase(&(struct phase_call){EVENT_PHASE_PUSH, source, range_id, name, NULL});
}

void phases_push_nvtx(const char *domain, const char *name, uint64_t range_id)
{
    note_phase(&(struct phase_call){EVENT_PHASE_PUSH, PHASE_SOURCE_NVTX, range_id, name, domain});
}

void phases_pop(enum phase_source source, uint64_t range_id)
{
    note_phase(&(struct phase_call){EVENT_PHASE_POP, source, range_id, NULL, NULL});
}

void phases_mark(enum phase_source source, const char *text)
{
    note_phase(&(struct phase_call){EVENT_MARK, source, 0, text, NULL});
}

/* --- the public API, found by name: include/gpumemtrace/gpumemtrace.h --- */

GMT_EXPORT void gpumemtrace_push(const char *name);
GMT_EXPORT void gpumemtrace_pop(void);
GMT_EXPORT void gpumemtrace_mark(const char *text);
GMT_EXPORT void gpumemtrace_step(uint64_t number);

void gpumemtrace_push(const char *name)
{
    phases_push(PHASE_SOURCE_API, name, 0);
}

void gpumemtrace_pop(void)
{
    phases_pop(PHASE_SOURCE_API, 0);
}

void gpumemtrace_mark(const char *text)
{
    phases_mark(PHASE_SOURCE_API, text);
}

void gpumemtrace_step(uint64_t number)
{
    struct thread *thread = thread_current();
    if (thread)
        write_phase(thread, &(struct phase_call){EVENT_STEP, PHASE_SOURCE_API, number, NULL, NULL});
}
