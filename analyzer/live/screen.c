/* SPDX-License-Identifier: MIT */
/* See screen.h. */
#define NCURSES_WIDECHAR 1
#include "screen.h"

#include <langinfo.h>
#include <locale.h>
#include <ncurses.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "analyzer/render/window.h"
#include "guard.h"

static SCREEN *terminal;
static struct guard guard;
static volatile sig_atomic_t got_signal, got_stop;

static void on_signal(int number)
{
    got_signal = number;
}

static void on_stop(int number)
{
    (void)number;
    got_stop = 1;
}

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

static void handle_signals(void (*handler)(int))
{
    struct sigaction action = {.sa_handler = handler}; /* interrupts the wait for a key */
    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        sigaction(ending_signals[i], &action, NULL);
}

/* ncurses encodes characters beyond ASCII for the current locale. If the environment's locale is
 * not installed, use C.UTF-8. */
static bool can_utf8(void)
{
    const bool is_asked = window_of(stdout).has_blocks;
    if ((!setlocale(LC_CTYPE, "") || strcmp(nl_langinfo(CODESET), "UTF-8") != 0) && is_asked)
        setlocale(LC_CTYPE, "C.UTF-8");
    return is_asked && !strcmp(nl_langinfo(CODESET), "UTF-8");
}

static void measure(struct screen *screen)
{
    screen->columns = (size_t)getmaxx(stdscr);
    screen->rows = (size_t)getmaxy(stdscr);
}

static bool can_place_cursor(void)
{
    const char *way = tigetstr("cup");
    return way && way != (const char *)-1;
}

bool screen_open(struct screen *screen)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        return false;
    struct termios settings;
    const bool has_settings = !tcgetattr(STDOUT_FILENO, &settings);
    screen->has_blocks = can_utf8();
    if (!(terminal = newterm(NULL, stdout, stdin)))
        return false;
    if (!can_place_cursor()) { /* for example TERM=dumb */
        screen_close();
        return false;
    }
    if (has_settings)
        guard_begin(&guard, &settings);
    handle_signals(on_signal);
    signal(SIGTSTP, on_stop);
    cbreak();
    noecho();
    curs_set(0);
    keypad(stdscr, true);
    set_escdelay(25);
    measure(screen);
    return true;
}

void screen_close(void)
{
    endwin();
    guard_end(&guard);
    delscreen(terminal);
    terminal = NULL;
    handle_signals(SIG_DFL);
    if (got_signal)
        raise(got_signal);
}

/* Stops this process until it is continued. Meanwhile the shell owns the terminal, so no guard is
 * needed. */
static void stop(void)
{
    struct termios settings;
    got_stop = 0;
    endwin();
    guard_end(&guard);
    signal(SIGTSTP, SIG_DFL);
    raise(SIGTSTP);
    signal(SIGTSTP, on_stop);
    if (!tcgetattr(STDOUT_FILENO, &settings))
        guard_begin(&guard, &settings);
    refresh();
}

/* --- lines and keys --- */

/* Without UTF-8, writes '?' for each character beyond ASCII. */
static void show_line(const struct screen *screen, char *line)
{
    char *to = line;
    for (const char *from = line; !screen->has_blocks && *from; from++)
        if ((unsigned char)*from < 0x80)
            *to++ = *from;
        else if ((*from & 0xc0) != 0x80)
            *to++ = '?';
    if (!screen->has_blocks)
        *to = '\0';
    addstr(line);
}

void screen_show(const struct screen *screen, const char *lines)
{
    char line[4096];
    erase();
    for (int row = 0; *lines && row < (int)screen->rows; row++) {
        const size_t length = strcspn(lines, "\n");
        const attr_t look = *lines == 1 ? A_REVERSE : *lines == 2 ? A_BOLD : A_NORMAL;
        snprintf(line, sizeof line, "%.*s", (int)(length - (look != A_NORMAL)),
                 lines + (look != A_NORMAL));
        attrset(look);
        move(row, 0);
        show_line(screen, line);
        lines += length + (lines[length] != '\0');
    }
    attrset(A_NORMAL);
    refresh();
}

int screen_key(struct screen *screen, uint64_t most_ns)
{
    timeout((int)(most_ns / 1000000));
    const int key = getch();
    if (got_stop)
        stop();
    measure(screen);
    return key == KEY_RESIZE ? SCREEN_RESIZED : key == ERR ? SCREEN_NO_KEY : key;
}

int screen_signal(void)
{
    return got_signal;
}
