/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * Looks up driver functions as a runtime does, by name, version and flags, and compares the results
 * with those on stdin, one per line:
 *
 *     VERSION FLAGS RESULT STATUS SYMBOL NAME
 *
 * SYMBOL is the name under which the driver exports the result, or "-" if there is no result. NAME
 * may be empty.
 */
#include <dlfcn.h>

#include "gpumemtrace/compiler.h"
#include "gpumemtrace/cuda/abi.h"
#include "sim_check.h"

typedef CUresult get_proc_address(const char *name, void **function, int version, cuuint64_t flags,
                                  CUdriverProcAddressQueryResult *status);

static void check_line(void *library, get_proc_address *get, const char *line)
{
    int version, result, status, taken = 0;
    unsigned long long flags;
    char symbol[100];
    char name[100] = "";
    CUdriverProcAddressQueryResult told = (CUdriverProcAddressQueryResult)77;
    void *function = &version;
    CHECK(sscanf(line, "%d %llu %d %d %99s%n", &version, &flags, &result, &status, symbol,
                 &taken) == 5);
    sscanf(line + taken, " %99s", name);
    const int got = (int)get(name, &function, version, flags, &told);
    void *expected = strcmp(symbol, "-") ? dlsym(library, symbol) : NULL;
    if (got != result || (int)told != status || function != expected ||
        (strcmp(symbol, "-") && !expected)) {
        printf("%s: result %d, status %d, %s\n", line, got, (int)told,
               function == expected ? "the right function" : "another function");
        exit(1);
    }
}

int main(void)
{
    char line[300];
    int count = 0;
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    CHECK(library != NULL);
    get_proc_address *get = GMT_FUNCTION(get_proc_address *, dlsym(library, "cuGetProcAddress_v2"));
    CHECK(get != NULL);
    for (; fgets(line, sizeof line, stdin); count++) {
        line[strcspn(line, "\n")] = '\0';
        check_line(library, get, line);
    }
    printf("%d\n", count);
    return 0;
}
