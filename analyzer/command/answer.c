/* SPDX-License-Identifier: MIT */
/* Goes from options to a printed document; see answer.h. */
#include "answer.h"

#include <string.h>

#include "analyzer/job/trace_files.h"
#include "analyzer/load/memory_limit.h"
#include "analyzer/page/job/job_page.h"
#include "output.h"

struct view answer_view(const struct command_options *options, const void *own)
{
    return (struct view){.device = options->device,
                         .layer = options->layer,
                         .at = options->at,
                         .top = options->top,
                         .takes_library_ranges = options->nvtx == NVTX_ALL,
                         .all_frames = options->native == NATIVE_FULL,
                         .sources = {.debug_dirs = options->debug_dirs.values,
                                     .debug_dir_count = options->debug_dirs.count,
                                     .debuginfod = options->debuginfod},
                         .own = own};
}

int answer_reads(enum doc_level *reads, const struct command_options *options, struct err *err)
{
    *reads = options->format->reads;
    if (!options->series || *reads & DOC_SERIES)
        return 0;
    if (strcmp(options->format->name, "json"))
        return err_set(err, ERR_USAGE, "--series goes with --format=json or html, not with %s",
                       options->format->name);
    *reads |= DOC_SERIES;
    return 0;
}

int answer_build(struct doc **doc, const struct page *page, const struct view *view,
                 const struct command_options *options, struct err *err)
{
    struct trace_files files;
    enum doc_level reads;
    int status;
    if (answer_reads(&reads, options, err) ||
        trace_files_find(&files, options->operands, options->operand_count, err))
        return -1;
    const struct job_ask ask = {.takes_all = page->takes_each || options->every_trace,
                                .compares = true,
                                .replays_all = options->every_trace};
    status = files.count > 1
                 ? page_build_job(doc, reads, page, view, files.paths, files.count, &ask, err)
                 : page_build(doc, reads, page, view, files.paths[0], err);
    trace_files_release(&files);
    return status;
}

int answer_print(const struct page *page, const struct command_options *options, const void *own,
                 struct err *err)
{
    struct view view = answer_view(options, own);
    struct doc *doc = NULL;
    int status;
    memory_limit_set(options->memory_limit_bytes);
    if (answer_build(&doc, page, &view, options, err))
        return -1;
    status = command_print(doc, options, err);
    doc_free(doc);
    return status;
}

int answer_command(const struct page *page, const struct command *command, int argc, char **argv,
                   struct err *err)
{
    struct command_options options;
    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    return answer_print(page, &options, NULL, err);
}

int answer_check_samples(long samples, long most, struct err *err)
{
    if (samples <= most)
        return 0;
    return err_set(err, ERR_USAGE, "--samples=%ld: at most %ld", samples, most);
}
