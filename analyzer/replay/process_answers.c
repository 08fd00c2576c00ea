/* SPDX-License-Identifier: MIT */
/* Answers to the program's queries around failures; see process_answers.h. */
#include "process_answers.h"

#include <string.h>

#include "refused/failures.h"

#define NEAR_NS UINT64_C(1000000000)

static uint64_t held_bytes(const struct history *history, int device)
{
    const struct device_use *use = history_device(history, device);
    return use ? history->accounts[use->accounts[ACCOUNT_device]].live_bytes : 0;
}

/* --- an answer --- */

static bool goes_on(const struct process_answer *answer, const struct event *event)
{
    return answer->read_count < answer->named_count && answer->thread_id == event->thread_id &&
           answer->device == event->device && answer->named_count == event->address;
}

static void read_process(struct process_answer *answer, const struct event *event, uint64_t own_pid)
{
    struct card_processes *reported = &answer->reported;
    const bool has_bytes = event->size_bytes < INT64_MAX / 2;
    answer->read_count++;
    answer->lacks_bytes |= !has_bytes;
    if (!has_bytes)
        return;
    if (event->object != own_pid) {
        card_processes_add(reported, event->object, event->size_bytes);
        return;
    }
    answer->has_own = true;
    reported->own_bytes += event->size_bytes;
}

/* --- of which failure it is --- */

static void join(const struct process_answer *answer, const struct history *history,
                 struct failure *failure)
{
    const uint64_t time_ns = failure->at.time_ns;
    const uint64_t apart_ns =
        time_ns > answer->time_ns ? time_ns - answer->time_ns : answer->time_ns - time_ns;
    if (answer->reported.is_known && answer->thread_id == failure->event.thread_id &&
        answer->device == history->accounts[failure->account].device && apart_ns <= NEAR_NS &&
        answer->held_bytes == failure->held_bytes)
        failure->processes = answer->reported;
}

void process_answers_join(const struct process_answers *answers, const struct cursor *at)
{
    struct failure *failure = failures_last_of_thread(at);
    if (!failure || failure->at.index != at->index)
        return;
    failure->held_bytes = held_bytes(at->history, at->history->accounts[failure->account].device);
    join(&answers->last, at->history, failure);
}

void process_answers_read(struct process_answers *answers, const struct cursor *at)
{
    const struct event *event = at->event;
    const struct trace_integer *pid = &at->history->trace->meta.pid;
    struct process_answer *answer = &answers->last;
    if (!goes_on(answer, event))
        *answer = (struct process_answer){.device = event->device,
                                          .thread_id = event->thread_id,
                                          .named_count = event->address,
                                          .time_ns = event->time_ns,
                                          .held_bytes = held_bytes(at->history, event->device)};
    if (!event->address || !pid->known)
        return;
    read_process(answer, event, (uint64_t)pid->value);
    answer->reported.is_known =
        answer->read_count == answer->named_count && answer->has_own && !answer->lacks_bytes;
    struct failure *failure = answer->reported.is_known ? failures_last_of_thread(at) : NULL;
    if (failure && !failure->processes.is_known)
        join(answer, at->history, failure);
}

/* --- limits --- */

void process_answers_set_limit(const struct cursor *at)
{
    struct failure *failure = failures_last_of_thread(at);
    const struct account *account = failure ? &at->history->accounts[failure->account] : NULL;
    if (account && account->kind == ACCOUNT_pool && account->device == at->event->device)
        failure->limit_bytes = at->event->size_bytes;
}
