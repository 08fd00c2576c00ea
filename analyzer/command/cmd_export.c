/* SPDX-License-Identifier: MIT */
/* `gpumemtrace export`: writes a trace as a file for another tool. The formats are in
 * analyzer/export/formats.def. */
#include "answer.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/export/formats.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/push/push.h"
#include "output.h"

struct given {
    const char *to;
};

static int write_export(void *self, FILE *out, struct err *err)
{
    return export_write(self, out, err);
}

static int find_format(const struct export_format **format, const char *name,
                       const struct command_options *options, struct err *err)
{
    if (!name) {
        err_set(err, ERR_USAGE, "export needs --to=%s", export_names);
        return -1;
    }
    *format = export_format_find(name);
    if (!(*format)->is_binary || options->output || !isatty(STDOUT_FILENO))
        return 0;
    err_set(err, ERR_USAGE, "--to=%s is binary, which a terminal cannot show; name a file with -o",
            name);
    return -1;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return path && !stat(path, &status) && S_ISDIR(status.st_mode);
}

int command_export(const struct command *command, int argc, char **argv, struct err *err)
{
    const struct option_rule rules[] = {
        {"to", 0, OPTION_WORD, export_names, export_summaries, offsetof(struct given, to)},
        {0},
    };
    const struct export_format *format;
    struct command_options options;
    struct given given = {0};
    struct export export;
    if (options_parse(&options, command, rules, &given, argc, argv, err) ||
        find_format(&format, given.to, &options, err))
        return -1;
    const struct view view = answer_view(&options, NULL);
    memory_limit_set(options.memory_limit_bytes);
    if (!strcmp(given.to, "tsv") && is_folder(options.output))
        return push_to_folder(options.output, options.operands[0], err);
    if (export_open(&export, format, &view, options.operands[0], err))
        return -1;
    const int status = command_write(&options, write_export, &export, err);
    export_close(&export);
    return status;
}
