/* SPDX-License-Identifier: MIT */
/*
 * matrix WAY [FAMILY]: opens the way, makes the primary context of device 0 current, runs the
 * families and prints the sums. If this file is built as a plugin, it exports matrix_plugin(),
 * which does the work of main(). With the argument "lend", the program is the second process, which
 * lends memory.
 */
#include "matrix.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "gpumemtrace/compiler.h"
#include "lender.h"

static int fail(const char *what)
{
    fprintf(stderr, "matrix: %s\n", what);
    return 3;
}

/* A recording begins with its first event, the context's. A mark before that event would be
 * lost. */
static const char *start_driver(struct matrix_job *job, const struct driver_api *api)
{
    if (!api->cuInit || !api->cuDevicePrimaryCtxRetain || !api->cuCtxSetCurrent)
        return "the driver's first functions are not handed out";
    if (api->cuInit(0) || api->cuDevicePrimaryCtxRetain(&job->primary, 0) ||
        api->cuCtxSetCurrent(job->primary))
        return "the driver does not start";
    job->driver = api;
    return NULL;
}

static const char *start_runtime(struct matrix_job *job, struct runtime_api *api)
{
    size_t free_bytes, total_bytes;
    if (!api->cudaRuntimeGetVersion || !api->cudaMemGetInfo)
        return "the runtime's first functions are not handed out";
    if (api->cudaRuntimeGetVersion(&api->version) || api->cudaMemGetInfo(&free_bytes, &total_bytes))
        return "the runtime does not start";
    api->version /= 1000;
    job->runtime = api;
    return NULL;
}

/* Runs the families with each of the opened tables. */
static const char *run(struct opened *opened, struct books *books, const char *family)
{
    struct matrix_job job = {.books = books, .family = family};
    const char *problem = opened->has_driver ? start_driver(&job, &opened->driver) : NULL;
    if (problem)
        return problem;
    if (job.driver)
        matrix_run(&job);
    job.driver = NULL;
    for (int i = 0; i < opened->runtime_count; i++) {
        problem = start_runtime(&job, &opened->runtimes[i]);
        if (problem)
            return problem;
        matrix_run(&job);
    }
    return NULL;
}

GMT_EXPORT const char *matrix_plugin(struct books *books, const char *family, bool with_driver);
const char *matrix_plugin(struct books *books, const char *family, bool with_driver)
{
    static struct opened opened;
    const char *problem = matrix_open("linked", &opened);
    opened.has_driver &= with_driver;
    return problem ? problem : run(&opened, books, family);
}

static void print_account(const char *name, const struct account *account, const char *end)
{
    printf("\n \"%s\": {\"peak_bytes\": %" PRIu64 ", \"live_at_exit_bytes\": %" PRIu64
           ", \"allocations\": %" PRIu64 ", \"frees\": %" PRIu64 ", \"implicit_frees\": %" PRIu64
           ", \"failed\": %" PRIu64 "}%s",
           name, account->peak_bytes, account->live_bytes, account->allocations, account->frees,
           account->implicit_frees, account->failed, end);
}

static void print_accounts(const struct books *books)
{
    printf("],\n\"accounts\": {");
    print_account("driver", &books->accounts[ACCOUNT_device], ",");
    print_account("managed", &books->accounts[ACCOUNT_managed], ",");
    print_account("host", &books->accounts[ACCOUNT_host], ",");
    print_account("imported", &books->accounts[ACCOUNT_imported], "}}\n");
}

static int lend(void)
{
    static struct opened opened;
    const char *problem = matrix_open("lookup", &opened);
    return problem ? fail(problem) : lender_main(&opened.driver);
}

int main(int argc, char **argv)
{
    static struct opened opened;
    static struct books books;
    if (argc > 1 && strcmp(argv[1], "lend") == 0)
        return lend();
    const char *family = argc > 2 ? argv[2] : NULL;
    const char *problem = argc > 1 ? matrix_open(argv[1], &opened) : "name a way";
    if (problem)
        return fail(problem);
    printf("{\"families\": [");
    problem = run(&opened, &books, family);
    if (!problem && opened.plugin)
        problem = opened.plugin(&books, family, opened.runtime_count == 0);
    if (problem)
        return fail(problem);
    print_accounts(&books);
    return 0;
}
