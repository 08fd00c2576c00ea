/* SPDX-License-Identifier: MIT */
/* Checks the program to record, if one is named. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"
#include "analyzer/run/run_program.h"

/* Says that the program is missing. The suggested command lists the last existing folder of the
 * program's path. */
static void say_missing(struct finding *finding, const char *program, const struct err *err)
{
    char folder[PATH_MAX], word[FINDING_WORD_BYTES];
    char *slash;
    finding_wrong(finding, "%s", err->message);
    if (!strchr(program, '/')) {
        finding_mend(finding, "command -v %s    # or give its path", finding_word(word, program));
        return;
    }
    snprintf(folder, sizeof folder, "%s", program);
    while ((slash = strrchr(folder, '/')) && slash != folder && access(folder, F_OK))
        *slash = '\0';
    finding_mend(finding, "ls -a %s    # what is there; then give the right path",
                 finding_word(word, access(folder, F_OK) ? "." : folder));
}

static void say_not_executable(struct finding *finding, const char *path, const struct err *err)
{
    char word[FINDING_WORD_BYTES];
    struct stat status;
    if (finding_is_shut(finding, path))
        return;
    finding_word(word, path);
    if (stat(path, &status) || !S_ISREG(status.st_mode)) {
        finding_wrong(finding, "%s", err->message);
        finding_mend(finding, "ls -ld %s    # then give the path of a program", word);
        return;
    }
    if (finding_is_noexec(finding, path))
        return;
    const bool is_own = status.st_uid == geteuid();
    finding_wrong(finding, "%.300s may not be executed by this user: its mode is %o", path,
                  (unsigned)status.st_mode & 07777);
    finding_mend(finding, "%schmod %s %s", is_own ? "" : "sudo ", is_own ? "u+x" : "a+rx", word);
}

static void say_not_recorded(struct finding *finding, const char *path, const struct err *err)
{
    char word[FINDING_WORD_BYTES];
    struct stat found;
    finding_word(word, path);
    finding_wrong(finding, "%s", err->message);
    if (!stat(path, &found) && found.st_mode & (S_ISUID | S_ISGID))
        finding_mend(finding, "sudo -u \"$(stat -c %%U %s)\" gpumemtrace run -- %s", word, word);
    else
        finding_mend(finding, "file %s    # build it whole, for this machine and not with -static",
                     word);
}

/* Says that the script's interpreter is missing. An interpreter of the same name may be in another
 * folder. */
static void say_no_interpreter(struct finding *finding, const char *path, const char *missing)
{
    char word[FINDING_WORD_BYTES], other[FINDING_WORD_BYTES], found[PATH_MAX];
    const char *slash = strrchr(missing, '/'), *name = slash ? slash + 1 : missing;
    const size_t length = strlen(missing);
    struct err err;
    finding_word(word, path);
    if (length && missing[length - 1] == '\r') {
        finding_wrong(finding,
                      "the lines of %.300s end as those of Windows, so its interpreter is "
                      "not found",
                      path);
        finding_mend(finding, "sed -i 's/\\r$//' %s", word);
        return;
    }
    finding_wrong(finding,
                  "%.300s cannot start: the interpreter that it names, %.300s, is not there", path,
                  missing);
    if (strncmp(name, "ld-", 3) == 0)
        finding_mend(finding,
                     "patchelf --set-interpreter \"$(patchelf --print-interpreter /bin/sh)\" %s    "
                     "# or install what has %s",
                     word, finding_word(other, missing));
    else if (slash && !run_program_find(name, found, &err))
        finding_mend(finding, "gpumemtrace run -- %s %s", finding_word(other, name), word);
    else
        finding_mend(finding, "head -n 1 %s    # install %s, or name one that is there", word,
                     finding_word(other, name));
}

void check_program(struct finding *finding, struct checkup *checkup)
{
    char path[PATH_MAX], missing[PATH_MAX];
    struct err err;
    if (!checkup->program)
        return;
    const int refused = run_program_find(checkup->program, path, &err);
    if (refused == RUN_NOT_EXECUTABLE)
        say_not_executable(finding, path, &err);
    else if (refused)
        say_missing(finding, checkup->program, &err);
    else if (run_program_check(path, checkup->places.library, false, &err))
        say_not_recorded(finding, path, &err);
    else if (run_program_find_interpreter(path, missing))
        say_no_interpreter(finding, path, missing);
    else
        finding_fine(finding, "%.300s can be recorded", path);
}
