/* SPDX-License-Identifier: MIT */
/* Sets the findings of checks; see check.h. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "check.h"
#include "analyzer/util/text.h"

#define SAY(field, value)                                                                          \
    va_list arguments;                                                                             \
    finding->state = (value);                                                                      \
    va_start(arguments, format);                                                                   \
    vsnprintf(finding->field, sizeof finding->field, format, arguments);                           \
    va_end(arguments)

void finding_fine(struct finding *finding, const char *format, ...)
{
    SAY(what, FINDING_FINE);
}

void finding_note(struct finding *finding, const char *format, ...)
{
    SAY(what, FINDING_NOTE);
}

void finding_wrong(struct finding *finding, const char *format, ...)
{
    SAY(what, FINDING_WRONG);
}

void finding_mend(struct finding *finding, const char *format, ...)
{
    SAY(mend, finding->state);
}

const char *finding_word(char word[FINDING_WORD_BYTES], const char *path)
{
    struct text text;
    text_init_in(&text, word, FINDING_WORD_BYTES);
    text_add_word(&text, path);
    return text_failed(&text) ? "PATH" : word;
}

bool finding_is_noexec(struct finding *finding, const char *path)
{
    char word[FINDING_WORD_BYTES];
    struct statvfs place;
    if (statvfs(path, &place) || !(place.f_flag & ST_NOEXEC))
        return false;
    finding_wrong(finding, "%.300s lies on a file system that is mounted noexec", path);
    finding_mend(finding, "sudo mount -o remount,exec \"$(findmnt -no TARGET -T %s)\"",
                 finding_word(word, path));
    return true;
}

bool finding_is_shut(struct finding *finding, const char *path)
{
    char folder[PATH_MAX], word[FINDING_WORD_BYTES];
    struct stat status;
    for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", slash == path ? 1 : (int)(slash - path), path);
        if (!access(folder, X_OK) || errno != EACCES || stat(folder, &status))
            continue;
        const bool is_own = status.st_uid == geteuid();
        finding_wrong(finding,
                      "%.300s cannot be reached: this user may not enter the folder %.300s", path,
                      folder);
        finding_mend(finding, "%schmod %s %s", is_own ? "" : "sudo ", is_own ? "u+x" : "a+x",
                     finding_word(word, folder));
        return true;
    }
    return false;
}
