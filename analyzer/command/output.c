/* SPDX-License-Identifier: MIT */
/* Writes a command's result to stdout or a file; see output.h. */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/render/formats.h"

/* Refuses an output that is one of the operands, because a report would overwrite its trace. */
static int refuse_operand(const struct command_options *options, struct err *err)
{
    struct stat output, operand;
    if (stat(options->output, &output))
        return 0;
    for (int i = 0; i < options->operand_count; i++) {
        if (stat(options->operands[i], &operand) || operand.st_dev != output.st_dev ||
            operand.st_ino != output.st_ino)
            continue;
        return err_set(err, ERR_USAGE, "the output '%.200s' is also the input; give another file",
                       options->output);
    }
    return 0;
}

static int cannot_write(const char *path, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "cannot write '%.200s': %s", path, strerror(errno));
}

int command_check_written(FILE *out, const char *name, struct err *err)
{
    errno = 0;
    if (!fflush(out) && !ferror(out))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot write %.200s: %s", name,
                   errno ? strerror(errno) : "an earlier write failed");
}

static int write_to(FILE *out, const char *path, command_writer *writer, void *self,
                    struct err *err)
{
    if (!out)
        return cannot_write(path, err);
    const int result =
        writer(self, out, err) || command_check_written(out, "the result", err) ? -1 : 0;

    return fclose(out) && !result ? cannot_write(path, err) : result;
}

/* Opens a new file in the folder of `path`, with the permissions that a file at `path` has or would
 * get. Returns NULL if the file cannot be opened. */
static FILE *open_aside(const char *path, char *aside, size_t aside_bytes)
{
    const mode_t mask = umask(0);
    struct stat status;
    FILE *out = NULL;
    umask(mask);
    if (lstat(path, &status))
        status.st_mode = 0666 & ~mask;
    else if (!S_ISREG(status.st_mode)) /* a device or a link is written in place */
        return NULL;
    if ((size_t)snprintf(aside, aside_bytes, "%s.XXXXXX", path) >= aside_bytes)
        return NULL;
    const int fd = mkostemp(aside, O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fchmod(fd, status.st_mode & 0777) || !(out = fdopen(fd, "w"))) {
        close(fd);
        unlink(aside);
    }
    return out;
}

/* Writes to a new file and renames this file, so that only a complete result replaces an existing
 * file. */
int command_write(const struct command_options *options, command_writer *writer, void *self,
                  struct err *err)
{
    const char *path = options->output;
    char aside[PATH_MAX];
    if (!path)
        return writer(self, stdout, err);
    if (refuse_operand(options, err))
        return -1;
    FILE *out = open_aside(path, aside, sizeof aside);
    if (!out)
        return write_to(fopen(path, "we"), path, writer, self, err);
    int result = write_to(out, path, writer, self, err);
    if (!result && rename(aside, path))
        result = cannot_write(path, err);
    if (result)
        unlink(aside);
    return result;
}

/* Returns the command's CSV columns, or NULL if the command has no row in table_columns.def. */
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

struct printed {
    const struct doc *doc;
    const struct format *format;
};

static int print_doc(void *self, FILE *out, struct err *err)
{
    const struct printed *printed = self;
    return render(printed->doc, printed->format, out, err);
}

int command_print(struct doc *doc, const struct command_options *options, struct err *err)
{
    if (!doc_table(doc))
        doc_set_table(doc, options->command->table);
    doc_set_columns(doc, columns_of(options->command->name));
    return command_write(options, print_doc, &(struct printed){doc, options->format}, err);
}
