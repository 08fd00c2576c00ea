/* SPDX-License-Identifier: MIT */
/* `gpumemtrace doctor`: says whether programs can be recorded on this machine. doctor/ makes the
 * checks, page/doctor/ writes the answer. */
#include <stdlib.h>

#include "options.h"
#include "output.h"
#include "analyzer/page/doctor/doctor.h"

static int print(const struct doctor *doctor, const struct command_options *options,
                 struct err *err)
{
    struct doc *doc = page_doctor(options->format->reads, doctor);
    if (!doc)
        return err_set(err, ERR_SYSTEM, "out of memory for the result");
    const int failed = command_print(doc, options, err);
    doc_free(doc);
    return failed ? -1 : doctor->wrong_count > 0;
}

int command_doctor(const struct command *command, int argc, char **argv, struct err *err)
{
    struct command_options options;
    if (options_parse(&options, command, NULL, NULL, argc, argv, err))
        return -1;
    struct doctor *doctor = malloc(sizeof *doctor);
    if (!doctor)
        return err_set(err, ERR_SYSTEM, "out of memory for what is found");
    doctor_look(doctor, options.operand_count ? options.operands[0] : NULL);
    const int status = print(doctor, &options, err);
    free(doctor);
    return status;
}
