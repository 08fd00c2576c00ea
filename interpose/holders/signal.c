/* SPDX-License-Identifier: MIT */
/*
 * See signal.h.
 */
#include "signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "common/numbers.h"
#include "interpose/recording/log.h"
#include "interpose/recording/recording.h"

/* Signals that an error of the program causes are not among these, because a handler that returns
 * would repeat the error. */
#define SIGNAL(name)                                                                               \
    {                                                                                              \
#name, SIG##name                                                                           \
    }
static const struct {
    const char *name;
    int number;
} signals[] = {SIGNAL(HUP),  SIGNAL(INT),   SIGNAL(QUIT), SIGNAL(USR1),
               SIGNAL(USR2), SIGNAL(ALRM),  SIGNAL(TERM), SIGNAL(VTALRM),
               SIGNAL(PROF), SIGNAL(WINCH), SIGNAL(IO),   SIGNAL(URG)};
#undef SIGNAL

static atomic_bool has_come;

static void on_signal(int number)
{
    (void)number;
    atomic_store_explicit(&has_come, true, memory_order_relaxed);
}

/* Returns the number of the signal that this text names; 0: none that may be taken. */
static int number_of(const char *text)
{
    uint64_t number = 0;
    const char *end = digits_read(text, &number);
    const bool is_number = end != text && !*end;
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (is_number ? number == (uint64_t)signals[i].number
                      : strcasecmp(name, signals[i].name) == 0)
            return signals[i].number;
    const bool is_realtime =
        is_number && number >= (uint64_t)SIGRTMIN && number <= (uint64_t)SIGRTMAX;
    return is_realtime ? (int)number : 0;
}

static bool is_own(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == on_signal;
}

static bool is_default(const struct sigaction *action)
{
    return !(action->sa_flags & SA_SIGINFO) && action->sa_handler == SIG_DFL;
}

void signal_listen(void)
{
    const char *text = recording.config.holders_signal;
    struct sigaction now, action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    signal_clear();
    if (!*text || strcmp(text, "none") == 0)
        return;
    const int number = number_of(text);
    if (!number || sigaction(number, NULL, &now))
        log_once("GPUMEMTRACE_HOLDERS_SIGNAL=%s is no signal that can ask for a walk over Python's "
                 "objects; take USR1",
                 text);
    else if (!is_default(&now) && !is_own(&now))
        log_once("GPUMEMTRACE_HOLDERS_SIGNAL=%s asks for no walk over Python's objects, because "
                 "the program has a handler for this signal",
                 text);
    else
        sigaction(number, &action, NULL);
}

bool signal_came(void)
{
    return atomic_load_explicit(&has_come, memory_order_relaxed);
}

void signal_clear(void)
{
    atomic_store_explicit(&has_come, false, memory_order_relaxed);
}
