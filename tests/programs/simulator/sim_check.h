/* SPDX-License-Identifier: MIT */
/*
 * Has what the test programs of the simulator share: checks that print the first failure and exit,
 * and a main function that runs the parts named by its arguments.
 */
#ifndef GPUMEMTRACE_TESTS_PROGRAMS_SIM_CHECK_H
#define GPUMEMTRACE_TESTS_PROGRAMS_SIM_CHECK_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)
#define GIB ((size_t)1 << 30)
#define GRANULE (2 * MIB)
#define CONTEXT_COST (300 * MIB)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: failed: %s\n", __FILE__, __LINE__, #condition);                         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The two values are compared as 64-bit numbers. */
#define EXPECT(expression, expected)                                                               \
    sim_expect(__FILE__, __LINE__, #expression, (unsigned long long)(expression),                  \
               (unsigned long long)(expected))

static inline void sim_expect(const char *file, int line, const char *text, unsigned long long is,
                              unsigned long long expected)
{
    if (is == expected)
        return;
    printf("%s:%d: %s is %llu, not %llu\n", file, line, text, is, expected);
    exit(1);
}

/* A part of a program. It runs if an argument names it, or if there is no argument. */
struct sim_part {
    const char *name;
    void (*run)(void);
};

static inline int sim_run(const struct sim_part *parts, size_t count, int argc, char **argv)
{
    int ran = 0;
    for (size_t i = 0; i < count; i++)
        if (argc < 2 || !strcmp(argv[1], parts[i].name)) {
            parts[i].run();
            ran++;
        }
    if (!ran)
        printf("no part is called %s\n", argc < 2 ? "" : argv[1]);
    return ran ? 0 : 2;
}

#define PART(name)                                                                                 \
    {                                                                                              \
#name, name                                                                                \
    }

#define SIM_MAIN(parts)                                                                            \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return sim_run(parts, sizeof(parts) / sizeof(parts)[0], argc, argv);                       \
    }

#endif
