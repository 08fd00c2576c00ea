/* SPDX-License-Identifier: MIT */
/* `gpumemtrace live`: watches a running program. live/ draws the screen. */
#include "options.h"

#include <limits.h>

#include "analyzer/live/find_trace.h"
#include "analyzer/live/watch.h"
#include "analyzer/load/memory_limit.h"

struct given {
    double cpu_ratio;
};

int command_live(const struct command *command, int argc, char **argv, struct err *err)
{
    static const struct option_rule rules[] = {
        {"cpu", 0, OPTION_RATIO, "SHARE",
         "share of one core that live may use while the program runs (default 4%); if that is "
         "too little for the program's events, the screen lags behind",
         offsetof(struct given, cpu_ratio)},
        {0},
    };
    struct given given = {.cpu_ratio = 0.04};
    struct command_options options;
    char path[PATH_MAX];
    if (options_parse(&options, command, rules, &given, argc, argv, err) ||
        find_trace(path, options.operand_count ? options.operands[0] : NULL, err))
        return -1;
    if (given.cpu_ratio <= 0)
        return err_set(err, ERR_USAGE, "--cpu=0: nothing could be read; give a share, as 5%%");
    const struct watch_options watched = {
        .choice = {.device = options.device, .layer = options.layer}, .cpu_ratio = given.cpu_ratio};
    memory_limit_set(options.memory_limit_bytes);
    return watch_trace(path, &watched, err);
}
