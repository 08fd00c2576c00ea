/* SPDX-License-Identifier: MIT */
/* `gpumemtrace import`: turns another tool's file into a trace. The formats are in
 * analyzer/import/imports.def. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/import/import.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/util/text.h"
#include "analyzer/util/utf8.h"
#include "options.h"

enum { PATH_MOST_BYTES = 4096, LINE_MOST_BYTES = 1 << 17 };

struct given {
    const char *from, *output;
    long process;
};

/* Returns the name of the default output: the input's file name plus ".db", in the current
 * folder. */
static const char *name_output(const char *path, char *buffer, size_t bytes)
{
    snprintf(buffer, bytes, "%.4095s.db", path_name(path));
    return buffer;
}

/* Says that the trace was written. A file name may hold control characters, which utf8_add replaces
 * for the terminal. */
static int say_done(const struct import *import, const char *output, struct err *err)
{
    struct text line;
    text_init(&line, LINE_MOST_BYTES);
    text_addf(&line, "%" PRIu64 " events of ", import->event_count);
    utf8_add(&line, import->source.path);
    text_addf(&line, " (%s) are now in ", import->format->name);
    utf8_add(&line, output);
    text_add(&line, ". Next: gpumemtrace report ");
    utf8_add(&line, output);
    const bool failed = text_failed(&line);
    if (failed)
        err_set(err, ERR_SYSTEM, "out of memory for the result");
    else
        puts(line.data);
    text_release(&line);
    return failed ? -1 : 0;
}

int command_import(const struct command *command, int argc, char **argv, struct err *err)
{
    const struct option_rule rules[] = {
        {"from", 0, OPTION_WORD, import_names, import_summaries, offsetof(struct given, from)},
        {"output", 'o', OPTION_TEXT, "FILE", "trace to write; an existing one is replaced",
         offsetof(struct given, output)},
        {"process", 0, OPTION_COUNT, "PID", "process to import, if the file has several",
         offsetof(struct given, process)},
        {0},
    };
    struct command_options options;
    struct given given = {0};
    struct import import;
    char buffer[PATH_MOST_BYTES + 8];
    if (options_parse(&options, command, rules, &given, argc, argv, err))
        return -1;
    const char *path = options.operands[0];
    const char *output = given.output ? given.output : name_output(path, buffer, sizeof buffer);
    memory_limit_set(options.memory_limit_bytes);
    if (import_open(&import, path, given.from, err))
        return -1;
    import.source.process = (uint64_t)given.process;
    int status = import_write(&import, output, err);
    if (!status)
        status = say_done(&import, output, err);
    import_close(&import);
    return status;
}
