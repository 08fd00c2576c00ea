/* SPDX-License-Identifier: MIT */
/*
 * Takes the place of a program that a test starts. It runs the program of the same name, which is
 * built for aarch64, on qemu's user mode. LD_PRELOAD and similar variables are meant for the loader
 * of that program. To ignore these variables, this launcher and qemu are linked statically, without
 * a loader.
 */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EMULATOR "qemu-aarch64-static"

int main(int argc, char **argv)
{
    char own[PATH_MAX] = "", program[PATH_MAX + sizeof PROGRAMS];
    char **command = calloc((size_t)argc + 7, sizeof *command);
    size_t count = 0;
    if (!command || readlink("/proc/self/exe", own, sizeof own - 1) < 0)
        return 127;
    snprintf(program, sizeof program, PROGRAMS "/%s", basename(own));
    command[count++] = EMULATOR;
    command[count++] = "-L";
    command[count++] = ROOT;
    command[count++] = "-0";
    command[count++] = argc ? argv[0] : "";
    command[count++] = program;
    for (int i = 1; i < argc; i++)
        command[count++] = argv[i];
    execvp(command[0], command);
    perror(command[0]);
    return 127;
}
