/* SPDX-License-Identifier: MIT */
/* The default limit: a quarter of the least that machine and cgroups have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "analyzer/load/memory_limit.h"

#define MIB ((uint64_t)1 << 20)

static char root[64];

/* Makes the file and the folders that lead to it, below root. */
static void put(const char *path, const char *content)
{
    char name[PATH_MAX];
    snprintf(name, sizeof name, "%s/%s", root, path);
    for (char *slash = strchr(name + strlen(root) + 1, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(name, 0700);
        *slash = '/';
    }
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(content, file);
    fclose(file);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/gpumemtrace-limit.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static int tear_down(void **state)
{
    (void)state;
    return nftw(root, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
}

static uint64_t machine_bytes(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void without_cgroups_it_is_a_quarter_of_the_machine(void **state)
{
    (void)state;
    assert_int_equal(memory_limit_default(root), machine_bytes() / 4);
    put("proc/self/cgroup", "0::/a\n");
    put("sys/fs/cgroup/a/memory.max", "max\n");
    assert_int_equal(memory_limit_default(root), machine_bytes() / 4);
}

static void the_least_of_a_cgroup_and_those_around_it_counts(void **state)
{
    (void)state;
    put("proc/self/cgroup", "1:name=systemd:/x\n0::/a/b/c\n");
    put("sys/fs/cgroup/a/b/c/memory.max", "max\n");
    put("sys/fs/cgroup/a/memory.max", "104857600\n");
    put("sys/fs/cgroup/x/memory.max", "4096\n");
    assert_int_equal(memory_limit_default(root), 25 * MIB);
}

static void the_first_version_of_cgroups_counts_too(void **state)
{
    (void)state;
    put("proc/self/cgroup", "9:name=systemd:/\n4:cpu,memory:/a/b\n0::/\n");
    put("sys/fs/cgroup/memory/a/b/memory.limit_in_bytes", "9223372036854771712\n");
    put("sys/fs/cgroup/memory/a/memory.limit_in_bytes", "41943040\n");
    assert_int_equal(memory_limit_default(root), 10 * MIB);
}

static void in_a_container_the_outermost_folder_has_the_limit(void **state)
{
    (void)state;
    put("proc/self/cgroup", "4:memory:/docker/0123\n");
    put("sys/fs/cgroup/memory/memory.limit_in_bytes", "41943040\n");
    assert_int_equal(memory_limit_default(root), 10 * MIB);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(without_cgroups_it_is_a_quarter_of_the_machine),
        TEST(the_least_of_a_cgroup_and_those_around_it_counts),
        TEST(the_first_version_of_cgroups_counts_too),
        TEST(in_a_container_the_outermost_folder_has_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
