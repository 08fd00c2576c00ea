/* SPDX-License-Identifier: MIT */
/* Width and colours of a stream; see window.h. */
#include "window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { FEWEST_COLUMNS = 40, MOST_COLUMNS = 1000 };

static size_t bounded(unsigned long columns)
{
    return columns < FEWEST_COLUMNS ? FEWEST_COLUMNS
           : columns > MOST_COLUMNS ? MOST_COLUMNS
                                    : (size_t)columns;
}

/* Returns the number in COLUMNS; 0: COLUMNS is not set or not a number. */
static unsigned long columns_variable(void)
{
    const char *text = getenv("COLUMNS");
    char *end;
    const unsigned long columns = text ? strtoul(text, &end, 10) : 0;
    return columns && *end == '\0' && *text != '-' ? columns : 0;
}

static bool is_set(const char *name)
{
    const char *value = getenv(name);
    return value && *value;
}

/* The first variable that is set decides, as in setlocale. */
static bool is_utf8_locale(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (is_set(names[i]))
            return strcasestr(getenv(names[i]), "utf-8") || strcasestr(getenv(names[i]), "utf8");
    return false;
}

struct window window_of(FILE *out)
{
    struct window window = {.columns = WINDOW_COLUMNS};
    const int descriptor = fileno(out);
    const bool is_terminal = descriptor >= 0 && isatty(descriptor) == 1;
    const char *terminal = getenv("TERM");
    const unsigned long columns = columns_variable();
    struct winsize size = {0};
    window.has_colour =
        is_terminal && !is_set("NO_COLOR") && !(terminal && !strcmp(terminal, "dumb"));
    window.has_blocks = is_terminal && is_utf8_locale() &&
                        !(terminal && (!strcmp(terminal, "dumb") || !strcmp(terminal, "linux")));
    if (columns)
        window.columns = bounded(columns);
    else if (is_terminal && !ioctl(descriptor, TIOCGWINSZ, &size) && size.ws_col)
        window.columns = bounded(size.ws_col);
    window.is_bounded = columns || is_terminal;
    return window;
}
