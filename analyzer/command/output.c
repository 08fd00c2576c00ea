/* SPDX-License-Identifier: MIT */
/* How a command's result reaches its reader; see output.h. */
#include "output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "analyzer/render/render.h"

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

/* NULL: not stated. */
static const char *columns_of(const char *command)
{
    static const struct {
        const char *command, *columns;
    } tables[] = {
#define COLUMNS(command, columns) {#command, columns},
#include "table_columns.def"
    };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!strcmp(tables[i].command, command))
            return tables[i].columns;
    return NULL;
}

int command_print(struct doc *doc, const struct command_options *options, struct err *err)
{
    if (!doc_table(doc))
        doc_set_table(doc, options->command->table);
    doc_set_columns(doc, columns_of(options->command->name));
    if (options->output)
        return print_to_file(doc, options, err);
    return render(doc, options->format, stdout, err);
}
