/* SPDX-License-Identifier: MIT */
/*
 * See watch.h. After each look, the loop pauses long enough that the CPU time of the look stays
 * below cpu_ratio.
 */
#include "watch.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/util/clock.h"
#include "picture.h"
#include "screen.h"

#define MS_NS UINT64_C(1000000)

enum { PERIOD_MS = 250, SECOND_MS = 1000, BUDGET_MS = 15, MESSAGE_MS = 5000 };

struct watch {
    const char *path;
    struct live *live;
    struct live_choice choice;
    double cpu_ratio;
    struct screen screen;
    struct live_view *view;
    bool is_ended, is_paused, shows_help, has_quit;
    uint64_t next_ns; /* time of the next look */
    bool has_begun;   /* false: do not pause after the first look, which takes longest */
    pid_t reporter;   /* process that writes a report; 0: none */
    char report[PATH_MAX], message[PATH_MAX + 64];
    uint64_t message_until_ns;
};

/* Returns 0 if then_ns is past. */
static uint64_t ns_until(uint64_t then_ns)
{
    const uint64_t now_ns = monotonic_ns();
    return then_ns > now_ns ? then_ns - now_ns : 0;
}

/* Takes one look and sets the time of the next. There is no pause while a trace that nobody writes
 * any more is still being read, because then no program is slowed down. */
static int look(struct watch *watch, struct err *err)
{
    const uint64_t begin_ns = monotonic_ns(), cpu_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    const bool was_recording = watch->view->is_recording;
    if (!watch->is_ended) {
        const int status =
            live_step(watch->live, (was_recording ? BUDGET_MS : PERIOD_MS) * MS_NS, err);
        if (status < 0)
            return -1;
        watch->is_ended = status > 0;
    }
    if (live_look(watch->live, &watch->choice, watch->view, err))
        return -1;
    const double share_ns =
        watch->has_begun ? (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns) / watch->cpu_ratio
                         : 0;
    watch->has_begun = true;
    watch->next_ns = begin_ns;
    if (watch->view->is_recording || watch->view->is_waiting)
        watch->next_ns += share_ns > PERIOD_MS * MS_NS ? (uint64_t)share_ns : PERIOD_MS * MS_NS;
    else if (watch->is_ended)
        watch->next_ns += SECOND_MS * MS_NS;
    return 0;
}

/* --- a report of now --- */

static void say(struct watch *watch, const char *what)
{
    snprintf(watch->message, sizeof watch->message, "%s %s", what, watch->report);
    watch->message_until_ns = monotonic_ns() + MESSAGE_MS * MS_NS;
}

/* Runs `gpumemtrace report` in a child process. */
static void begin_report(struct watch *watch)
{
    posix_spawn_file_actions_t actions;
    char output[PATH_MAX + 16];
    if (watch->reporter)
        return;
    snprintf(watch->report, sizeof watch->report, "%.*s.%" PRIu64 "s.html", PATH_MAX - 32,
             watch->path, watch->view->now_ns / (SECOND_MS * MS_NS));
    snprintf(output, sizeof output, "--output=%s", watch->report);
    const char *arguments[] = {"gpumemtrace", "report", "--format=html", output, "--",
                               watch->path,   NULL};
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd <= STDERR_FILENO; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    const bool failed = posix_spawn(&watch->reporter, "/proc/self/exe", &actions, NULL,
                                    (char *const *)(uintptr_t)arguments, environ) != 0;
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        watch->reporter = 0;
    say(watch, failed ? "cannot write" : "writing");
}

static void end_report(struct watch *watch, bool waits)
{
    int status;
    if (!watch->reporter || waitpid(watch->reporter, &status, waits ? 0 : WNOHANG) <= 0)
        return;
    watch->reporter = 0;
    say(watch, status ? "failed to write" : "wrote");
}

/* --- the screen --- */

static void handle_key(struct watch *watch, int key)
{
    switch (key) {
    case 'q':
        watch->has_quit = true;
        break;
    case 'p':
    case ' ':
        watch->is_paused = !watch->is_paused;
        break;
    case 's':
        watch->choice.sort = (watch->choice.sort + 1) % LIVE_SORTS;
        break;
    case 'w':
        watch->choice.is_whole = !watch->choice.is_whole;
        break;
    case 'd':
        live_next_device(watch->live, &watch->choice);
        break;
    case 'l':
        live_next_layer(&watch->choice);
        break;
    case 'r':
        begin_report(watch);
        break;
    case '?':
    case 'h':
        watch->shows_help = !watch->shows_help;
        break;
    default:
        break;
    }
}

static int draw(const struct watch *watch, struct err *err)
{
    const struct live_picture picture = {
        .columns = watch->screen.columns,
        .rows = watch->screen.rows,
        .has_blocks = watch->screen.has_blocks,
        .is_paused = watch->is_paused,
        .shows_help = watch->shows_help,
        .message = monotonic_ns() < watch->message_until_ns ? watch->message : NULL,
        .choice = &watch->choice};
    char *lines = live_picture(&picture, watch->view, err);
    if (!lines)
        return -1;
    screen_show(&watch->screen, lines);
    free(lines);
    return 0;
}

static int watch_screen(struct watch *watch, struct err *err)
{
    while (!watch->has_quit && !screen_signal()) {
        if (!watch->is_paused && !ns_until(watch->next_ns) && look(watch, err))
            return -1;
        end_report(watch, false);
        if (draw(watch, err))
            return -1;
        const uint64_t wait_ns = watch->is_paused ? PERIOD_MS * MS_NS : ns_until(watch->next_ns);
        const int key =
            screen_key(&watch->screen, wait_ns < SECOND_MS * MS_NS ? wait_ns : SECOND_MS * MS_NS);
        if (key < 0)
            continue;
        handle_key(watch, key);
        if (!watch->is_paused && live_look(watch->live, &watch->choice, watch->view, err))
            return -1;
    }
    return 0;
}

/* --- lines --- */

static int watch_lines(struct watch *watch, struct err *err)
{
    uint64_t print_ns = monotonic_ns() + SECOND_MS * MS_NS;
    for (;;) {
        if (look(watch, err))
            return -1;
        if (watch->is_ended || !ns_until(print_ns)) {
            live_plain_line(stdout, watch->view);
            if (fflush(stdout) || watch->is_ended)
                return 0; /* a write error is reported by main */
            print_ns += SECOND_MS * MS_NS;
        }
        usleep((useconds_t)(ns_until(watch->next_ns) / 1000));
    }
}

int watch_trace(const char *path, const struct watch_options *options, struct err *err)
{
    struct watch watch = {.path = path, .choice = options->choice, .cpu_ratio = options->cpu_ratio};
    int status = -1;
    watch.view = calloc(1, sizeof *watch.view);
    if (!watch.view)
        err_set(err, ERR_SYSTEM, "out of memory for what is live");
    else if ((watch.live = live_open(path, err))) {
        if (screen_open(&watch.screen)) {
            status = watch_screen(&watch, err);
            screen_close();
        } else {
            status = watch_lines(&watch, err);
        }
        end_report(&watch, true);
    }
    live_close(watch.live);
    free(watch.view);
    return status;
}
