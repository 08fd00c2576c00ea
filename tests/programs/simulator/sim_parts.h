/* SPDX-License-Identifier: MIT */
/*
 * The parts of a test program of the simulator. PART(name) { ... } defines one and adds it to the
 * list. SIM_MAIN() defines a main function. It runs the part that the argument names, or all parts
 * in their order if there is no argument.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIM_PARTS_MAX = 64 };

static struct sim_part {
    const char *name;
    void (*run)(void);
} sim_parts[SIM_PARTS_MAX];
static int sim_part_count;

static inline void sim_part_add(const char *name, void (*run)(void))
{
    if (sim_part_count == SIM_PARTS_MAX)
        abort();
    sim_parts[sim_part_count++] = (struct sim_part){name, run};
}

static inline int sim_run(int argc, char **argv)
{
    int ran = 0;
    for (const struct sim_part *part = sim_parts; part < sim_parts + sim_part_count; part++)
        if (argc < 2 || !strcmp(argv[1], part->name)) {
            part->run();
            ran++;
        }
    if (!ran)
        printf("no part is called %s\n", argc < 2 ? "" : argv[1]);
    return ran ? 0 : 2;
}

#define PART(name)                                                                                 \
    static void name(void);                                                                        \
    __attribute__((constructor)) static void add_##name(void)                                      \
    {                                                                                              \
        sim_part_add(#name, name);                                                                 \
    }                                                                                              \
    static void name(void)

#define SIM_MAIN()                                                                                 \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return sim_run(argc, argv);                                                                \
    }
