/* SPDX-License-Identifier: MIT */
/* See guard.h. */
#include "guard.h"

#include <curses.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <term.h>
#include <unistd.h>

/* WRITING_MOST_S ends the guard if the terminal accepts no output, as after ^S. DESCRIPTORS_MOST is
 * more than live ever opens. */
enum { WRITING_MOST_S = 5, DESCRIPTORS_MOST = 1024 };

static char leave[256]; /* the output that leaves the screen on this terminal */

static int add_to_leave(int character)
{
    const size_t length = strlen(leave);
    if (length + 1 < sizeof leave) {
        leave[length] = (char)character;
        leave[length + 1] = '\0';
    }
    return character;
}

/* Prepares the output that does what endwin does: it resets colours, keypad and cursor, and shows
 * the earlier screen. If the terminal cannot show the earlier screen, the output begins a new line.
 * The output ends with the reason, because a shell that was faster than the guard has written its
 * own message on the screen that disappears. */
static void find_leave(void)
{
    static const char *const names[] = {"sgr0", "rmkx", "cnorm", "rmcup"};
    static const char killed[] = "\r\ngpumemtrace live was killed; the terminal is as it was\r\n";
    bool is_there = false;
    leave[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *way = tigetstr(names[i]);
        is_there = way && way != (const char *)-1;
        if (is_there)
            tputs(way, 1, add_to_leave);
    }
    for (const char *from = is_there ? killed + 2 : killed; *from; from++) /* skip the new line */
        add_to_leave(*from);
}

static void block_signals(void)
{
    sigset_t all;
    signal(SIGALRM, SIG_DFL);
    sigfillset(&all);
    sigdelset(&all, SIGALRM);
    sigprocmask(SIG_SETMASK, &all, NULL);
}

/* Closes inherited descriptors, because another process may wait until a lock is released or a pipe
 * is closed. */
static void keep_descriptors(int pipe_end)
{
    dup2(pipe_end, STDIN_FILENO);
    for (int fd = STDOUT_FILENO + 1; fd < DESCRIPTORS_MOST; fd++)
        close(fd);
}

static void wait_for_end(void)
{
    char byte;
    ssize_t count;
    do
        count = read(STDIN_FILENO, &byte, 1);
    while (count > 0 || (count < 0 && errno == EINTR));
}

static void put_back(const struct termios *settings)
{
    const char *from = leave;
    alarm(WRITING_MOST_S);
    tcsetattr(STDOUT_FILENO, TCSANOW, settings);
    for (size_t left = strlen(from); left;) {
        const ssize_t count = write(STDOUT_FILENO, from, left);
        if (count <= 0)
            return;
        from += count;
        left -= (size_t)count;
    }
}

void guard_begin(struct guard *guard, const struct termios *settings)
{
    int ends[2];
    *guard = (struct guard){0};
    find_leave();
    if (pipe2(ends, O_CLOEXEC))
        return;
    const pid_t pid = fork();
    if (!pid) {
        setsid();
        prctl(PR_SET_NAME, "live guard"); /* so that killall does not end it */
        block_signals();
        keep_descriptors(ends[0]);
        wait_for_end();
        put_back(settings);
        _exit(0);
    }
    close(ends[0]);
    if (pid < 0)
        close(ends[1]);
    else
        *guard = (struct guard){pid, ends[1]};
}

void guard_end(struct guard *guard)
{
    if (!guard->pid)
        return;
    kill(guard->pid, SIGKILL);
    while (waitpid(guard->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close(guard->pipe_end);
    *guard = (struct guard){0};
}
