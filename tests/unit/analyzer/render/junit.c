/* SPDX-License-Identifier: MIT */
/* JUnit XML holds the checks, and nothing else of the document. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "rendered.h"

static void add_check(struct doc *doc, const char *name, bool passed, const char *message)
{
    doc_row_begin(doc);
    doc_text(doc, "name", "Check", name);
    doc_bool(doc, "passed", "Passed", passed);
    doc_text(doc, "message", "", message);
    doc_row_end(doc);
}

static void each_check_is_a_test_case(void **state)
{
    (void)state;
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

static void a_document_without_checks_is_refused(void **state)
{
    (void)state;
    struct err err = {0};
    struct doc *doc = doc_new("gpumemtrace.peak/1", DOC_DETAIL);
    assert_null(rendered(doc, "junit", &err));
    assert_int_equal(err.code, ERR_USAGE);
    assert_non_null(strstr(err.message, "check"));
    doc_free(doc);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_check_is_a_test_case),
        cmocka_unit_test(a_document_without_checks_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
