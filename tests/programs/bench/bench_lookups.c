/* SPDX-License-Identifier: MIT */
/* link: dl */
/*
 * Repeats the lookups that a runtime makes at its start: bench_lookups LIST. Each line of LIST has
 * a name, a version and flags. Prints "lookups N us U": the number of lookups, and the CPU time of
 * all of them in microseconds.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpumemtrace/cuda/abi.h"

typedef CUresult lookup_function(const char *, void **, int, cuuint64_t,
                                 CUdriverProcAddressQueryResult *);

#define LOOKUPS_MAX 1000

static struct {
    char name[128];
    int version;
    unsigned flags;
} lookups[LOOKUPS_MAX];

static double thread_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return 1e6 * (double)now.tv_sec + (double)now.tv_nsec / 1e3;
}

static int read_list(const char *path)
{
    char line[256];
    int count = 0;
    FILE *file = fopen(path, "r");
    while (file && count < LOOKUPS_MAX && fgets(line, sizeof line, file))
        if (line[0] != '#' && sscanf(line, "%127s %d %u", lookups[count].name,
                                     &lookups[count].version, &lookups[count].flags) == 3)
            count++;
    if (file)
        fclose(file);
    return count;
}

int main(int argc, char **argv)
{
    const int count = argc > 1 ? read_list(argv[1]) : 0;
    const double start = thread_us();
    void *driver = dlopen("libcuda.so.1", RTLD_NOW), *function = NULL;
    lookup_function *lookup = NULL;
    if (driver)
        *(void **)&lookup = dlsym(driver, "cuGetProcAddress_v2");
    if (!count || !lookup)
        return 2;
    for (int i = 0; i < count; i++)
        lookup(lookups[i].name, &function, lookups[i].version, lookups[i].flags, NULL);
    printf("lookups %d us %.0f\n", count, thread_us() - start);
    return 0;
}
