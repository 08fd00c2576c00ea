/* SPDX-License-Identifier: MIT */
/* The page of a machine's checks; see doctor.h. */
#include "doctor.h"

#include "analyzer/page/verdict/verdict.h"

static const char *const states[] = {
    [FINDING_FINE] = "fine",
    [FINDING_NOTE] = "note",
    [FINDING_WRONG] = "wrong",
};

static void add_verdict(struct doc *doc, const struct doctor *doctor)
{
    const struct finding *first = NULL;
    for (int i = 0; i < DOCTOR_CHECKS && !first; i++)
        if (doctor->findings[i].state == FINDING_WRONG)
            first = &doctor->findings[i];
    struct verdict said = {0};

    if (doctor->wrong_count > 1)
        verdict_say(&said, VERDICT_what, "%d things are wrong. The first: %s.", doctor->wrong_count,
                    first->what);
    else if (first)
        verdict_say(&said, VERDICT_what, "One thing is wrong: %s.", first->what);
    else
        verdict_say(&said, VERDICT_what, "Nothing is wrong: %s.",
                    doctor->checkup.has_driver
                        ? "programs can be recorded on the card, and in dry runs"
                        : "dry runs can be recorded; for a card there is no NVIDIA driver here");
    verdict_finish(doc, &said);
}

/* Adds a line for each check. If the check failed, adds the command that repairs it on the next
 * line. */
static void add_lines(struct doc *doc, const struct doctor *doctor)
{
    doc_object_begin(doc_summary(doc), "lines", "Checks");
    for (int i = 0; i < DOCTOR_CHECKS; i++) {
        const struct finding *finding = &doctor->findings[i];
        if (finding->state == FINDING_NONE)
            continue;
        doc_note(doc, "%-5s %s: %s", states[finding->state], finding->name, finding->what);
        if (finding->state == FINDING_WRONG)
            doc_line(doc, "      mend: %s", finding->mend);
    }
    doc_object_end(doc);
}

static void add_rows(struct doc *doc, const struct doctor *doctor)
{
    doc_list_begin(doc_detail(doc), "checks", "Checks");
    for (int i = 0; i < DOCTOR_CHECKS; i++) {
        const struct finding *finding = &doctor->findings[i];
        if (finding->state == FINDING_NONE)
            continue;
        doc_row_begin(doc);
        doc_text(doc, "check", "Check", finding->name);
        doc_text(doc, "state", "State", states[finding->state]);
        doc_text(doc, "what", "What", finding->what);
        doc_text(doc, "mend", "Mend", finding->state == FINDING_WRONG ? finding->mend : NULL);
        doc_row_end(doc);
    }
    doc_list_end(doc);
}

struct doc *page_doctor(enum doc_level reads, const struct doctor *doctor)
{
    struct doc *doc = doc_new("gpumemtrace.doctor/1", reads);
    if (!doc)
        return NULL;
    add_verdict(doc, doctor);
    doc_null(doc_detail(doc), "next", "Next", DOC_TEXT);
    doc_count(doc_detail(doc), "wrong", "Wrong", (uint64_t)doctor->wrong_count);
    doc_bool(doc_detail(doc), "can_record_on_a_card", "On a card", doctor->checkup.has_driver);
    doc_bool(doc_detail(doc), "can_record_dry_runs", "In dry runs", doctor->checkup.has_dry_run);
    add_lines(doc, doctor);
    add_rows(doc, doctor);
    return doc;
}
