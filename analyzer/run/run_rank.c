/* SPDX-License-Identifier: MIT */
/* See run_rank.h. */
#include "run_rank.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/util/text.h"

#include "common/numbers.h"

struct rank {
    long number, count;
};

static int rank_parse(const char *text, struct rank *rank, struct err *err)
{
    const char *slash = strchr(text, '/');
    char first[32] = "";
    struct err reason;
    if (slash && (size_t)(slash - text) < sizeof first)
        memcpy(first, text, (size_t)(slash - text));
    if (slash && !number_parse(slash + 1, 1, INT_MAX, &rank->count, &reason) &&
        !number_parse(first, 0, rank->count - 1, &rank->number, &reason))
        return 0;
    return err_set(
        err, ERR_USAGE,
        "option '--rank': '%.100s' is not a rank; give its number, from 0, and the number of "
        "ranks, as 0/128",
        text);
}

static int set_number(const char *name, long number, struct err *err)
{
    char text[32];
    snprintf(text, sizeof text, "%ld", number);
    if (!setenv(name, text, 1))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot set %s: %s", name, strerror(errno));
}

int run_rank_set(const char *text, int card_count, struct err *err)
{
    struct rank rank;
    if (rank_parse(text, &rank, err))
        return -1;
    const long local_count = rank.count < card_count ? rank.count : card_count;
    if (set_number("RANK", rank.number, err) || set_number("WORLD_SIZE", rank.count, err) ||
        set_number("LOCAL_RANK", rank.number % local_count, err) ||
        set_number("LOCAL_WORLD_SIZE", local_count, err) ||
        set_number("GROUP_RANK", rank.number / local_count, err) ||
        set_number("MASTER_PORT", 29500, err))
        return -1;
    if (!setenv("MASTER_ADDR", "127.0.0.1", 1) && !setenv("GPUMEMTRACE_SIM_RANK", text, 1))
        return 0;
    return err_set(err, ERR_SYSTEM, "cannot set GPUMEMTRACE_SIM_RANK: %s", strerror(errno));
}

int run_rank_check(char *const *argv, struct err *err)
{
    for (; *argv; argv++) {
        const char *name = path_name(*argv);
        if (strcmp(name, "torchrun") != 0 && strcmp(name, "torch.distributed.run") != 0 &&
            strcmp(name, "torch.distributed.launch") != 0)
            continue;
        return err_set(
            err, ERR_USAGE,
            "option '--rank' runs one rank, but %s starts several; leave it out and give the "
            "program that it starts",
            name);
    }
    return 0;
}
