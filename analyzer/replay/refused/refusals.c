/* SPDX-License-Identifier: MIT */
/* Refused calls; see refusals.h. */
#include "refusals.h"

#include "analyzer/util/array.h"
#include "failures.h"
#include "optional.h"

/* PyTorch asks the driver at most three times for one allocation. */
enum { CALLS_MOST = 4 };

static struct waiting_failure *first_of_thread(const struct cursor *at, size_t from)
{
    struct history *history = at->history;
    for (size_t i = from; i < history->waiting_count; i++) {
        struct waiting_failure *waiting = &history->waiting[i];
        if (waiting->state == REFUSAL_WAITS &&
            waiting->failure.event.thread_id == at->event->thread_id)
            return waiting;
    }
    return NULL;
}

#define FOR_EACH_OF_THREAD(waiting, at)                                                            \
    for (struct waiting_failure *waiting = first_of_thread(at, 0); waiting;                        \
         waiting = first_of_thread(at, (size_t)(waiting - (at)->history->waiting) + 1))

/* --- which belong together --- */

/* True unless the Python frames differ. A deep stack is cut at its outer end, and then equal frames
 * have several numbers. */
static bool may_be_one_call(const struct history *history, uint32_t left, uint32_t right)
{
    const struct trace *trace = history->trace;
    uint32_t a = trace_python_frame(trace, left), b = trace_python_frame(trace, right);
    while (a && b && a != b) {
        if (trace->frames[a].address != trace->frames[b].address)
            return false;
        a = trace_python_frame(trace, trace->frames[a].parent_id);
        b = trace_python_frame(trace, trace->frames[b].parent_id);
    }
    return true;
}

static bool is_same_request(const struct failure *failure, const struct event *event)
{
    return failure->event.device == event->device && failure->event.memory == event->memory &&
           failure->event.size_bytes == event->size_bytes;
}

/*
 * True if the pool may have made this driver request for the tensor that the current event reports.
 * A segment is at least as large as its piece; with VMM, one of several mappings may be smaller.
 */
static bool is_asked_for_piece(const struct cursor *at, const struct failure *failure)
{
    const struct event *piece = at->event;
    return failure->event.device == piece->device &&
           (failure->event.memory == MEMORY_VMM ||
            failure->event.size_bytes >= piece->size_bytes) &&
           may_be_one_call(at->history, failure->event.stack_id, piece->stack_id);
}

/* --- retries --- */

static struct retry_site *find_retry_site(const struct cursor *at, const struct event *event)
{
    struct history *history = at->history;
    for (size_t i = history->retry_count; i-- > 0;)
        if (history->retries[i].device == event->device &&
            history->retries[i].stack_id == event->stack_id)
            return &history->retries[i];
    if (ARRAY_GROW(history->retries, history->retry_capacity, history->retry_count, at->err))
        return NULL;
    struct retry_site *added = &history->retries[history->retry_count++];
    *added = (struct retry_site){.device = event->device, .stack_id = event->stack_id};
    return added;
}

/* Counts the thread's waiting refusals as one retry, or as done without. */
static int take_for_retry(const struct cursor *at)
{
    struct history *history = at->history;
    struct waiting_failure *first = first_of_thread(at, 0);
    uint64_t flushed_bytes = 0;
    struct retry_site *site = find_retry_site(at, &first->failure.event);
    if (!site)
        return -1;
    FOR_EACH_OF_THREAD(waiting, at)
    {
        flushed_bytes += waiting->failure.flushed_bytes;
        waiting->state = REFUSAL_IS_GONE;
    }
    site->flushed_bytes += flushed_bytes;
    site->last = first->failure.at;
    if (first->failure.event.size_bytes > site->requested_bytes)
        site->requested_bytes = first->failure.event.size_bytes;
    if (first->is_optional) {
        site->done_without_count++;
        history->done_without_in_all++;
        return 0;
    }
    site->retries_count++;
    history->retries_in_all++;
    history->retries_flushed_bytes += flushed_bytes;
    return 0;
}

/* The thread goes on, so an optional request that was refused was no failure. */
static int settle_optional(const struct cursor *at)
{
    const struct waiting_failure *first = first_of_thread(at, 0);
    return first && first->is_optional ? take_for_retry(at) : 0;
}

static bool was_flushed(const struct cursor *at)
{
    FOR_EACH_OF_THREAD(waiting, at)
    if (waiting->failure.flushed_bytes)
        return true;
    return false;
}

/* --- failures --- */

static void take_for_failures(const struct cursor *at)
{
    FOR_EACH_OF_THREAD(waiting, at)
    waiting->state = REFUSAL_IS_FAILURE;
}

static struct failure describe(const struct cursor *at, uint32_t account, uint32_t path)
{
    const struct event *event = at->event;
    const struct history *history = at->history;
    return (struct failure){
        .at = cursor_moment(at),
        .event = *event,
        .path = path,
        .account = account,
        .refusals = {{cursor_moment(at), event->size_bytes, event->stack_id, event->result,
                      event->hook_id, event->call_id, event->memory}},
        .refusals_count = 1,
        .sample = history->samples[DEVICE_SLOT(history->accounts[account].device)]};
}

static void add_refusal(struct failure *failure, const struct refusal *refusal)
{
    if (failure->refusals_count < FAILURE_REFUSALS)
        failure->refusals[failure->refusals_count] = *refusal;
    failure->refusals_count++;
}

/* The pool gave up: its refused driver requests are part of its failure. */
static void join_refusals(const struct cursor *at, struct failure *failure)
{
    const struct refusal report = failure->refusals[0];
    failure->refusals_count = 0;
    FOR_EACH_OF_THREAD(waiting, at)
    {
        if (!is_asked_for_piece(at, &waiting->failure)) {
            waiting->state = REFUSAL_IS_FAILURE;
            continue;
        }
        add_refusal(failure, &waiting->failure.refusals[0]);
        failure->flushed_bytes += waiting->failure.flushed_bytes;
        waiting->state = REFUSAL_IS_GONE;
    }
    failure->refused_by_framework = !failure->refusals_count;
    add_refusal(failure, &report);
}

/*
 * Called before another refusal of a thread is added, if no failure of a pool joins them. Only the
 * last CALLS_MOST wait: the oldest becomes a failure.
 */
static void limit_waiting(const struct cursor *at)
{
    size_t count = 0;
    FOR_EACH_OF_THREAD(waiting, at)
    count++;
    if (count == CALLS_MOST)
        first_of_thread(at, 0)->state = REFUSAL_IS_FAILURE;
}

int refusals_add(const struct cursor *at, uint32_t account, uint32_t path, bool is_of_backward,
                 uint32_t forward_stack_id)
{
    const struct event *event = at->event;
    const bool waits = at->history->accounts[account].kind == ACCOUNT_device &&
                       (event->result == RESULT_OUT_OF_MEMORY || !first_of_thread(at, 0));
    struct failure failure = describe(at, account, path);
    failure.is_of_backward = is_of_backward;
    failure.site_id = site_id_of(failure.event.stack_id, forward_stack_id);
    if (event->memory == MEMORY_TENSOR)
        join_refusals(at, &failure);
    else if (waits)
        limit_waiting(at);
    failures_note_attempt(at);
    struct waiting_failure *added = failures_wait(at, &failure);
    if (!added)
        return -1;
    added->is_optional = event->memory == MEMORY_TENSOR && event->result == RESULT_OUT_OF_MEMORY &&
                         optional_is_asked(at->history->trace, event->stack_id);
    if (!waits && !added->is_optional)
        added->state = REFUSAL_IS_FAILURE;
    at->history->has_open_failure = true;
    return failures_settle(at);
}

/* --- what the thread does next --- */

static bool is_other_error(const struct waiting_failure *waiting)
{
    return waiting->failure.event.result != RESULT_OUT_OF_MEMORY;
}

/* Settles a call that failed with another error than out of memory. The thread's next call decides.
 * */
static void settle_other_error(const struct cursor *at, struct waiting_failure *waiting)
{
    const bool served = at->event->result == 0 && is_same_request(&waiting->failure, at->event);
    waiting->state = served ? REFUSAL_IS_GONE : REFUSAL_IS_FAILURE;
}

/* The driver served a request of the thread. */
static int note_served(const struct cursor *at)
{
    const struct event *event = at->event;
    const struct waiting_failure *first = first_of_thread(at, 0);
    if (event->memory == MEMORY_VMM && first->failure.event.memory == MEMORY_VMM)
        return 0; /* one of several mappings: the pool's piece decides */
    if (!is_same_request(&first->failure, event)) {
        take_for_failures(at);
        return 0;
    }
    if (was_flushed(at))
        return take_for_retry(at);
    FOR_EACH_OF_THREAD(waiting, at)
    {
        waiting->served_address = event->address;
        waiting->served_bytes = event->size_bytes;
    }
    return 0;
}

static int note_piece(const struct cursor *at)
{
    const struct event *event = at->event;
    const struct waiting_failure *first = first_of_thread(at, 0);
    const bool lies_in_served = first->served_bytes && event->address >= first->served_address &&
                                event->address - first->served_address < first->served_bytes;
    if ((lies_in_served || first->failure.event.memory == MEMORY_VMM) &&
        is_asked_for_piece(at, &first->failure))
        return take_for_retry(at);
    take_for_failures(at);
    return 0;
}

int refusals_before_alloc(const struct cursor *at)
{
    const struct event *event = at->event;
    const enum account_kind kind = account_kind((enum memory_kind)event->memory);
    int status = 0;
    if (event->result == 0 && !event->address) /* no bytes were requested */
        return 0;
    if (settle_optional(at))
        return -1;
    struct waiting_failure *first = first_of_thread(at, 0);
    if (event->result == 0 &&
        (kind == ACCOUNT_device || kind == ACCOUNT_managed || kind == ACCOUNT_pool))
        failures_note_attempt(at);
    if (!first || event->result == INT32_MIN || (kind != ACCOUNT_device && kind != ACCOUNT_pool))
        return 0;
    if (is_other_error(first))
        settle_other_error(at, first);
    else if (event->result == 0)
        status = kind == ACCOUNT_pool ? note_piece(at) : note_served(at);
    else if (kind == ACCOUNT_device && !is_same_request(&first->failure, event))
        take_for_failures(at);
    return status || failures_settle(at) ? -1 : 0;
}

void refusals_note_flush(const struct cursor *at, uint64_t bytes)
{
    struct waiting_failure *last = NULL;
    FOR_EACH_OF_THREAD(waiting, at)
    last = waiting;
    if (last)
        last->failure.flushed_bytes += bytes;
}
