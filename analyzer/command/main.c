/* SPDX-License-Identifier: MIT */
/* Calls the command that argv names, and turns its result into the exit status and one line on
 * stderr. */
#include <stdio.h>
#include <string.h>

#include "commands.h"
#include "output.h"
#include "analyzer/import/import.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/util/reads.h"
#include "analyzer/util/say.h"
#include "gpumemtrace/version.h"

enum { EXIT_FINE = 0, EXIT_FINDING = 1, EXIT_MISUSE = 2 };

static int exit_status(const char *command, int result, struct err *err)
{
    if (result >= 0)
        return result;
    if (err->code == ERR_DONE)
        return EXIT_FINE;
    memory_limit_explain(err);
    command_say(command,
                err->code == ERR_NONE ? "failed without saying why; this is a bug" : err->message);
    return err->code == ERR_FINDING ? EXIT_FINDING : EXIT_MISUSE;
}

/* Checks stdout. A write error, for example of a full disk, may appear only when the buffer is
 * flushed. */
static int check_stdout(const char *command, int status)
{
    struct err err;
    return command_check_written(stdout, "to stdout", &err) && status != EXIT_MISUSE
               ? exit_status(command, -1, &err)
               : status;
}

/* Adds the command that reads a file of another tool, if such a file was given as a trace. */
static void suggest_import(struct err *err, int argc, char **argv)
{
    const struct import_format *format = NULL;
    const size_t length = strlen(err->message);
    if (err->code != ERR_FOREIGN)
        return;
    for (int i = 1; i < argc && !format; i++)
        if (!strncmp(err->message, argv[i], strlen(argv[i])) &&
            (format = import_recognize(argv[i])))
            snprintf(err->message + length, sizeof err->message - length,
                     "; if it is %s: gpumemtrace import %s", format->summary, argv[i]);
}

static int run_command(const char *name, int argc, char **argv)
{
    struct err err = {0};
    const struct command *command = command_find(name);
    if (!command)
        return exit_status("", command_unknown(name, &err), &err);
    const int result = command->function(command, argc, argv, &err);
    suggest_import(&err, argc, argv);
    int status = exit_status(name, result, &err);
    reads_print();
    return check_stdout(name, status);
}

int main(int argc, char **argv)
{
    char help[] = "help", *help_arguments[] = {help, NULL};
    if (argc < 2) {
        fputs("usage: gpumemtrace COMMAND [OPTION]... [OPERAND]...\n"
              "'gpumemtrace help' lists the commands\n",
              stderr);
        return EXIT_MISUSE;
    }
    if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
        printf("gpumemtrace %s\n", GMT_VERSION);
        return check_stdout("", EXIT_FINE);
    }
    if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))
        return run_command(help, 1, help_arguments);
    return run_command(argv[1], argc - 1, argv + 1);
}
