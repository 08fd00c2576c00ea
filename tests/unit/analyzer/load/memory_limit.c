/* SPDX-License-Identifier: MIT */
/* The default memory limit: a quarter of the machine's memory or of the lowest cgroup limit,
 * whichever is less. */
#include <unistd.h>

#include "analyzer/load/memory_limit.h"
#include "tests/unit/made_folder.h"

#define MIB ((uint64_t)1 << 20)

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
