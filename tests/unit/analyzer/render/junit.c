/* SPDX-License-Identifier: MIT */
/* JUnit XML holds the checks, and nothing else of the document. */
#include <string.h>

#include "rendered.h"
#include "tests/unit/unit_test.h"

static void add_check(struct doc *doc, const char *name, bool passed, const char *message)
{
    doc_row_begin(doc);
    doc_text(doc, "name", "Check", name);
    doc_bool(doc, "passed", "Passed", passed);
    doc_text(doc, "message", "", message);
    doc_row_end(doc);
}

TEST(each_check_is_a_test_case)
{
    struct doc *doc = doc_new("gpumemtrace.check/1", DOC_DETAIL);
    doc_list_begin(doc, "checks", "Checks");
    add_check(doc, "peak of device 0", true, NULL);
    add_check(doc, "growth", false, "1 GiB > \"512 MiB\" & <more>\x01");
    doc_list_end(doc);
    assert_rendered(doc, "junit",
                    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                    "<testsuite name=\"gpumemtrace\" tests=\"2\" failures=\"1\">\n"
                    "  <testcase classname=\"gpumemtrace\" name=\"peak of device 0\"/>\n"
                    "  <testcase classname=\"gpumemtrace\" name=\"growth\">\n"
                    "    <failure message=\"1 GiB &#62; &#34;512 MiB&#34; &#38; &#60;more&#62;"
                    "\xef\xbf\xbd\"/>\n"
                    "  </testcase>\n"
                    "</testsuite>\n");
}

TEST(a_document_without_checks_is_refused)
{
    struct err err = {0};
    struct doc *doc = doc_new("gpumemtrace.peak/1", DOC_DETAIL);
    assert_null(rendered(doc, "junit", &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.message, "check"));
    doc_free(doc);
}

UNIT_MAIN(NULL, NULL)
