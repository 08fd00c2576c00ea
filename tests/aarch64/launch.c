/* SPDX-License-Identifier: MIT */
/*
 * Stands where a test looks for a program, and runs the program of that name, built for aarch64, on
 * qemu's user mode. What is meant for the program's loader must not reach qemu's own, nor this
 * one's: so it is linked statically.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FOR_ITS_LOADER 2

int main(int argc, char **argv)
{
    static const char *const names[FOR_ITS_LOADER] = {"LD_PRELOAD", "LD_LIBRARY_PATH"};
    char own[PATH_MAX] = "", program[PATH_MAX + sizeof PROGRAMS], *settings[FOR_ITS_LOADER];
    char **command = calloc((size_t)argc + 2 * FOR_ITS_LOADER + 8, sizeof *command);
    size_t count = 0;
    if (!command || readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        return 127;
    snprintf(program, sizeof program, PROGRAMS "/%s", basename(own));
    command[count++] = "qemu-aarch64";
    command[count++] = "-L";
    command[count++] = ROOT;
    command[count++] = "-0";
    command[count++] = argc ? argv[0] : "";
    for (size_t i = 0; i < FOR_ITS_LOADER; i++) {
        const char *value = getenv(names[i]);
        if (!value || asprintf(&settings[i], "%s=%s", names[i], value) < 0)
            continue;
        unsetenv(names[i]);
        command[count++] = "-E";
        command[count++] = settings[i];
    }
    command[count++] = program;
    for (int i = 1; i < argc; i++)
        command[count++] = argv[i];
    execvp(command[0], command);
    perror(command[0]);
    return 127;
}
