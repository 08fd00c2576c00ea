/* SPDX-License-Identifier: MIT */
/* The table of commands, and how a command's result reaches its reader; see command.h. */
#include "command.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/render/render.h"
#include "analyzer/util/nearest.h"

const struct command commands[] = {
#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example)      \
    {#name, command_##name, operands, fewest, most, common, summary, answer, table, exits, example},
#include "commands.def"
    {0},
};

static const char *const names[] = {
#define COMMAND(name, operands, fewest, most, common, summary, answer, table, exits, example) #name,
#include "commands.def"
};

const struct command *command_find(const char *name)
{
    for (const struct command *command = commands; command->name; command++)
        if (!strcmp(command->name, name))
            return command;
    return NULL;
}

const char *command_nearest(const char *name)
{
    return nearest_name(name, names, sizeof names / sizeof names[0]);
}

int command_unknown(const char *name, struct err *err)
{
    const char *nearest = command_nearest(name);
    if (name[0] == '-')
        err_set(err, ERR_USAGE,
                "unknown option '%.100s'; options of a command stand after it, see "
                "'gpumemtrace help'",
                name);
    else if (nearest)
        err_set(err, ERR_USAGE, "unknown command '%.100s'; did you mean '%s'?", name, nearest);
    else
        err_set(err, ERR_USAGE, "unknown command '%.100s'; see 'gpumemtrace help'", name);
    return -1;
}

void command_say(const char *name, const char *message)
{
    fprintf(stderr, "gpumemtrace: %s%s", name, *name ? ": " : "");
    for (; *message; message++) {
        unsigned char byte = (unsigned char)*message;
        putc(byte < 0x20 || byte == 0x7f ? '?' : byte, stderr);
    }
    putc('\n', stderr);
}

/* A trace must not be replaced by its own report. */
static int refuse_operand(const struct command_options *options, struct err *err)
{
    struct stat output, operand;
    if (stat(options->output, &output))
        return 0;
    for (int i = 0; i < options->operand_count; i++) {
        if (stat(options->operands[i], &operand) || operand.st_dev != output.st_dev ||
            operand.st_ino != output.st_ino)
            continue;
        err_set(err, ERR_USAGE, "the output '%.200s' is also the input; give another file",
                options->output);
        return -1;
    }
    return 0;
}

static int print_to_file(const struct doc *doc, const struct command_options *options,
                         struct err *err)
{
    if (refuse_operand(options, err))
        return -1;
    FILE *out = fopen(options->output, "we");
    if (!out) {
        err_set(err, ERR_SYSTEM, "cannot write '%.200s': %s", options->output, strerror(errno));
        return -1;
    }
    int result = render(doc, options->format, out, err);
    if (fclose(out) && !result) {
        err_set(err, ERR_SYSTEM, "cannot write '%.200s': %s", options->output, strerror(errno));
        result = -1;
    }
    return result;
}

int command_print(struct doc *doc, const struct command_options *options, struct err *err)
{
    const struct command *command = command_find(options->command);
    if (command)
        doc_set_table(doc, command->table);
    if (options->output)
        return print_to_file(doc, options, err);
    return render(doc, options->format, stdout, err);
}
